//! Characters above U+FFFF, which Ruby's emitter escapes and ours does not.
//!
//! libyaml takes them for unprintable, so that an emoji puts its text into double quotes as `\U0001F600`; `libyaml-rs`
//! was changed to let them pass. Style and line breaks depend on it, so that escaping afterwards would be too late.
//! Instead the emitter is given a code point beyond Unicode, which it does escape, and the escape is corrected in the
//! text it writes.

use std::borrow::Cow;

/// U+1FFFFF as bytes, and as the emitter escapes it.
const STAND_IN: &[u8] = &[0xf7, 0xbf, 0xbf, 0xbf];
const ESCAPE: &str = "\\U001FFFFF";

/// What the stand-ins of a text are for, in order.
#[derive(Debug, Default)]
pub(super) struct Astral {
    // Invariant: one for each time that `ESCAPE` will be in the text, `None` where a text contains it literally.
    found: Vec<Option<char>>,
}

impl Astral {
    /// The text with stand-ins. Texts must be masked in the order in which they are emitted.
    pub(super) fn mask<'t>(&mut self, text: &'t str) -> Cow<'t, [u8]> {
        let is_astral = |character: char| character > '\u{ffff}';
        if !text.bytes().any(|byte| byte >= 0xf0) && !text.contains(ESCAPE) {
            return Cow::Borrowed(text.as_bytes());
        }
        let mut masked = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let after = rest.get(character.len_utf8()..).unwrap_or_default();
            if is_astral(character) {
                self.found.push(Some(character));
                masked.extend(STAND_IN);
            } else {
                if rest.starts_with(ESCAPE) {
                    self.found.push(None);
                }
                masked.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            rest = after;
        }
        Cow::Owned(masked)
    }

    /// The emitted text with the escapes that belong there.
    pub(super) fn unmask(self, text: String) -> String {
        if self.found.is_empty() {
            return text;
        }
        let mut parts = text.split(ESCAPE);
        let mut unmasked = parts.next().unwrap_or_default().to_owned();
        for (part, found) in parts.zip(self.found) {
            match found {
                Some(character) => unmasked.push_str(&format!("\\U{:08X}", u32::from(character))),
                None => unmasked.push_str(ESCAPE),
            }
            unmasked.push_str(part);
        }
        unmasked
    }
}
