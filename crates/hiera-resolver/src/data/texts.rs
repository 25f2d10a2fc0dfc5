//! [`Texts`]: strings of data files → values, with repeated strings shared and `%{` parsed once.

use std::hash::BuildHasher as _;

use lean_string::LeanStr;
use puppet_values::Value;

use crate::template::Template;

/// Makes values of strings. The shortest are stored inline; longer ones that repeat are parsed and stored once.
///
/// A fixed number of them is remembered, each until another string takes its slot. Searching all strings seen so far
/// would take longer and save little more memory.
#[derive(Debug, Default)]
pub struct Texts {
    hasher: foldhash::fast::RandomState,
    /// Strings without tokens. One part of the hash is the slot; another is stored beside the string, so that most
    /// strings are found to differ without comparing them.
    remembered: Vec<Option<(u32, LeanStr)>>,
}

impl Texts {
    /// Strings up to this length are stored inline.
    const INLINE: usize = size_of::<LeanStr>();
    /// Longer strings rarely repeat.
    const SHORT: usize = 48;
    const REMEMBERED: usize = 1 << 14;

    /// The value of a string in a data file: a template if it has a token.
    pub fn value(&mut self, text: &str) -> Value {
        if text.len() <= Self::INLINE && !has_percent(text.as_bytes()) {
            return Value::str(text);
        }
        let hash = self.hasher.hash_one(text);
        if self.remembered.is_empty() {
            self.remembered.resize(Self::REMEMBERED, None);
        }
        let (tag, index) = ((hash >> 32) as u32, hash as usize % Self::REMEMBERED);
        let slot = self.remembered.get_mut(index);
        if let Some(Some((known, shared))) = &slot
            && *known == tag
            && shared.as_str() == text
        {
            return Value::Str(shared.clone());
        }
        if let Some(template) = Template::parse(text) {
            return template.into_value();
        }
        let new = LeanStr::from(text);
        if let Some(slot) = slot
            && text.len() <= Self::SHORT
        {
            *slot = Some((tag, new.clone()));
        }
        Value::Str(new)
    }
}

/// Does a string that is stored inline contain `%`? It is read in two pieces that may overlap: its length is
/// unpredictable, and a loop over its bytes would take longer than everything else.
fn has_percent(text: &[u8]) -> bool {
    /// Is one of the bytes zero? The subtraction borrows from the bits above the lowest zero byte.
    fn has_zero(bytes: u64) -> bool {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        bytes.wrapping_sub(ONES) & !bytes & (ONES << 7) != 0
    }
    const PERCENT: u64 = u64::from_ne_bytes([b'%'; 8]);
    let wide = |piece: &[u8; 8]| u64::from_ne_bytes(*piece);
    let half = |piece: &[u8; 4]| u64::from(u32::from_ne_bytes(*piece));
    if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        has_zero(wide(start) ^ PERCENT) || has_zero(wide(end) ^ PERCENT)
    } else if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        has_zero((half(start) << 32 | half(end)) ^ PERCENT)
    } else {
        text.contains(&b'%')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_is_found_at_every_position_of_a_short_string() {
        for length in 0..=Texts::INLINE {
            let mut text = vec![b'a'; length];
            assert!(!has_percent(&text), "{length}");
            for position in 0..length {
                text[position] = b'%';
                assert!(has_percent(&text), "{position} of {length}");
                text[position] = b'$';
                assert!(!has_percent(&text), "{position} of {length}");
                text[position] = 0x80 | b'%';
                assert!(!has_percent(&text), "{position} of {length}");
                text[position] = b'a';
            }
        }
    }
}
