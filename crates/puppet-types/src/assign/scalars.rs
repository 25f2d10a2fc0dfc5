//! Does a type of scalars accept all values of another type?

use super::super::instance::is_match;
use super::super::{EnumType, IntegerRange, StringType, Type, UriType};

pub(super) fn is_scalar_data(ty: &Type) -> bool {
    matches!(
        ty,
        Type::ScalarData
            | Type::Numeric
            | Type::Integer(_)
            | Type::Float(_)
            | Type::String(_)
            | Type::Enum(_)
            | Type::Pattern(_)
            | Type::Boolean(_)
    )
}

pub(super) fn is_scalar(ty: &Type) -> bool {
    is_scalar_data(ty)
        || matches!(
            ty,
            Type::Scalar
                | Type::Regexp(_)
                | Type::SemVer(_)
                | Type::SemVerRange
                | Type::Timestamp(_)
                | Type::Timespan(_)
        )
}

pub(super) fn string_accepts(accepted: &StringType, other: &Type) -> bool {
    let any_size = IntegerRange::at_least(0);
    match (accepted, other) {
        (StringType::Any, Type::String(_) | Type::Enum(_) | Type::Pattern(_)) => true,
        (StringType::Size(size), Type::String(other)) => match other {
            StringType::Any => size.covers(&any_size),
            StringType::Size(other) => size.covers(other),
            StringType::Value(text) => size.contains_size(text.chars().count()),
        },
        (StringType::Size(size), Type::Enum(list)) => {
            if list.values.is_empty() {
                size.covers(&any_size)
            } else {
                list.values
                    .iter()
                    .all(|text| size.contains_size(text.chars().count()))
            }
        }
        (StringType::Size(size), Type::Pattern(_)) => size.covers(&any_size),
        (StringType::Value(_), Type::String(other)) => accepted == other,
        // Puppet does not compare the strings here.
        (StringType::Value(_), Type::Enum(list)) => {
            list.values.len() == 1 && !list.case_insensitive
        }
        _ => false,
    }
}

pub(super) fn enum_accepts(list: &EnumType, other: &Type) -> bool {
    let has = |text: &str| list.has(text);
    if list.values.is_empty() && matches!(other, Type::String(_) | Type::Enum(_) | Type::Pattern(_))
    {
        return true;
    }
    match other {
        Type::String(StringType::Value(text)) => has(text),
        Type::Enum(other) => {
            list == &**other
                || !other.values.is_empty()
                    && (list.case_insensitive || !other.case_insensitive)
                    && other.values.iter().all(|text| has(text))
        }
        _ => false,
    }
}

pub(super) fn uri_accepts(accepted: &UriType, other: &UriType) -> bool {
    accepted.parts.iter().all(|(part, pattern)| {
        other.parts.get_value(part).is_some_and(|given| {
            is_match(given, pattern)
                || matches!((Type::from_value(given), Type::from_value(pattern)),
                    (Some(given), Some(pattern)) if pattern.accepts(given))
        })
    })
}
