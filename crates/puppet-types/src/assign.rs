//! Does a type accept all values of another type?

use super::{Alias, IntegerRange, StringType, StructElement, Type, charge_items, signature};

mod collections;
mod scalars;

use collections::{
    array_accepts, callable_accepts, collection_size, covers, hash_accepts, struct_accepts,
    tuple_accepts,
};
use scalars::{enum_accepts, is_scalar, is_scalar_data, string_accepts, uri_accepts};

/// The recursive aliases that are being compared, so that comparing `Data` with `Data` ends.
#[derive(Debug, Default)]
struct AliasGuard {
    left: Vec<Alias>,
    right: Vec<Alias>,
    left_repeats: bool,
    right_repeats: bool,
}

impl Type {
    /// Does it accept all values of the other type?
    pub(crate) fn accepts(&self, other: &Type) -> bool {
        self.accepts_guarded(other, &mut AliasGuard::default())
    }

    fn accepts_guarded(&self, other: &Type, guard: &mut AliasGuard) -> bool {
        if work_budget::charge(1).is_err() {
            return false;
        }
        match self {
            Type::Unit => return true,
            Type::Variant(types) => {
                if *other == Type::Undef && types.is_empty() {
                    return false;
                }
                if let Type::Variant(others) = other {
                    return types.is_empty()
                        || !others.is_empty()
                            && others.iter().all(|other| self.accepts_plain(other, guard));
                }
            }
            Type::Alias(alias) if alias.is_recursive() && !guard.left_repeats => {
                if guard.left.contains(alias) {
                    guard.left_repeats = true;
                } else {
                    guard.left.push(alias.clone());
                    let accepts = self.accepts_plain(other, guard);
                    guard.left_repeats = false;
                    guard.left.retain(|other| other != alias);
                    return accepts;
                }
            }
            _ => {}
        }
        if guard.left_repeats && guard.right_repeats && matches!(self, Type::Alias(_)) {
            return true;
        }
        self.accepts_plain(other, guard)
    }

    /// Compares with each type that the other one consists of.
    fn accepts_plain(&self, other: &Type, guard: &mut AliasGuard) -> bool {
        match other {
            Type::Unit => true,
            Type::Alias(alias) => {
                if alias.is_recursive() {
                    if !guard.right_repeats {
                        if guard.right.contains(alias) {
                            guard.right_repeats = true;
                        } else {
                            guard.right.push(alias.clone());
                        }
                    }
                    if guard.left_repeats && guard.right_repeats {
                        return true;
                    }
                }
                self.accepts_guarded(alias.resolved(), guard)
            }
            Type::Variant(types) => match self {
                Type::Any => true,
                Type::NotUndef(_) if types.is_empty() => self.accepts_one(other, guard),
                _ => !types.is_empty() && types.iter().all(|ty| self.accepts_guarded(ty, guard)),
            },
            Type::Optional(inner) => {
                self.accepts(&Type::Undef) && inner.as_ref().is_none_or(|inner| self.accepts(inner))
            }
            Type::NotUndef(Some(inner)) if !inner.accepts(&Type::Undef) => {
                self.accepts_guarded(inner, guard)
            }
            _ => self.accepts_one(other, guard),
        }
    }

