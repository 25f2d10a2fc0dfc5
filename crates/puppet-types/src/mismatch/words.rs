//! How messages name types and sizes.

use std::fmt;

use super::super::build::default_type;
use super::super::{IntegerRange, Type};

pub(super) fn range_text(range: &IntegerRange, zero: &str) -> String {
    let (min, max) = range.sizes();
    let is_zero = min == num_bigint::BigInt::ZERO;
    match max {
        Some(max) if max == min && is_zero => zero.to_owned(),
        Some(max) if max == min => min.to_string(),
        Some(max) if is_zero => format!("at most {max}"),
        Some(max) => format!("between {min} and {max}"),
        None if is_zero => "unlimited".to_owned(),
        None => format!("at least {min}"),
    }
}

pub(super) fn write_types(
    f: &mut fmt::Formatter<'_>,
    expected: &Type,
    actual: &Type,
) -> fmt::Result {
    let (optional, expected) = match expected {
        Type::Optional(Some(inner)) => (true, &**inner),
        expected => (false, expected),
    };
    let single = std::slice::from_ref(expected);
    let several = match expected {
        Type::Variant(types) => types,
        _ => single,
    };
    let detailed = several
        .iter()
        .any(|ty| is_always_detailed(ty, actual) || accepts_without_bounds(ty, actual));
    let mut names: Vec<String> = Vec::new();
    let actual_text = if detailed {
        names.extend(several.iter().map(Type::expanded));
        detailed_actual(several, actual)
    } else {
        for ty in several {
            let name = short_name(ty);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        short_name(actual)
    };
    if optional {
        names.insert(0, "Undef".to_owned());
    }
    match &names[..] {
        [] => write!(f, " expects a value of type , or , got {actual_text}"),
        [name] => write!(f, " expects {} value, got {actual_text}", a_an(name)),
        [left, right] => {
            write!(
                f,
                " expects a value of type {left} or {right}, got {actual_text}"
            )
        }
        [front @ .., last] => {
            let front = front.join(", ");
            write!(
                f,
                " expects a value of type {front}, or {last}, got {actual_text}"
            )
        }
    }
}

fn a_an(name: &str) -> String {
    let word = name.strip_prefix(['"', '\'']).unwrap_or(name);
    let article = if word.starts_with(|char: char| "aeiouyAEIOUY".contains(char)) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

pub(super) fn short_name(ty: &Type) -> String {
    let inner = match ty {
        Type::Iterable(Some(inner))
        | Type::Iterator(Some(inner))
        | Type::Optional(Some(inner))
        | Type::NotUndef(Some(inner))
        | Type::Type(Some(inner))
        | Type::Sensitive(inner) => Some(&**inner),
        Type::Init(Some(init)) => Some(&init.target),
        _ => None,
    };
    match inner {
        Some(inner) if *inner != Type::Any => format!("{}[{}]", ty.name(), inner.name()),
        _ => ty.name(),
    }
}

fn is_same_kind(left: &Type, right: &Type) -> bool {
    std::mem::discriminant(left) == std::mem::discriminant(right)
}

fn is_always_detailed(expected: &Type, actual: &Type) -> bool {
    is_same_kind(expected, actual)
        || matches!(
            (expected, actual),
            (Type::Alias(_), _)
                | (_, Type::Alias(_))
                | (Type::Struct(_), Type::Hash(_))
                | (Type::Tuple(_), Type::Array(_))
        )
}

fn resolve(mut ty: &Type) -> &Type {
    while let Type::Alias(alias) = ty {
        ty = alias.resolved();
    }
    ty
}

/// Does the type without its parameters accept the actual one?
fn accepts_without_bounds(ty: &Type, actual: &Type) -> bool {
    let ty = match ty {
        Type::Alias(alias) => alias.resolved(),
        ty => ty,
    };
    let default = match ty {
        Type::Object(_) => Type::Object(None),
        ty => default_type(&ty.name().to_ascii_lowercase()).unwrap_or_else(|| ty.clone()),
    };
    default.accepts(actual)
}

fn detailed_actual(expected: &[Type], actual: &Type) -> String {
    let resolved = expected.iter().map(resolve);
    let general = actual.generalize();
    let in_full = resolved.clone().any(|ty| is_always_detailed(ty, actual))
        || resolved.clone().any(|ty| ty.accepts(&general));
    if in_full {
        actual.expanded()
    } else {
        actual.name()
    }
}
