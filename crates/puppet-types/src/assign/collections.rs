//! Does a collection accept all values of another type?

use puppet_values::Value;

use super::super::{
    ArrayType, CallableType, HashType, IntegerRange, StructElement, TupleType, Type,
};
use super::AliasGuard;

pub(super) fn covers(size: &Option<IntegerRange>, other: &IntegerRange) -> bool {
    IntegerRange::size_or_any(size).covers(other)
}

/// The number of elements in values of the type, if it is a collection.
pub(super) fn collection_size(ty: &Type) -> Option<IntegerRange> {
    match ty {
        Type::Collection(size) => Some(IntegerRange::size_or_any(size)),
        Type::Array(array) => Some(IntegerRange::size_or_any(&array.size)),
        Type::Hash(hash) => Some(IntegerRange::size_or_any(&hash.size)),
        Type::Tuple(tuple) => Some(
            tuple
                .size
                .clone()
                .unwrap_or_else(|| IntegerRange::exactly(tuple.types.len())),
        ),
        Type::Struct(elements) => Some(IntegerRange::exactly(elements.len())),
        _ => None,
    }
}

pub(super) fn array_accepts(array: &ArrayType, other: &Type, guard: &mut AliasGuard) -> bool {
    match other {
        Type::Tuple(tuple) => {
            collection_size(other).is_some_and(|size| covers(&array.size, &size))
                && tuple
                    .types
                    .iter()
                    .all(|ty| array.element.accepts_guarded(ty, guard))
        }
        Type::Array(inner) => {
            collection_size(other).is_some_and(|size| covers(&array.size, &size))
                && array.element.accepts_guarded(&inner.element, guard)
        }
        _ => false,
    }
}

pub(super) fn hash_accepts(hash: &HashType, other: &Type, guard: &mut AliasGuard) -> bool {
    match other {
        Type::Hash(inner) => {
            let from_zero = |size: &IntegerRange| size.from == Some(num_bigint::BigInt::ZERO);
            let is_empty =
                *other == Type::hash(Type::Unit, Type::Unit, Some(IntegerRange::of(0, 0)));
            if is_empty && hash.size.as_ref().is_none_or(from_zero) {
                return true;
            }
            hash.key.accepts_guarded(&inner.key, guard)
                && hash.value.accepts_guarded(&inner.value, guard)
                && collection_size(other).is_some_and(|size| covers(&hash.size, &size))
        }
        Type::Struct(elements) => {
            hash.size
                .as_ref()
                .is_none_or(|size| size.contains_size(elements.len()))
                && elements.iter().all(|element| {
                    hash.key.is_instance(&Value::Str(element.name.clone()))
                        && hash.value.accepts_guarded(&element.value, guard)
                })
        }
        _ => false,
    }
}

pub(super) fn tuple_accepts(tuple: &TupleType, other: &Type, guard: &mut AliasGuard) -> bool {
    let size = tuple.size_range();
    match other {
        Type::Tuple(inner) => {
            if !size.covers(&inner.size_range()) {
                return false;
            }
            if tuple.types.is_empty() {
                return true;
            }
            if inner.types.is_empty() {
                return size.from == Some(num_bigint::BigInt::ZERO);
            }
            inner.types.iter().enumerate().all(|(index, other)| {
                tuple
                    .at(index)
                    .is_none_or(|ty| ty.accepts_guarded(other, guard))
            })
        }
        Type::Array(array) => {
            let other_size = IntegerRange::size_or_any(&array.size);
            size.covers(&other_size)
                && tuple
                    .types
                    .iter()
                    .enumerate()
                    .take_while(|(index, _)| {
                        other_size
                            .to
                            .as_ref()
                            .is_none_or(|to| *to > (*index).into())
                    })
                    .all(|(_, ty)| ty.accepts_guarded(&array.element, guard))
        }
        _ => false,
    }
}

pub(super) fn struct_accepts(
    elements: &[StructElement],
    other: &Type,
    guard: &mut AliasGuard,
) -> bool {
    match other {
        Type::Struct(others) => {
            let mut matched = 0;
            let fitting = elements.iter().all(|element| {
                match others.iter().rfind(|other| other.name == element.name) {
                    None => element.optional,
                    Some(other) => {
                        matched += 1;
                        (element.optional || !other.optional)
                            && element.value.accepts_guarded(&other.value, guard)
                    }
                }
            });
            fitting && matched == others.len()
        }
        Type::Hash(hash) => {
            let mut required = elements.iter().filter(|element| !element.optional);
            let fitting = required.all(|element| {
                element.value.accepts_guarded(&hash.value, guard)
                    && Type::string().accepts(&hash.key)
            });
            let size = IntegerRange::size_or_any(&hash.size);
            fitting && StructElement::size_range(elements).covers(&size)
        }
        _ => false,
    }
}

pub(super) fn callable_accepts(
    callable: &CallableType,
    other: &CallableType,
    guard: &mut AliasGuard,
) -> bool {
    if let Some(returns) = &callable.returns
        && !returns.accepts_guarded(other.returns.as_ref().unwrap_or(&Type::Any), guard)
    {
        return false;
    }
    let Some(parameters) = &callable.parameters else {
        return true;
    };
    // In the other direction: a callable that accepts more can be used instead.
    let Some(others) = &other.parameters else {
        return false;
    };
    let given = Type::Tuple(parameters.clone().into());
    Type::Tuple(others.clone().into()).accepts_guarded(&given, guard)
        && other
            .block
            .as_ref()
            .unwrap_or(&Type::Undef)
            .accepts_guarded(callable.block.as_ref().unwrap_or(&Type::Undef), guard)
}