    fn accepts_one(&self, other: &Type, guard: &mut AliasGuard) -> bool {
        match (self, other) {
            (Type::Any | Type::Unit, _) => true,
            (Type::Undef, Type::Undef)
            | (Type::Default, Type::Default)
            | (Type::Binary, Type::Binary)
            | (Type::SemVerRange, Type::SemVerRange)
            | (Type::TypeSet, Type::TypeSet)
            | (Type::CatalogEntry, Type::CatalogEntry | Type::Class(_) | Type::Resource(_)) => true,
            (Type::Scalar, _) => is_scalar(other),
            (Type::ScalarData, _) => is_scalar_data(other),
            (Type::Numeric, Type::Numeric | Type::Integer(_)) => true,
            // The range of a NaN is in no other range.
            (Type::Numeric, Type::Float(other)) => super::FloatRange::default().covers(other),
            (Type::Integer(range), Type::Integer(other)) => range.covers(other),
            (Type::Float(range), Type::Float(other)) => range.covers(other),
            (Type::Timestamp(range), Type::Timestamp(other))
            | (Type::Timespan(range), Type::Timespan(other)) => range.covers(other),
            (Type::String(accepted), other) => string_accepts(accepted, other),
            (Type::Boolean(accepted), Type::Boolean(other)) => {
                accepted.is_none() || accepted == other
            }
            (Type::Enum(list), other) => {
                charge_items(list.values.len()) && enum_accepts(list, other)
            }
            (Type::Pattern(patterns), other) => {
                let matches = |text: &str| patterns.iter().any(|pattern| pattern.is_match(text));
                self == other
                    || match other {
                        Type::String(StringType::Value(text)) => {
                            patterns.is_empty() || matches(text)
                        }
                        Type::Enum(list) if !list.values.is_empty() => {
                            patterns.is_empty() || list.values.iter().all(|text| matches(text))
                        }
                        Type::String(_) | Type::Enum(_) | Type::Pattern(_) => patterns.is_empty(),
                        _ => false,
                    }
            }
            (Type::Regexp(accepted), Type::Regexp(other)) => {
                accepted.is_none() || accepted == other
            }
            (Type::SemVer(ranges), Type::SemVer(others)) => {
                ranges.is_empty()
                    || !others.is_empty()
                        && others
                            .iter()
                            .all(|other| ranges.iter().any(|range| other.is_covered_by(range)))
            }
            (Type::Collection(size), other) => match collection_size(other) {
                Some(other) => covers(size, &other),
                None => false,
            },
            (Type::Array(array), other) => array_accepts(array, other, guard),
            (Type::Hash(hash), other) => hash_accepts(hash, other, guard),
            (Type::Tuple(tuple), other) => self == other || tuple_accepts(tuple, other, guard),
            (Type::Struct(elements), other) => struct_accepts(elements, other, guard),
            (Type::Iterable(element), other) => match element {
                Some(ty) if !ty.accepts_guarded(&Type::Any, guard) => other
                    .iterated()
                    .flatten()
                    .is_some_and(|other| ty.accepts_guarded(&other, guard)),
                _ => other.iterated().is_some(),
            },
            (Type::Iterator(element), Type::Iterator(other)) => match (element, other) {
                (None, _) => true,
                (Some(ty), Some(other)) => ty.accepts_guarded(other, guard),
                (Some(_), None) => false,
            },
            (Type::Optional(inner), other) => {
                *other == Type::Undef
                    || inner
                        .as_ref()
                        .is_none_or(|inner| inner.accepts_guarded(other, guard))
            }
            (Type::NotUndef(inner), other) => {
                !other.accepts_guarded(&Type::Undef, guard)
                    && inner
                        .as_ref()
                        .is_none_or(|inner| inner.accepts_guarded(other, guard))
            }
            (Type::Type(accepted), Type::Type(other)) => match (accepted, other) {
                (None, _) => true,
                (Some(accepted), Some(other)) => accepted.accepts_guarded(other, guard),
                (Some(_), None) => false,
            },
            (Type::Sensitive(inner), Type::Sensitive(other)) => inner.accepts_guarded(other, guard),
            (Type::Variant(types), other) => {
                types.iter().any(|ty| ty.accepts_guarded(other, guard))
            }
            (Type::Alias(alias), other) => alias.resolved().accepts_guarded(other, guard),
            (Type::Callable(callable), Type::Callable(other)) => {
                callable_accepts(callable, other, guard)
            }
            (Type::Init(None), Type::Init(_)) => true,
            (Type::Init(None), other) => Type::Alias(Alias::RichData).accepts_guarded(other, guard),
            (Type::Init(Some(init)), Type::Init(Some(other))) => {
                init.target.accepts_guarded(&other.target, guard)
            }
            (Type::Init(Some(_)), Type::Init(None)) => false,
            (Type::Init(Some(init)), other) => {
                signature::init_types(init).is_ok_and(|types| types.accepts(init, other))
            }
            (Type::Uri(None), Type::Uri(_)) => true,
            (Type::Uri(Some(_)), Type::Uri(None)) => false,
            (Type::Uri(Some(accepted)), Type::Uri(Some(other))) => uri_accepts(accepted, other),
            (Type::Class(accepted), Type::Class(other)) => accepted.is_none() || accepted == other,
            (Type::Resource(accepted), Type::Resource(other)) => match (accepted, other) {
                (None, _) => true,
                (Some(accepted), Some(other)) => {
                    accepted.name.eq_ignore_ascii_case(&other.name)
                        && (accepted.title.is_none() || accepted.title == other.title)
                }
                (Some(_), None) => false,
            },
            (Type::Runtime(None, _), Type::Runtime(..)) => true,
            (Type::Runtime(runtime, name), Type::Runtime(other, other_name)) => {
                runtime == other && (name.is_none() || name == other_name)
            }
            (Type::Object(None), Type::Object(_)) => true,
            (Type::Object(_) | Type::Reference(_), other) => self == other,
            _ => false,
        }
    }

    /// The type of the elements that iterating over its values yields: `None` if that is impossible, `Some(None)` if the
    /// type is unknown.
    pub(super) fn iterated(&self) -> Option<Option<Type>> {
        match self {
            Type::Integer(_) => Some(Some(Type::integer())),
            Type::String(_) | Type::Enum(_) => {
                Some(Some(Type::sized_string(IntegerRange::exactly(1))))
            }
            // It is iterable, but has no type of elements.
            Type::Collection(_) => Some(None),
            Type::Array(array) if array.element == Type::Any => Some(None),
            Type::Array(array) => Some(Some(array.element.clone())),
            Type::Hash(hash) => {
                let (key, value) = if *self == Type::hash(Type::Any, Type::Any, None) {
                    (Type::Unit, Type::Unit)
                } else {
                    (hash.key.clone(), hash.value.clone())
                };
                Some(Some(pair(key, value)))
            }
            Type::Struct(elements) if elements.is_empty() => {
                Some(Some(pair(Type::Unit, Type::Unit)))
            }
            Type::Struct(elements) => Some(Some(pair(
                Type::variant(elements.iter().map(StructElement::key)),
                Type::variant(elements.iter().map(|element| element.value.clone())),
            ))),
            Type::Tuple(tuple) => Some(Some(Type::variant(tuple.types.iter().cloned()))),
            Type::Iterable(element) | Type::Iterator(element) => Some(element.as_deref().cloned()),
            Type::Type(Some(ty)) => match &**ty {
                Type::Enum(_) => Some(Some((**ty).clone())),
                Type::Integer(range) if range.is_finite() => Some(Some((**ty).clone())),
                _ => None,
            },
            Type::Alias(alias) => alias.resolved().iterated(),
            _ => None,
        }
    }

    /// Is it a callable, or an optional one?
    pub(super) fn is_callable(&self) -> bool {
        match self {
            Type::Callable(_) => true,
            Type::Optional(Some(inner)) => inner.is_callable(),
            Type::Variant(types) => types.iter().all(Type::is_callable),
            _ => false,
        }
    }
}

fn pair(key: Type, value: Type) -> Type {
    Type::tuple(vec![key, value], Some(IntegerRange::exactly(2)))
}
