//! Characters above U+FFFF, which Ruby's emitter escapes and `libyaml-rs` does not.
//!
//! To libyaml they are not printable, so a string with an emoji is written in double quotes as `\U0001F600`. `libyaml-rs`
//! writes them as they are. Escaping them afterwards would be too late, because the style and the line breaks depend on
//! it. Instead, the emitter gets a code point beyond Unicode, which it does escape, and the escape is replaced in its
//! output.

use std::borrow::Cow;

/// U+1FFFFF in bytes, and its escape.
const STAND_IN: &[u8] = &[0xf7, 0xbf, 0xbf, 0xbf];
const ESCAPE: &str = "\\U001FFFFF";

/// The characters that were replaced, in order.
#[derive(Debug, Default)]
pub(super) struct Astral {
    // Invariant: one for each `ESCAPE` in the output; `None` if a string contains it literally.
    replaced: Vec<Option<char>>,
}

impl Astral {
    /// The string with stand-ins. Strings must be masked in the order in which they are emitted.
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
                self.replaced.push(Some(character));
                masked.extend(STAND_IN);
            } else {
                if rest.starts_with(ESCAPE) {
                    self.replaced.push(None);
                }
                masked.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            rest = after;
        }
        Cow::Owned(masked)
    }

    /// The output with the right escapes.
    pub(super) fn unmask(self, text: String) -> String {
        if self.replaced.is_empty() {
            return text;
        }
        let mut parts = text.split(ESCAPE);
        let mut unmasked = parts.next().unwrap_or_default().to_owned();
        for (part, replaced) in parts.zip(self.replaced) {
            match replaced {
                Some(character) => unmasked.push_str(&format!("\\U{:08X}", u32::from(character))),
                None => unmasked.push_str(ESCAPE),
            }
            unmasked.push_str(part);
        }
        unmasked
    }
}
