//! [`Value`]: what a data file holds and a lookup answers, cheap to clone and 16 bytes small.
//!
//! Parts are shared behind reference counts, so that an answer borrows from the snapshot instead of
//! copying it. Each collection carries [`Traits`], worked out once when it is made: a subtree without
//! interpolation tokens is handed on as it is, and one that Puppet would refuse is known at once.

use std::hash::{BuildHasher, Hash as StdHash, Hasher};
use std::sync::Arc;

use arcstr::ArcStr;
use lean_string::LeanStr;
use num_bigint::BigInt;

use crate::hash::Hash;
use crate::opaque::TemplateText;
use crate::rich::Rich;

/// A value of Hiera data.
///
/// Equality and hashing are those of Ruby's `eql?`: `1` and `1.0` differ, and two hashes with the same
/// entries are equal in any order.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `~`, `null`: a value that was set to nothing.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits; a larger one is a [`Value::BigInt`].
    Int(i64),
    /// A float.
    Float(f64),
    /// An integer beyond 64 bits. Invariant: it does not fit an `i64`.
    BigInt(Arc<BigInt>),
    /// Text.
    Str(LeanStr),
    /// Text that is not UTF-8 (YAML's `!!binary`).
    Bytes(Arc<Vec<u8>>),
    /// A Ruby Symbol such as `:name`. Puppet reads them and refuses the values they stand in.
    Symbol(ArcStr),
    /// Text with `%{`, as it stands in a data file. Never part of an answer.
    Template(Arc<TemplateText>),
    /// A list.
    Array(Arc<Array>),
    /// A hash; its order is part of the value.
    Hash(Arc<Hash>),
    /// A value that must not be shown. Made by `convert_to`, never by data.
    Sensitive(Arc<Value>),
    /// A value that only a conversion can make: a timestamp, a version, a type.
    Rich(Arc<Rich>),
}

/// A list and what is known of everything below it.
#[derive(Clone, Debug)]
pub struct Array {
    items: Box<[Value]>,
    traits: Traits,
}

/// What is known of a value and everything below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Levels of nesting: 0 for a scalar, 1 for `[]`.
    pub depth: u16,
    /// About how much text it is, in pieces of 16 bytes; what is shared counts each time.
    pub weight: u32,
    /// An interpolation token stands somewhere in it.
    pub has_templates: bool,
    /// A Symbol, or a hash key that is neither text nor number, stands somewhere in it.
    pub is_irregular: bool,
    /// A Sensitive stands somewhere in it.
    pub has_sensitive: bool,
    /// Something stands in it that Puppet's type `Data` does not cover: a Symbol, a rich value, a Sensitive,
    /// a hash key that is not text.
    pub is_beyond_data: bool,
}

impl Traits {
    /// Takes a part of the value into account.
    fn add(&mut self, part: &Value) {
        match part {
            // Most parts are one of these, and have no trait but their weight.
            Value::Str(text) => self.add_weight(weight_of(text.len())),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => self.add_weight(1),
            _ => self.include(part.traits()),
        }
    }

    fn add_weight(&mut self, weight: u32) {
        self.weight = self.weight.saturating_add(weight);
    }

    fn include(&mut self, inner: Traits) {
        self.depth = self.depth.max(inner.depth.saturating_add(1));
        self.add_weight(inner.weight);
        self.has_templates |= inner.has_templates;
        self.is_irregular |= inner.is_irregular;
        self.has_sensitive |= inner.has_sensitive;
        self.is_beyond_data |= inner.is_beyond_data;
    }

    /// The traits of a list of these values.
    pub fn of_items<'a>(items: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut traits = Traits {
            depth: 1,
            weight: 1,
            ..Traits::default()
        };
        for item in items {
            traits.add(item);
        }
        traits
    }

    /// The traits of a hash of these entries.
    pub fn of_entries<'a>(entries: impl IntoIterator<Item = (&'a Value, &'a Value)>) -> Self {
        let mut traits = Traits {
            depth: 1,
            weight: 1,
            ..Traits::default()
        };
        for (key, value) in entries {
            traits.add(key);
            if !matches!(key, Value::Str(_)) {
                traits.is_irregular |= !key.is_data_key();
                traits.is_beyond_data |= !matches!(key, Value::Template(_) | Value::Bytes(_));
            }
            traits.add(value);
        }
        traits
    }
}

impl Array {
    /// A list of these items.
    pub fn new(items: Vec<Value>) -> Self {
        let traits = Traits::of_items(&items);
        Array {
            items: items.into_boxed_slice(),
            traits,
        }
    }

    /// The items in order.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// What is known of everything below.
    pub fn traits(&self) -> Traits {
        self.traits
    }
}

impl Value {
    /// Text.
    pub fn str(text: impl AsRef<str>) -> Self {
        Value::Str(LeanStr::from(text.as_ref()))
    }

    /// A list.
    pub fn array(items: Vec<Value>) -> Self {
        Value::Array(Arc::new(Array::new(items)))
    }

    /// A hash, from then on unchangeable.
    pub fn hash(hash: Hash) -> Self {
        Value::Hash(Arc::new(hash.sealed()))
    }

