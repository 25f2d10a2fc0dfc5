//! [`Type`]: the model of a Puppet type.

use std::sync::Arc;

use lean_string::LeanStr;

use puppet_values::semver::VersionRange;
use puppet_values::{Hash, Regexp, Value};

use super::{Alias, FloatRange, IntegerRange, TimeRange};

/// A type of the Puppet language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// All values.
    Any,
    /// Puppet's internal type that accepts and is accepted by any type: the elements of an empty collection.
    Unit,
    /// Only `undef`.
    Undef,
    /// Only `default`.
    Default,
    /// Strings, numbers, booleans, regular expressions, versions and times.
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
    /// Integers in a range.
    Integer(IntegerRange),
    /// Floats in a range.
    Float(FloatRange),
    /// Strings.
    String(StringType),
    /// Booleans, or one of the two.
    Boolean(Option<bool>),
    /// Strings from a list.
    Enum(Arc<EnumType>),
    /// Strings that match one of the patterns.
    Pattern(Arc<[Regexp]>),
    /// Regular expressions, or a particular one.
    Regexp(Option<Regexp>),
    /// Arrays and hashes, of any size or a size in a range.
    Collection(Option<IntegerRange>),
    /// Arrays.
    Array(Arc<ArrayType>),
    /// Hashes.
    Hash(Arc<HashType>),
    /// Arrays with a type for each position.
    Tuple(Arc<TupleType>),
    /// Hashes with a type for each key.
    Struct(Arc<[StructElement]>),
    /// Values that can be iterated over.
    Iterable(Option<Arc<Type>>),
    /// Iterators. Data has none.
    Iterator(Option<Arc<Type>>),
    /// A type or `undef`.
    Optional(Option<Arc<Type>>),
    /// The values of a type, except `undef`.
    NotUndef(Option<Arc<Type>>),
    /// Types, or types that a type accepts.
    Type(Option<Arc<Type>>),
    /// Sensitive values of a type.
    Sensitive(Arc<Type>),
    /// Any of several types.
    Variant(Arc<[Type]>),
    /// Callables. Data has none.
    Callable(Arc<CallableType>),
    /// Values from which a value of a type can be created.
    Init(Option<Arc<InitType>>),
    /// Versions in one of the ranges, or all versions if there is none.
    SemVer(Arc<[VersionRange]>),
    /// Points in time in a range.
    Timestamp(TimeRange),
    /// Durations in a range.
    Timespan(TimeRange),
    /// URIs, or those with certain components.
    Uri(Option<Arc<UriType>>),
    /// A class, or all classes.
    Class(Option<LeanStr>),
    /// A resource type or a resource, or all resources.
    Resource(Option<ResourceType>),
    /// A type of the runtime, that is a Ruby class.
    Runtime(Option<LeanStr>, Option<LeanStr>),
    /// Another name for a type.
    Alias(Alias),
    /// An unknown type, by its notation.
    Reference(LeanStr),
    /// An object type by its name, or all object types.
    Object(Option<LeanStr>),
    /// A set of types.
    TypeSet,
}

/// Which strings a `String` accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum StringType {
    /// All.
    #[default]
    Any,
    /// Strings with a length, in characters, in a range.
    Size(IntegerRange),
    /// One string.
    Value(LeanStr),
}

/// The parameters of an `Enum`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// The strings, sorted and unique.
    pub values: Vec<LeanStr>,
    /// Is the case of ASCII letters ignored?
    pub case_insensitive: bool,
}

/// The parameters of an `Array`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// The type of each element.
    pub element: Type,
    /// The number of elements.
    pub size: Option<IntegerRange>,
}

/// The parameters of a `Hash`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HashType {
    /// The type of each key.
    pub key: Type,
    /// The type of each value.
    pub value: Type,
    /// The number of entries.
    pub size: Option<IntegerRange>,
}

/// The parameters of a `Tuple`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleType {
    /// The type of each element; the last one repeats.
    pub types: Vec<Type>,
    /// The number of elements, if it is not the number of types.
    pub size: Option<IntegerRange>,
}

/// One key of a `Struct`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructElement {
    /// The key.
    pub name: LeanStr,
    /// Can the key be missing?
    pub optional: bool,
    /// The type of the value.
    pub value: Type,
}

/// The parameters of a `Callable`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallableType {
    /// The types of the arguments; `None` accepts all.
    pub parameters: Option<TupleType>,
    /// The type of the block.
    pub block: Option<Type>,
    /// The type of the result.
    pub returns: Option<Type>,
}

/// The parameters of an `Init`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InitType {
    /// The type to create.
    pub target: Type,
    /// The arguments after the value.
    pub arguments: Vec<Value>,
}

/// The components that a `URI` must have.
#[derive(Clone, Debug, PartialEq)]
pub struct UriType {
    /// The names of the components, and what they must match.
    pub parts: Hash,
}

/// A resource type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceType {
    /// Its capitalized name.
    pub name: LeanStr,
    /// The title, for a particular resource.
    pub title: Option<Value>,
}

impl Eq for UriType {}

impl std::hash::Hash for UriType {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts.len().hash(state);
    }
}
