//! Building types and looking into their parts.

use std::sync::Arc;

use indexmap::IndexSet;
use lean_string::LeanStr;

use puppet_values::{Rich, TypeValue, Value};

use super::{
    ArrayType, CallableType, EnumType, FloatRange, HashType, IntegerRange, StringType,
    StructElement, TupleType, Type, TypeNames, TypeParseError, parse,
};

impl Type {
    /// The type, if a value is one.
    pub fn from_value(value: &Value) -> Option<&Type> {
        let Value::Rich(rich) = value else {
            return None;
        };
        Type::from_rich(rich)
    }

    /// The type, if a rich value is one.
    pub(crate) fn from_rich(rich: &Rich) -> Option<&Type> {
        match rich {
            Rich::Type(ty) => ty.downcast_ref(),
            _ => None,
        }
    }

    /// Parses a type such as `Array[Integer[0], 1]`.
    ///
    /// # Errors
    ///
    /// If it is not a type, with Puppet's message.
    pub fn parse(text: &str) -> Result<Type, TypeParseError> {
        parse::parse(text, &TypeNames::default())
    }

    /// All integers.
    pub(crate) fn integer() -> Type {
        Type::Integer(IntegerRange::default())
    }

    /// All floats.
    pub(crate) fn float() -> Type {
        Type::Float(FloatRange::default())
    }

    /// All strings.
    pub(crate) fn string() -> Type {
        Type::String(StringType::Any)
    }

    /// Strings with a length in a range; negative lengths count as 0.
    pub(crate) fn sized_string(size: IntegerRange) -> Type {
        Type::String(StringType::Size(size.into_size()))
    }

    /// One string.
    pub(crate) fn text(text: &str) -> Type {
        Type::String(StringType::Value(LeanStr::from(text)))
    }

    /// Arrays. The elements of empty arrays have any type.
    pub(crate) fn array(element: Type, size: Option<IntegerRange>) -> Type {
        let empty = size.as_ref().is_some_and(IntegerRange::is_zero);
        Type::Array(Arc::new(ArrayType {
            element: if empty { Type::Unit } else { element },
            size: size.map(IntegerRange::into_size),
        }))
    }

    /// Hashes. The keys and values of empty hashes have any type.
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

    /// Arrays with a type for each element.
    pub(crate) fn tuple(types: Vec<Type>, size: Option<IntegerRange>) -> Type {
        Type::Tuple(Arc::new(TupleType {
            types,
            size: size.map(IntegerRange::into_size),
        }))
    }

    /// Strings from a list.
    pub(crate) fn enumeration(mut values: Vec<LeanStr>, case_insensitive: bool) -> Type {
        values.sort();
        values.dedup();
        Type::Enum(Arc::new(EnumType {
            values,
            case_insensitive,
        }))
    }

    /// Any of these types. If they are all the same, that type.
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

    /// The values of a type, except `undef`.
    pub(crate) fn not_undef(ty: Type) -> Type {
        Type::NotUndef((ty != Type::Any).then(|| Arc::new(ty)))
    }

    /// Sensitive values. Puppet drops the bounds of the type of their content.
    pub(crate) fn sensitive(ty: &Type) -> Type {
        Type::Sensitive(Arc::new(ty.generalize()))
    }
}

impl Type {
    /// The type with `change` applied to its parts, for types whose parts are treated alike.
    pub(crate) fn map_parts(&self, change: fn(&Type) -> Type) -> Type {
        let inner = |ty: &Option<Arc<Type>>| ty.as_ref().map(|ty| Arc::new(change(ty)));
        match self {
            Type::Tuple(tuple) => Type::Tuple(Arc::new(tuple.map_parts(change))),
            Type::Struct(elements) => Type::Struct(
                elements
                    .iter()
                    .map(|element| StructElement {
                        value: change(&element.value),
                        ..element.clone()
                    })
                    .collect(),
            ),
            Type::Iterable(ty) => Type::Iterable(inner(ty)),
            Type::Iterator(ty) => Type::Iterator(inner(ty)),
            Type::Type(ty) => Type::Type(inner(ty)),
            Type::Sensitive(ty) => match change(ty) {
                same if same == **ty => self.clone(),
                changed => Type::sensitive(&changed),
            },
            Type::Callable(callable) => Type::Callable(Arc::new(CallableType {
                parameters: callable
                    .parameters
                    .as_ref()
                    .map(|tuple| tuple.map_parts(change)),
                block: callable.block.as_ref().map(change),
                returns: callable.returns.as_ref().map(change),
            })),
            _ => self.clone(),
        }
    }
}

impl EnumType {
    /// Is the string in the list?
    pub(crate) fn has(&self, text: &str) -> bool {
        if self.case_insensitive {
            self.values
                .iter()
                .any(|value| value.eq_ignore_ascii_case(text))
        } else {
            self.values
                .binary_search_by(|value| value.as_str().cmp(text))
                .is_ok()
        }
    }
}

impl StructElement {
    /// The number of entries in values of a `Struct`.
    pub(crate) fn size_range(elements: &[StructElement]) -> IntegerRange {
        let required = elements.iter().filter(|element| !element.optional).count();
        IntegerRange::of(required, elements.len())
    }

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
    fn map_parts(&self, change: fn(&Type) -> Type) -> TupleType {
        TupleType {
            types: self.types.iter().map(change).collect(),
            size: self.size.clone(),
        }
    }

    /// The number of elements.
    pub(crate) fn size_range(&self) -> IntegerRange {
        match &self.size {
            Some(size) => size.clone(),
            None if self.types.is_empty() => IntegerRange::at_least(0),
            None => IntegerRange::exactly(self.types.len()),
        }
    }

    /// The type of an element.
    pub(crate) fn at(&self, index: usize) -> Option<&Type> {
        self.types.get(index).or_else(|| self.types.last())
    }
}

impl From<Type> for Value {
    fn from(ty: Type) -> Self {
        Value::Rich(Arc::new(Rich::Type(TypeValue::new(ty))))
    }
}
