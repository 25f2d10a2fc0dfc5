#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! [`Type`] is the model. `parse` and `build` make one from its text, `format` prints it; `instance` and `assign` check
//! values and types against it, `infer` finds the type of a value, `mismatch` describes what does not fit. [`convert`]
//! makes values of a type. What a type accepts, how it prints and how a mismatch is worded follow Puppet, since clients
//! compare these answers with Puppet's.
#![warn(missing_docs)]

use std::sync::Arc;

use indexmap::IndexSet;
use lean_string::LeanStr;

use puppet_values::semver::VersionRange;
use puppet_values::{Hash, Regexp, Rich, TypeValue, Value};

mod alias;
mod assign;
mod build;
pub mod convert;
mod format;
mod generalize;
mod infer;
pub(crate) mod instance;
mod lexer;
mod mismatch;
mod normalize;
mod parse;
pub mod range;
pub(crate) mod signature;
mod uri_type;

pub use alias::{Alias, LocalAlias};
pub use infer::infer;
pub(crate) use infer::infer_set;
pub use mismatch::{TypeMismatch, assert_instance};
pub(crate) use parse::Names;
pub use parse::TypeParseError;
pub use range::{FloatRange, IntegerRange, TimeRange};

/// A type of the Puppet language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Every value.
    Any,
    /// Puppet's inner "whatever you are": the elements of an empty collection.
    Unit,
    /// Only `undef`.
    Undef,
    /// Only `default`.
    Default,
    /// Text, numbers, booleans, regular expressions, versions and times.
    Scalar,
    /// The scalars of JSON.
    ScalarData,
    /// Integers and floats.
    Numeric,
    /// Bytes.
    Binary,
    /// Ranges of versions.
    SemVerRange,
    /// Classes and resources.
    CatalogEntry,
    /// Integers of a range.
    Integer(IntegerRange),
    /// Floats of a range.
    Float(FloatRange),
    /// Text.
    String(StringType),
    /// Booleans, or one of them.
    Boolean(Option<bool>),
    /// Text out of a list.
    Enum(Arc<EnumType>),
    /// Text that one of the patterns matches.
    Pattern(Arc<[Regexp]>),
    /// Regular expressions, or one of them.
    Regexp(Option<Regexp>),
    /// Arrays and hashes of some size.
    Collection(Option<IntegerRange>),
    /// Arrays.
    Array(Arc<ArrayType>),
    /// Hashes.
    Hash(Arc<HashType>),
    /// Arrays with a type for each place.
    Tuple(Arc<TupleType>),
    /// Hashes with a type for each key.
    Struct(Arc<[StructElement]>),
    /// What can be iterated over.
    Iterable(Option<Arc<Type>>),
    /// Iterators, of which data has none.
    Iterator(Option<Arc<Type>>),
    /// A type or `undef`.
    Optional(Option<Arc<Type>>),
    /// A type without `undef`.
    NotUndef(Option<Arc<Type>>),
    /// Types, or those that a type accepts.
    Type(Option<Arc<Type>>),
    /// Sensitive values of a type.
    Sensitive(Arc<Type>),
    /// Any of several types.
    Variant(Arc<[Type]>),
    /// Callables, of which data has none.
    Callable(Arc<CallableType>),
    /// What a new value of a type can be made from.
    Init(Option<Arc<InitType>>),
    /// Versions within one of the ranges, or any version where there is none.
    SemVer(Arc<[VersionRange]>),
    /// Points in time of a range.
    Timestamp(TimeRange),
    /// Lengths of time of a range.
    Timespan(TimeRange),
    /// URIs with certain parts.
    Uri(Option<Arc<UriType>>),
    /// A class, or any.
    Class(Option<LeanStr>),
    /// A resource type with its title, or any.
    Resource(Option<ResourceType>),
    /// A type of the runtime beneath Puppet.
    Runtime(Option<LeanStr>, Option<LeanStr>),
    /// Another name for a type.
    Alias(Alias),
    /// A name that nothing is known of.
    Reference(LeanStr),
    /// An object type, by name; without one, all of them.
    Object(Option<LeanStr>),
    /// A set of types.
    TypeSet,
}

/// What text a `String` accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum StringType {
    /// All.
    #[default]
    Any,
    /// Text of some length, in characters.
    Size(IntegerRange),
    /// One text.
    Value(LeanStr),
}

/// The list of an `Enum`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// The texts, sorted and without doubles.
    pub values: Vec<LeanStr>,
    /// Are upper and lower case the same?
    pub case_insensitive: bool,
}

/// The parts of an `Array`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// The type of each element.
    pub element: Type,
    /// The number of elements.
    pub size: Option<IntegerRange>,
}

/// The parts of a `Hash`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HashType {
    /// The type of each key.
    pub key: Type,
    /// The type of each value.
    pub value: Type,
    /// The number of entries.
    pub size: Option<IntegerRange>,
}

/// The parts of a `Tuple`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleType {
    /// The types by place; the last one repeats.
    pub types: Vec<Type>,
    /// The number of elements, where it is not that of the types.
    pub size: Option<IntegerRange>,
}

/// One key of a `Struct`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructElement {
    /// The key.
    pub name: LeanStr,
    /// May the key be missing?
    pub optional: bool,
    /// The type of the value.
    pub value: Type,
}

/// The parts of a `Callable`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallableType {
    /// The parameters; without them, any.
    pub parameters: Option<TupleType>,
    /// The block.
    pub block: Option<Type>,
    /// What it returns.
    pub returns: Option<Type>,
}

/// The parts of an `Init`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InitType {
    /// The type to be made.
    pub target: Type,
    /// Arguments that follow the value.
    pub arguments: Vec<Value>,
}

