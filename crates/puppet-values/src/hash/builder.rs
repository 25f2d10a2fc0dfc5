//! [`HashBuilder`]: entries as they come from a file → [`struct@Hash`].

use super::{Entries, Hash, Index, SMALL, exact};
use crate::value::Value;

/// Entries up to which keys that repeat are left for the end: an index that is made at once is made faster.
const MANY: usize = 1024;

/// A hash that is being read. It takes its final form, with or without an index, when its size is known.
#[derive(Debug)]
pub struct HashBuilder {
    // Invariant: the first `SMALL` keys differ. What follows may repeat them.
    gathered: Vec<(Value, Value)>,
    /// A bit for each key up to `SMALL`: one whose bit is not set is new, and need not be looked for.
    seen: u64,
    /// Takes over where there are many.
    index: Option<Box<Index>>,
}

impl Default for HashBuilder {
    fn default() -> Self {
        HashBuilder::new()
    }
}

impl HashBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        HashBuilder {
            gathered: Vec::with_capacity(SMALL),
            seen: 0,
            index: None,
        }
    }

    /// Sets a key. One that is there already keeps its place and takes the new value.
    pub fn insert(&mut self, key: Value, value: Value) {
        if let Some(index) = &mut self.index {
            index.insert(key, value);
            return;
        }
        if self.gathered.len() < SMALL {
            let bit = 1 << (fingerprint(&key) % u64::BITS);
            if self.seen & bit != 0
                && let Some((_, old)) = self.gathered.iter_mut().find(|(name, _)| *name == key)
            {
                *old = value;
                return;
            }
            self.seen |= bit;
        }
        self.gathered.push((key, value));
        if self.gathered.len() == MANY {
            self.index = Some(index_of(std::mem::take(&mut self.gathered)));
        }
    }

    /// What was set so far. A key may come twice, and then the later one counts.
    pub fn entries(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let gathered = self.gathered.iter().map(|(key, value)| (key, value));
        let indexed = self.index.iter().flat_map(|index| index.iter());
        gathered.chain(indexed)
    }

    /// The hash of everything inserted.
    pub fn finish(self) -> Hash {
        let entries = match self.index {
            Some(index) => Entries::Large(index),
            None if self.gathered.len() > SMALL => Entries::Large(index_of(self.gathered)),
            None => Entries::Small(exact(self.gathered)),
        };
        Hash {
            entries,
            ..Hash::default()
        }
    }
}

fn index_of(entries: Vec<(Value, Value)>) -> Box<Index> {
    let mut index = Index::with_capacity_and_hasher(entries.len(), Default::default());
    index.extend(entries);
    Box::new(index)
}

/// Tells most keys of a hash apart. They tend to start alike, and to differ in their length and their end.
fn fingerprint(key: &Value) -> u32 {
    let Some(text) = key.as_str() else {
        return 0;
    };
    let bytes = text.as_bytes();
    let middle = bytes.get(bytes.len() / 2).copied().unwrap_or_default();
    let last = bytes.last().copied().unwrap_or_default();
    (bytes.len() as u32)
        .wrapping_mul(7)
        .wrapping_add(u32::from(middle) * 5)
        .wrapping_add(u32::from(last) * 11)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_set_again_keeps_its_place_at_every_size() {
        for size in (1..30).chain(MANY - 4..MANY + 2) {
            for again in (0..size).step_by(1 + size / 100) {
                let mut builder = HashBuilder::new();
                let mut expected = Hash::new();
                let places = (0..size).chain([again]).chain(size..size + 3);
                for (number, place) in places.enumerate() {
                    let key = Value::str(format!("key{place}"));
                    let value = Value::Int(number as i64);
                    builder.insert(key.clone(), value.clone());
                    expected.insert(key, value);
                }
                let hash = builder.finish();
                assert!(hash.iter().eq(expected.iter()), "{again} of {size}");
            }
        }
    }
}