    /// An integer of any size.
    pub fn integer(number: BigInt) -> Self {
        match i64::try_from(&number) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::BigInt(Arc::new(number)),
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The hash, where it is one.
    pub fn as_hash(&self) -> Option<&Hash> {
        match self {
            Value::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// The items, where it is a list.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(array) => Some(array.items()),
            _ => None,
        }
    }

    /// Is it the very same: a collection that shares its parts, or an equal scalar? Cheap and sure.
    pub fn is_same_object(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Array(left), Value::Array(right)) => Arc::ptr_eq(left, right),
            (Value::Hash(left), Value::Hash(right)) => Arc::ptr_eq(left, right),
            (Value::Array(_) | Value::Hash(_), _) | (_, Value::Array(_) | Value::Hash(_)) => false,
            _ => self == other,
        }
    }

    /// Ruby's truth: all but null and false.
    pub fn is_truthy(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    /// What is known of the value and everything below it.
    pub fn traits(&self) -> Traits {
        let scalar = Traits {
            weight: 1,
            ..Traits::default()
        };
        match self {
            Value::Array(array) => array.traits,
            Value::Hash(hash) => hash.traits(),
            Value::Str(text) => Traits {
                weight: weight_of(text.len()),
                ..scalar
            },
            Value::Template(_) => Traits {
                has_templates: true,
                ..scalar
            },
            // Puppet takes these two Symbols for its own `default` and `undef`.
            Value::Symbol(name) => Traits {
                is_irregular: !matches!(name.as_str(), "default" | "undef"),
                is_beyond_data: name != "undef",
                ..scalar
            },
            Value::Sensitive(inner) => Traits {
                has_sensitive: true,
                is_beyond_data: true,
                ..inner.traits()
            },
            Value::Rich(_) => Traits {
                is_beyond_data: true,
                ..scalar
            },
            _ => scalar,
        }
    }

    /// May it be the key of a hash in data that Puppet accepts?
    fn is_data_key(&self) -> bool {
        matches!(
            self,
            Value::Str(_)
                | Value::Int(_)
                | Value::BigInt(_)
                | Value::Float(_)
                | Value::Template(_)
                | Value::Bytes(_)
        )
    }

    /// The class that Ruby would name: for messages.
    pub fn ruby_class(&self) -> &'static str {
        match self {
            Value::Null => "NilClass",
            Value::Bool(true) => "TrueClass",
            Value::Bool(false) => "FalseClass",
            Value::Int(_) | Value::BigInt(_) => "Integer",
            Value::Float(_) => "Float",
            Value::Str(_) | Value::Bytes(_) | Value::Template(_) => "String",
            Value::Symbol(_) => "Symbol",
            Value::Array(_) => "Array",
            Value::Hash(_) => "Hash",
            Value::Sensitive(_) => "Sensitive",
            Value::Rich(rich) => rich.type_name(),
        }
    }
}

fn weight_of(length: usize) -> u32 {
    u32::try_from(length / 16)
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::str(text)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
            (Value::BigInt(left), Value::BigInt(right)) => left == right,
            (Value::Str(left), Value::Str(right)) => left == right,
            (Value::Bytes(left), Value::Bytes(right)) => left == right,
            (Value::Symbol(left), Value::Symbol(right)) => left == right,
            (Value::Template(left), Value::Template(right)) => left.source() == right.source(),
            (Value::Array(left), Value::Array(right)) => {
                Arc::ptr_eq(left, right) || left.items == right.items
            }
            (Value::Hash(left), Value::Hash(right)) => Arc::ptr_eq(left, right) || left == right,
            (Value::Sensitive(left), Value::Sensitive(right)) => left == right,
            (Value::Rich(left), Value::Rich(right)) => left == right,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl StdHash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            // Alone without a tag, so that a `&str` finds a text key (`Hash::get`).
            Value::Str(text) => text.as_str().hash(state),
            Value::Null => 0u8.hash(state),
            Value::Bool(flag) => (1u8, flag).hash(state),
            Value::Int(number) => (2u8, number).hash(state),
            Value::Float(number) => (3u8, number.to_bits()).hash(state),
            Value::BigInt(number) => (4u8, number).hash(state),
            Value::Bytes(bytes) => (5u8, bytes).hash(state),
            Value::Symbol(name) => (6u8, name.as_str()).hash(state),
            Value::Template(template) => (7u8, template.source()).hash(state),
            Value::Array(array) => (8u8, &array.items).hash(state),
            Value::Hash(hash) => {
                // In any order, since equality does not look at it.
                let build = foldhash::fast::FixedState::default();
                let sum = hash
                    .iter()
                    .fold(0u64, |sum, entry| sum.wrapping_add(build.hash_one(entry)));
                (9u8, sum).hash(state);
            }
            Value::Sensitive(inner) => (10u8, inner.as_ref()).hash(state),
            Value::Rich(rich) => (11u8, rich.as_ref()).hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_16_bytes() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn equality_is_by_kind_and_ignores_the_order_of_a_hash() {
        assert_ne!(Value::Int(1), Value::Float(1.0));
        let ab: Hash = [("a".into(), Value::Int(1)), ("b".into(), Value::Int(2))]
            .into_iter()
            .collect();
        let ba: Hash = [("b".into(), Value::Int(2)), ("a".into(), Value::Int(1))]
            .into_iter()
            .collect();
        let (ab, ba) = (Value::hash(ab), Value::hash(ba));
        assert_eq!(ab, ba);
        let build = foldhash::fast::FixedState::default();
        assert_eq!(build.hash_one(&ab), build.hash_one(&ba));
    }
}
