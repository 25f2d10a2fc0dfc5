//! Types in normalized form, which is the one in messages.

use std::convert::Infallible;

use lean_string::LeanStr;
use puppet_values::ranges;
use puppet_values::semver::VersionRange;

use super::{StringType, Type, charge_items};

impl Type {
    /// The same type in simpler form. The enums, patterns and ranges of a variant are merged.
    pub(crate) fn normalize(&self) -> Type {
        let items = match self {
            // Each is normalized, compared and copied in several passes.
            Type::Variant(types) => types.len() * 50,
            Type::Enum(list) => list.values.len(),
            Type::Pattern(patterns) => patterns.len(),
            _ => 1,
        };
        if !charge_items(items) {
            return self.clone();
        }
        match self {
            Type::Collection(_) => Type::Collection(None),
            Type::Array(array) if array.element == Type::Any => Type::array(Type::Any, None),
            Type::Array(array) => Type::array(array.element.normalize(), array.size.clone()),
            Type::Hash(hash) => Type::hash(
                hash.key.normalize(),
                hash.value.normalize(),
                hash.size.clone(),
            ),
            Type::Optional(Some(ty)) => normalize_optional(ty.normalize()),
            Type::NotUndef(Some(ty)) => normalize_not_undef(ty.normalize()),
            Type::Variant(types) if !types.is_empty() => normalize_variant(types),
            _ => self.map_parts(Type::normalize),
        }
    }
}

fn normalize_optional(ty: Type) -> Type {
    match ty {
        Type::NotUndef(Some(inner)) => Type::Optional(Some(inner)).normalize(),
        Type::NotUndef(None) => Type::Optional(None),
        ty if ty.accepts(&Type::Undef) => ty,
        ty => Type::optional(ty),
    }
}

fn normalize_not_undef(ty: Type) -> Type {
    match ty {
        Type::Optional(Some(inner)) => Type::NotUndef(Some(inner)).normalize(),
        Type::Optional(None) => Type::NotUndef(None),
        ty if !ty.accepts(&Type::Undef) => ty,
        ty => Type::not_undef(ty),
    }
}

fn normalize_variant(before: &[Type]) -> Type {
    let types: Vec<Type> = before.iter().map(Type::normalize).collect();
    if let [only] = &types[..] {
        return only.clone();
    }
    if types
        .iter()
        .any(|ty| matches!(ty, Type::Undef | Type::Optional(_)))
    {
        let others = types.into_iter().filter_map(|ty| match ty {
            Type::Undef | Type::Optional(None) => None,
            Type::Optional(Some(inner)) => Some((*inner).clone()),
            ty => Some(ty),
        });
        return Type::optional(Type::variant(others)).normalize();
    }
    let changed = types != before;
    let mut flat = Vec::new();
    for ty in types {
        match ty {
            Type::Variant(inner) => flat.extend(inner.iter().cloned()),
            ty => flat.push(ty),
        }
    }
    let flat_size = flat.len();
    let merged = merge_all(flat);
    match &merged[..] {
        [only] => only.clone(),
        _ if changed || merged.len() != flat_size => Type::variant(merged),
        _ => Type::Variant(before.into()),
    }
}

