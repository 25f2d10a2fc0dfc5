//! [`Value`]: a value of Hiera data, 16 bytes and cheap to clone.
//!
//! Collections are shared behind reference counts, so a lookup result shares memory with the data that it comes from.
//! Each collection has its [`Traits`], computed once when it is built: a subtree without interpolation tokens is returned
//! as it is, and one that Puppet refuses is recognized without a walk.

mod traits;

use std::hash::{BuildHasher, Hash as StdHash, Hasher};
use std::sync::Arc;

use arcstr::ArcStr;
use lean_string::LeanStr;
use num_bigint::BigInt;

use crate::hash::Hash;
use crate::opaque::TemplateText;
use crate::rich::Rich;
use traits::weight_of;

pub use traits::Traits;

/// A value of Hiera data.
///
/// Equality and hashing follow Ruby's `eql?`: `1` and `1.0` differ, and hashes with the same entries in another order are
/// equal.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `~` or `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits; larger ones are [`Value::BigInt`].
    Int(i64),
    /// A float.
    Float(f64),
    /// A larger integer. Invariant: it does not fit an `i64`.
    BigInt(Arc<BigInt>),
    /// A string.
    Str(LeanStr),
    /// A string that is not UTF-8 (`!!binary` in YAML).
    Bytes(Arc<Vec<u8>>),
    /// A Ruby Symbol such as `:name`. Puppet reads them, but refuses values that contain one.
    Symbol(ArcStr),
    /// A string with interpolation tokens (`%{...}`) from a data file. Never part of a lookup result.
    Template(Arc<TemplateText>),
    /// An array.
    Array(Arc<Array>),
    /// A hash. Its order is kept.
    Hash(Arc<Hash>),
    /// A value that must not be shown. Only conversions create it.
    Sensitive(Arc<Value>),
    /// A value that only conversions create: a timestamp, a version, a type.
    Rich(Arc<Rich>),
}

/// The elements of an array and its [`Traits`].
#[derive(Clone, Debug)]
pub struct Array {
    items: Box<[Value]>,
    traits: Traits,
}

impl Array {
    /// An array of these elements.
    pub fn new(items: Vec<Value>) -> Self {
        let traits = Traits::of_items(&items);
        Array {
            items: items.into_boxed_slice(),
            traits,
        }
    }

    /// The elements in order.
    #[inline]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The traits of the array.
    #[inline]
    pub fn traits(&self) -> Traits {
        self.traits
    }
}

impl Value {
    /// A string.
    pub fn str(text: impl AsRef<str>) -> Self {
        Value::Str(LeanStr::from(text.as_ref()))
    }

    /// An array.
    pub fn array(items: Vec<Value>) -> Self {
        Value::Array(Arc::new(Array::new(items)))
    }

    /// A hash. Computes its traits.
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

    /// The content, if it is a string.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The hash, if it is one.
    #[inline]
    pub fn as_hash(&self) -> Option<&Hash> {
        match self {
            Value::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    #[inline]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(array) => Some(array.items()),
            _ => None,
        }
    }

    /// Are both the same collection in memory, or equal scalars?
    ///
    /// This is cheap, but equal collections may be different objects.
    pub fn is_same_object(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Array(left), Value::Array(right)) => Arc::ptr_eq(left, right),
            (Value::Hash(left), Value::Hash(right)) => Arc::ptr_eq(left, right),
            (Value::Array(_) | Value::Hash(_), _) | (_, Value::Array(_) | Value::Hash(_)) => false,
            _ => self == other,
        }
    }

    /// Is it true to Ruby? Everything is, except null and false.
    #[inline]
    pub fn is_truthy(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    /// The traits of the value.
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
            // These two Symbols are Puppet's `default` and `undef`.
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

    /// Does Puppet accept it as a key in data?
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

    /// The name of its Ruby class, for messages.
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

impl From<Rich> for Value {
    fn from(rich: Rich) -> Self {
        Value::Rich(Arc::new(rich))
    }
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
            // The only variant without a tag, so that a `&str` finds a string key (`Hash::get`).
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
                // Independent of the order, as equality is.
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
    fn equality_distinguishes_types_and_ignores_the_order_of_hashes() {
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
