//! [`struct@Hash`]: an ordered hash whose keys may be any [`Value`], as Ruby's are.
//!
//! Small ones are a plain list, searched from the front; large ones carry an index. Nearly all hashes in
//! real data are small, and for those the list is both smaller and faster.

mod builder;

use std::hash::{Hash as StdHash, Hasher};

use indexmap::map::RawEntryApiV1;
use indexmap::{Equivalent, IndexMap};

use crate::table_key::{TableKey, TableState};
use crate::value::{Traits, Value};

pub use self::builder::HashBuilder;

type Index = IndexMap<Value, Value, TableState>;

/// Entries up to which a search from the front is as good as an index, which takes time and memory to make.
const SMALL: usize = 16;

/// An ordered hash. A key that is set again keeps its place.
#[derive(Clone, Debug, Default)]
pub struct Hash {
    entries: Entries,
    /// What is known of everything below; nothing yet of a hash that is not sealed.
    // Invariant: right where `is_sealed`. Whatever changes an entry unseals the hash.
    traits: Traits,
    is_sealed: bool,
}

#[derive(Clone, Debug)]
enum Entries {
    Small(Vec<(Value, Value)>),
    Large(Box<Index>),
}

impl Default for Entries {
    fn default() -> Self {
        Entries::Small(Vec::new())
    }
}

/// A text key, looked for without making a [`Value`] of it.
struct Text<'a>(&'a str);

impl StdHash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Equivalent<Value> for Text<'_> {
    fn equivalent(&self, key: &Value) -> bool {
        key.as_str() == Some(self.0)
    }
}

impl Hash {
    /// An empty hash.
    pub fn new() -> Self {
        Hash::default()
    }

    /// An empty hash with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        let entries = if capacity > SMALL {
            Entries::Large(Box::new(Index::with_capacity_and_hasher(
                capacity,
                Default::default(),
            )))
        } else {
            Entries::Small(Vec::with_capacity(capacity))
        };
        Hash {
            entries,
            ..Hash::default()
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Small(list) => list.len(),
            Entries::Large(index) => index.len(),
        }
    }

    /// Has it no entry?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.entries {
            Entries::Small(list) => list
                .iter()
                .find(|(name, _)| name.as_str() == Some(key))
                .map(|(_, value)| value),
            Entries::Large(index) => index.get(&Text(key)),
        }
    }

    /// The value of a text key whose hash is known.
    pub fn get_hashed(&self, key: &TableKey) -> Option<&Value> {
        match &self.entries {
            Entries::Small(_) => self.get(key),
            Entries::Large(index) => index
                .raw_entry_v1()
                .from_hash(key.hash(), |name| name.as_str() == Some(key))
                .map(|(_, value)| value),
        }
    }

    /// The value of a key of any kind.
    pub fn get_value(&self, key: &Value) -> Option<&Value> {
        match &self.entries {
            Entries::Small(list) => list
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            Entries::Large(index) => index.get(key),
        }
    }

    /// The value of a key of any kind, to be changed.
    pub fn get_value_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.is_sealed = false;
        match &mut self.entries {
            Entries::Small(list) => list
                .iter_mut()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            Entries::Large(index) => index.get_mut(key),
        }
    }

    /// Sets a key. One that is there already keeps its place and takes the new value.
    pub fn insert(&mut self, key: Value, value: Value) {
        self.is_sealed = false;
        match &mut self.entries {
            Entries::Small(list) => {
                if let Some((_, old)) = list.iter_mut().find(|(name, _)| *name == key) {
                    *old = value;
                } else if list.len() < SMALL {
                    list.push((key, value));
                } else {
                    let mut index = Index::with_capacity_and_hasher(SMALL * 2, Default::default());
                    index.extend(std::mem::take(list));
                    index.insert(key, value);
                    self.entries = Entries::Large(Box::new(index));
                }
            }
            Entries::Large(index) => {
                index.insert(key, value);
            }
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> Iter<'_> {
        match &self.entries {
            Entries::Small(list) => Iter::Small(list.iter()),
            Entries::Large(index) => Iter::Large(index.iter()),
        }
    }

    /// What is known of everything below: at once of a hash made by [`Value::hash`], by a look at every entry of one
    /// that is being made.
    pub fn traits(&self) -> Traits {
        if self.is_sealed {
            return self.traits;
        }
        Traits::of_entries(self.iter())
    }

    /// The hash as it stays: what is known of everything below it is worked out.
    pub fn sealed(mut self) -> Self {
        match &mut self.entries {
            Entries::Small(list) => list.shrink_to_fit(),
            Entries::Large(index) => index.shrink_to_fit(),
        }
        let traits = Traits::of_entries(self.iter());
        Hash {
            entries: self.entries,
            traits,
            is_sealed: true,
        }
    }
}