/// The parts that a `URI` must have.
#[derive(Clone, Debug, PartialEq)]
pub struct UriType {
    /// Part and what it must match.
    pub parts: Hash,
}

/// A resource type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceType {
    /// Its name, capitalized.
    pub name: LeanStr,
    /// The title of one resource.
    pub title: Option<Value>,
}

impl Type {
    /// The type that a value is.
    pub fn from_value(value: &Value) -> Option<&Type> {
        let Value::Rich(rich) = value else {
            return None;
        };
        Type::from_rich(rich)
    }

    /// The type that a rich value is.
    fn from_rich(rich: &Rich) -> Option<&Type> {
        match rich {
            Rich::Type(ty) => ty.downcast_ref(),
            _ => None,
        }
    }

    /// Reads a type such as `Array[Integer[0], 1]`.
    pub fn parse(text: &str) -> Result<Type, TypeParseError> {
        parse::parse(text, &Names::default())
    }

    /// All integers.
    pub(crate) fn integer() -> Type {
        Type::Integer(IntegerRange::default())
    }

    /// All floats.
    pub(crate) fn float() -> Type {
        Type::Float(FloatRange::default())
    }

    /// All text.
    pub(crate) fn string() -> Type {
        Type::String(StringType::Any)
    }

    /// Text of some length; a negative length counts as none.
    pub(crate) fn sized_string(size: IntegerRange) -> Type {
        Type::String(StringType::Size(size.into_size()))
    }

    /// One text.
    pub(crate) fn text(text: &str) -> Type {
        Type::String(StringType::Value(LeanStr::from(text)))
    }

    /// Arrays. That of no element has elements of any type.
    pub(crate) fn array(element: Type, size: Option<IntegerRange>) -> Type {
        let empty = size.as_ref().is_some_and(IntegerRange::is_zero);
        Type::Array(Arc::new(ArrayType {
            element: if empty { Type::Unit } else { element },
            size: size.map(IntegerRange::into_size),
        }))
    }

    /// Hashes. That of no entry has keys and values of any type.
    pub fn hash(key: Type, value: Type, size: Option<IntegerRange>) -> Type {
        let empty = size.as_ref().is_some_and(IntegerRange::is_zero);
        let (key, value) = if empty {
            (Type::Unit, Type::Unit)
        } else {
            (key, value)
        };
        Type::Hash(Arc::new(HashType {
            key,
            value,
            size: size.map(IntegerRange::into_size),
        }))
    }

    /// Arrays with a type for each place.
    pub(crate) fn tuple(types: Vec<Type>, size: Option<IntegerRange>) -> Type {
        Type::Tuple(Arc::new(TupleType {
            types,
            size: size.map(IntegerRange::into_size),
        }))
    }

    /// Text out of a list.
    pub(crate) fn enumeration(mut values: Vec<LeanStr>, case_insensitive: bool) -> Type {
        values.sort();
        values.dedup();
        Type::Enum(Arc::new(EnumType {
            values,
            case_insensitive,
        }))
    }

    /// Any of these types; where they come to one, that one.
    pub(crate) fn variant(types: impl IntoIterator<Item = Type>) -> Type {
        let mut flat = IndexSet::<Type, foldhash::fast::RandomState>::default();
        for ty in types {
            match ty {
                Type::Variant(inner) => flat.extend(inner.iter().cloned()),
                ty => {
                    flat.insert(ty);
                }
            }
        }
        let flat: Vec<Type> = flat.into_iter().collect();
        match <[Type; 1]>::try_from(flat) {
            Ok([only]) => only,
            Err(flat) => Type::Variant(flat.into()),
        }
    }

    /// The type or `undef`.
    pub(crate) fn optional(ty: Type) -> Type {
        Type::Optional(Some(Arc::new(ty)))
    }

    /// The type without `undef`.
    pub(crate) fn not_undef(ty: Type) -> Type {
        Type::NotUndef((ty != Type::Any).then(|| Arc::new(ty)))
    }

    /// Sensitive values. Puppet drops the bounds of what they hold.
    pub(crate) fn sensitive(ty: &Type) -> Type {
        Type::Sensitive(Arc::new(ty.generalize()))
    }
}

impl EnumType {
    /// Is the text in the list?
    pub(crate) fn has(&self, text: &str) -> bool {
        if self.case_insensitive {
            self.values
                .iter()
                .any(|known| known.eq_ignore_ascii_case(text))
        } else {
            self.values
                .binary_search_by(|known| known.as_str().cmp(text))
                .is_ok()
        }
    }
}

impl StructElement {
    /// The type of the key.
    pub(crate) fn key(&self) -> Type {
        let text = Type::String(StringType::Value(self.name.clone()));
        if self.optional {
            Type::optional(text)
        } else {
            text
        }
    }
}

impl TupleType {
    /// The number of elements it takes.
    pub(crate) fn size_range(&self) -> IntegerRange {
        match &self.size {
            Some(size) => size.clone(),
            None if self.types.is_empty() => IntegerRange::at_least(0),
            None => IntegerRange::exactly(self.types.len()),
        }
    }

    /// The type at a place.
    pub(crate) fn at(&self, index: usize) -> Option<&Type> {
        self.types.get(index).or_else(|| self.types.last())
    }
}

impl From<Type> for Value {
    fn from(ty: Type) -> Self {
        Value::Rich(Arc::new(Rich::Type(TypeValue::new(ty))))
    }
}

impl Eq for UriType {}

impl std::hash::Hash for UriType {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts.len().hash(state);
    }
}

#[cfg(test)]
mod tests;