/// Merges the types that can be merged, in Puppet's order.
fn merge_all(types: Vec<Type>) -> Vec<Type> {
    let types = merge_kind(
        types,
        |ty| matches!(ty, Type::NotUndef(_)),
        |found| {
            let inner = found.iter().map(|ty| match ty {
                Type::NotUndef(Some(inner)) => (**inner).clone(),
                _ => Type::Any,
            });
            Type::not_undef(Type::variant(inner).normalize())
        },
    );
    let types = merge_kind(
        types,
        |ty| match ty {
            Type::Enum(list) => !list.values.is_empty() && !list.case_insensitive,
            ty => matches!(ty, Type::String(StringType::Value(_))),
        },
        |found| Type::enumeration(strings(found), false),
    );
    let types = merge_kind(
        types,
        |ty| matches!(ty, Type::Enum(list) if !list.values.is_empty() && list.case_insensitive),
        |found| {
            let lower = strings(found).into_iter().map(|text| text.to_lowercase());
            Type::enumeration(lower.collect(), true)
        },
    );
    let types = merge_kind(
        types,
        |ty| matches!(ty, Type::Pattern(_)),
        |found| {
            let mut patterns = Vec::new();
            for ty in found {
                if let Type::Pattern(more) = ty {
                    for pattern in more.iter() {
                        if charge_items(patterns.len()) && !patterns.contains(pattern) {
                            patterns.push(pattern.clone());
                        }
                    }
                }
            }
            Type::Pattern(patterns.into())
        },
    );
    let types = merge_versions(types);
    let types = merge_ranges(types, |ty| matches!(ty, Type::Integer(_)));
    let types = merge_ranges(types, |ty| matches!(ty, Type::Float(_)));
    let types = merge_ranges(types, |ty| matches!(ty, Type::Timespan(_)));
    merge_ranges(types, |ty| matches!(ty, Type::Timestamp(_)))
}

/// Merges the types of one kind, if there are several, and puts the result after the others.
fn merge_kind(
    types: Vec<Type>,
    is_kind: impl Fn(&Type) -> bool,
    merge: impl Fn(&[Type]) -> Type,
) -> Vec<Type> {
    let (found, mut others): (Vec<Type>, Vec<Type>) = types.iter().cloned().partition(is_kind);
    if found.len() < 2 {
        return types;
    }
    others.push(merge(&found));
    others
}

fn strings(types: &[Type]) -> Vec<LeanStr> {
    types
        .iter()
        .flat_map(|ty| match ty {
            Type::Enum(list) => list.values.clone(),
            Type::String(StringType::Value(text)) => vec![text.clone()],
            _ => Vec::new(),
        })
        .collect()
}

fn merge_versions(types: Vec<Type>) -> Vec<Type> {
    let (found, others): (Vec<Type>, Vec<Type>) = types
        .iter()
        .cloned()
        .partition(|ty| matches!(ty, Type::SemVer(_)));
    if found.len() < 2 {
        return types;
    }
    let mut ranges = Vec::new();
    for ty in &found {
        if let Type::SemVer(more) = ty {
            ranges.extend(more.iter().cloned());
        }
    }
    match VersionRange::merge_all(ranges) {
        Ok(ranges) => std::iter::once(Type::SemVer(ranges.into()))
            .chain(others)
            .collect(),
        Err(_) => types,
    }
}

/// The maximum number of ranges that are compared with each other.
const MAX_RANGES: usize = 1000;

/// Puts the ranges of one kind before the others and merges those that overlap or touch.
fn merge_ranges(types: Vec<Type>, is_kind: impl Fn(&Type) -> bool) -> Vec<Type> {
    let (ranges, others): (Vec<Type>, Vec<Type>) = types.iter().cloned().partition(is_kind);
    // Puppet: more ranges are left as they are, since each would be compared with each.
    if !(2..MAX_RANGES).contains(&ranges.len()) {
        return types;
    }
    if !charge_items(ranges.len() * ranges.len() * 10) {
        return types;
    }
    let merge = |left: &Type, right: &Type| Ok::<_, Infallible>(merge_two(left, right));
    let Ok(mut merged) = ranges::merge_ranges(ranges, merge);
    merged.extend(others);
    merged
}

fn merge_two(left: &Type, right: &Type) -> Option<Type> {
    match (left, right) {
        (Type::Integer(left), Type::Integer(right)) => left.merge(right).map(Type::Integer),
        (Type::Float(left), Type::Float(right)) => left.merge(right).map(Type::Float),
        (Type::Timespan(left), Type::Timespan(right)) => left.merge(right).map(Type::Timespan),
        (Type::Timestamp(left), Type::Timestamp(right)) => left.merge(right).map(Type::Timestamp),
        _ => None,
    }
}
