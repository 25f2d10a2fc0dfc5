//! [`HashBuilder`]: builds a [`struct@Hash`] from the entries of a file.

use super::{Entries, Hash, Index, SMALL, exact};
use crate::value::Value;

/// The size up to which repeated keys are resolved at the end, since building an index in one go is faster.
const MANY: usize = 1024;

/// A hash under construction, for readers of data files.
///
/// Loading a file builds many hashes whose size is not known in advance. This one becomes a list or an index only once
/// it is complete, and finds repeated keys without hashing the first few; [`Hash::insert`] would build the index of every
/// large hash step by step.
#[derive(Debug)]
pub struct HashBuilder {
    // Invariant: the first `SMALL` keys are unique. Later ones may repeat them.
    gathered: Vec<(Value, Value)>,
    /// A bit for each of the first `SMALL` keys. A key whose bit is not set is new, so no search is needed.
    seen: u64,
    /// Used once there are many entries.
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

    /// Sets a key. An existing key keeps its position and gets the new value.
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

    /// The entries so far. If a key occurs twice, the later entry is valid.
    pub fn entries(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let gathered = self.gathered.iter().map(|(key, value)| (key, value));
        let indexed = self.index.iter().flat_map(|index| index.iter());
        gathered.chain(indexed)
    }

    /// The finished hash.
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

/// A cheap hash that differs for most keys of a hash: keys tend to share their start and to differ in length and end.
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
    fn an_existing_key_keeps_its_position_at_any_size() {
        for size in (1..30).chain(MANY - 4..MANY + 2) {
            for again in (0..size).step_by(1 + size / 100) {
                let mut builder = HashBuilder::new();
                let mut expected = Hash::new();
                let keys = (0..size).chain([again]).chain(size..size + 3);
                for (number, key) in keys.enumerate() {
                    let key = Value::str(format!("key{key}"));
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
