//! [`struct@Hash`]: an ordered hash with keys of any type, as in Ruby.
//!
//! Small hashes are lists that are searched from the front, large ones have an index. Nearly all hashes in real data are
//! small, and for those a list is both smaller and faster.

mod builder;

use std::hash::{Hash as StdHash, Hasher};

use indexmap::map::RawEntryApiV1;
use indexmap::{Equivalent, IndexMap};

use crate::table_key::{TableKey, TableState};
use crate::value::{Traits, Value};

pub use self::builder::HashBuilder;

type Index = IndexMap<Value, Value, TableState>;

/// The size up to which searching a list is as fast as an index, which takes time and memory to build.
const SMALL: usize = 16;

/// An ordered hash. An existing key that is set again keeps its position.
///
/// ```
/// use puppet_values::{Hash, Value};
///
/// let mut hash = Hash::new();
/// hash.insert("b".into(), Value::Int(1));
/// hash.insert("a".into(), Value::Int(2));
/// hash.insert("b".into(), Value::Int(3));
/// let keys: Vec<_> = hash.iter().filter_map(|(key, _)| key.as_str()).collect();
/// assert_eq!(keys, ["b", "a"]);
/// assert_eq!(hash.get("b"), Some(&Value::Int(3)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hash {
    entries: Entries,
    /// The traits, computed when the hash is sealed.
    // Invariant: correct if `is_sealed`. Every change of an entry unseals the hash.
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

/// A string key, so that a search needs no [`Value`].
struct StrKey<'a>(&'a str);

impl StdHash for StrKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Equivalent<Value> for StrKey<'_> {
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
    #[inline]
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Small(list) => list.len(),
            Entries::Large(index) => index.len(),
        }
    }

    /// Is it empty?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a string key.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.entries {
            Entries::Small(list) => list
                .iter()
                .find(|(name, _)| name.as_str() == Some(key))
                .map(|(_, value)| value),
            Entries::Large(index) => index.get(&StrKey(key)),
        }
    }

    /// The value of a string key with a precomputed hash.
    #[inline]
    pub fn get_hashed(&self, key: &TableKey) -> Option<&Value> {
        match &self.entries {
            Entries::Small(_) => self.get(key),
            Entries::Large(index) => index
                .raw_entry_v1()
                .from_hash(key.hash(), |name| name.as_str() == Some(key))
                .map(|(_, value)| value),
        }
    }

    /// The value of a key of any type.
    pub fn get_value(&self, key: &Value) -> Option<&Value> {
        match &self.entries {
            Entries::Small(list) => list
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            Entries::Large(index) => index.get(key),
        }
    }

    /// The value of a key of any type, mutable.
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

    /// Sets a key. An existing key keeps its position and gets the new value.
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
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        match &self.entries {
            Entries::Small(list) => Iter::Small(list.iter()),
            Entries::Large(index) => Iter::Large(index.iter()),
        }
    }

    /// The traits. They are precomputed if the hash comes from [`Value::hash`], otherwise this looks at every entry.
    #[inline]
    pub fn traits(&self) -> Traits {
        if self.is_sealed {
            return self.traits;
        }
        Traits::of_entries(self.iter())
    }

    /// The hash without spare capacity and with precomputed traits.
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

/// Copies a list to an allocation of exactly its size, if it is larger.
///
/// Readers of data files use it for the many small lists of a document: `shrink_to_fit` often keeps the old allocation,
/// because the allocator considers it small enough.
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
    /// The entries of a list.
    Small(std::slice::Iter<'a, (Value, Value)>),
    /// The entries of an index.
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
mod tests;