/// A list in an allocation of its own size. Shrinking hands nothing back where the allocator finds the old one to fit
/// well enough, and data is made of small lists.
pub fn exact<T>(mut list: Vec<T>) -> Vec<T> {
    if list.len() == list.capacity() {
        return list;
    }
    let mut exact = Vec::with_capacity(list.len());
    exact.append(&mut list);
    exact
}

impl PartialEq for Hash {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .all(|(key, value)| other.get_value(key) == Some(value))
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Hash {
    fn from(entries: [(&str, Value); N]) -> Self {
        let entries = entries.into_iter();
        entries
            .map(|(key, value)| (Value::str(key), value))
            .collect()
    }
}

impl FromIterator<(Value, Value)> for Hash {
    fn from_iter<T: IntoIterator<Item = (Value, Value)>>(entries: T) -> Self {
        let entries = entries.into_iter();
        let mut hash = Hash::with_capacity(entries.size_hint().0);
        for (key, value) in entries {
            hash.insert(key, value);
        }
        hash
    }
}

impl<'a> IntoIterator for &'a Hash {
    type Item = (&'a Value, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The entries of a [`struct@Hash`] in order.
#[derive(Clone, Debug)]
pub enum Iter<'a> {
    /// Of a small one.
    Small(std::slice::Iter<'a, (Value, Value)>),
    /// Of a large one.
    Large(indexmap::map::Iter<'a, Value, Value>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Value, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Small(list) => list.next().map(|(key, value)| (key, value)),
            Iter::Large(index) => index.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Iter::Small(list) => list.size_hint(),
            Iter::Large(index) => index.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_set_again_keeps_its_place_small_and_large() {
        for size in [3, 30] {
            let mut hash = Hash::new();
            for number in 0..size {
                hash.insert(Value::str(format!("k{number}")), Value::Int(number));
            }
            hash.insert("k1".into(), Value::Int(99));
            assert_eq!(hash.len(), size as usize);
            assert_eq!(hash.get("k1"), Some(&Value::Int(99)));
            assert_eq!(hash.iter().nth(1), Some((&"k1".into(), &Value::Int(99))));
            assert_eq!(hash.get("k30"), None);
        }
    }

    #[test]
    fn a_hash_made_by_hand_knows_what_it_holds() {
        let secret = || Value::Sensitive(std::sync::Arc::new(Value::Int(1)));
        let mut hash = Hash::new();
        hash.insert("a".into(), secret());
        let by_hand = Value::Hash(std::sync::Arc::new(hash.clone()));
        assert!(by_hand.traits().has_sensitive);
        assert_eq!(by_hand.traits(), Value::hash(hash).traits());
        assert!(Value::array(vec![by_hand]).traits().has_sensitive);

        let sealed = [("a".into(), Value::Int(1))].into_iter().collect();
        let Value::Hash(sealed) = Value::hash(sealed) else {
            panic!("not a hash");
        };
        let mut changed = Hash::clone(&sealed);
        *changed.get_value_mut(&"a".into()).unwrap() = secret();
        assert!(changed.traits().has_sensitive);
        let mut extended = Hash::clone(&sealed);
        extended.insert("b".into(), secret());
        assert!(extended.traits().has_sensitive);
        assert!(!sealed.traits().has_sensitive);
    }

    #[test]
    fn keys_of_other_kinds_are_apart() {
        let hash: Hash = [(Value::Int(1), "int".into()), ("1".into(), "text".into())]
            .into_iter()
            .collect();
        assert_eq!(hash.get("1"), Some(&"text".into()));
        assert_eq!(hash.get_value(&Value::Int(1)), Some(&"int".into()));
    }
}
