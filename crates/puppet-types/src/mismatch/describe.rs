//! Finding the parts of a type that do not fit.

use super::super::{
    ArrayType, HashType, IntegerRange, StructElement, TupleType, Type, charge_items,
};
use super::{Mismatch, MismatchKind, PathStep, merge};

/// Puppet: the maximum number of mismatches that are described for a collection.
const MAX_MISMATCHES: usize = 1000;

/// All parts of the actual type that do not fit the expected one.
pub(crate) fn describe(expected: &Type, actual: &Type, path: &[PathStep]) -> Vec<Mismatch> {
    if !charge_items(path.len()) {
        return Vec::new();
    }
    if let Some(name) = expected.unresolved() {
        return vec![Mismatch::new(path, MismatchKind::Unresolved(name))];
    }
    describe_normalized(&expected.normalize(), expected, actual, path)
}

fn extended(path: &[PathStep], step: PathStep) -> Vec<PathStep> {
    let mut path = path.to_vec();
    path.push(step);
    path
}

fn describe_normalized(
    expected: &Type,
    original: &Type,
    actual: &Type,
    path: &[PathStep],
) -> Vec<Mismatch> {
    match expected {
        Type::Variant(types) => describe_variant(types, original, actual, path),
        Type::Struct(elements) => describe_struct(elements, original, actual, path),
        Type::Hash(hash) => describe_hash(hash, original, actual, path),
        Type::Tuple(tuple) => describe_tuple(tuple, original, actual, path),
        Type::Array(array) => describe_array(array, original, actual, path),
        Type::Callable(_) if !matches!(actual, Type::Callable(_)) => {
            vec![Mismatch::of_type(path, original, actual)]
        }
        Type::Optional(None) => Vec::new(),
        Type::Optional(Some(inner)) => {
            if *actual == Type::Undef {
                return Vec::new();
            }
            let original = match original {
                Type::Alias(_) => original,
                _ => expected,
            };
            describe_normalized(inner, original, actual, path)
        }
        Type::Pattern(_) | Type::Enum(_) => vec![Mismatch::new(
            path,
            MismatchKind::Pattern(original.normalize(), actual.normalize()),
        )],
        Type::Alias(alias) => {
            describe_normalized(&alias.resolved().normalize(), expected, actual, path)
        }
        expected if expected.accepts(actual) => Vec::new(),
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_variant(
    types: &[Type],
    original: &Type,
    actual: &Type,
    path: &[PathStep],
) -> Vec<Mismatch> {
    let undef = matches!(original, Type::Optional(_)).then_some(&Type::Undef);
    let mut variants = Vec::new();
    for (index, ty) in undef.into_iter().chain(types).enumerate() {
        let found = describe(ty, actual, &extended(path, PathStep::Variant(index)));
        if found.is_empty() {
            return Vec::new();
        }
        variants.push(found);
    }
    let merged = merge(path.len(), false, variants);
    if matches!(original, Type::Alias(_)) && merged.len() == 1 {
        return vec![Mismatch::of_type(path, original, actual)];
    }
    merged
}

fn describe_array(
    array: &ArrayType,
    original: &Type,
    actual: &Type,
    path: &[PathStep],
) -> Vec<Mismatch> {
    let expected_size = IntegerRange::size_or_any(&array.size);
    match actual {
        Type::Tuple(tuple) => {
            let actual_size = tuple
                .size
                .clone()
                .unwrap_or_else(|| IntegerRange::exactly(tuple.types.len()));
            size_mismatch(path, expected_size, actual_size).unwrap_or_else(|| {
                let wrong = tuple
                    .types
                    .iter()
                    .enumerate()
                    .filter(|(_, ty)| !array.element.accepts(ty));
                wrong
                    .flat_map(|(index, ty)| {
                        describe(&array.element, ty, &extended(path, PathStep::Index(index)))
                    })
                    .take(MAX_MISMATCHES)
                    .collect()
            })
        }
        Type::Array(actual) => {
            let actual_size = IntegerRange::size_or_any(&actual.size);
            size_mismatch(path, expected_size, actual_size).unwrap_or_else(|| {
                let actual = Type::array(actual.element.clone(), None);
                vec![Mismatch::of_type(path, original, &actual)]
            })
        }
        actual => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_hash(
    hash: &HashType,
    original: &Type,
    actual: &Type,
    path: &[PathStep],
) -> Vec<Mismatch> {
    let expected_size = IntegerRange::size_or_any(&hash.size);
    match actual {
        Type::Struct(elements) => {
            let actual_size = StructElement::size_range(elements);
            if let Some(mismatch) = size_mismatch(path, expected_size, actual_size) {
                return mismatch;
            }
            let mut found = Vec::new();
            for element in elements.iter() {
                if found.len() >= MAX_MISMATCHES {
                    break;
                }
                let key = element.key();
                if !hash.key.accepts(&key) {
                    let path = extended(path, PathStep::Key(element.name.clone()));
                    found.extend(describe(&hash.key, &key, &path));
                }
                if !hash.value.accepts(&element.value) {
                    let path = extended(path, PathStep::Entry(element.name.clone()));
                    found.extend(describe(&hash.value, &element.value, &path));
                }
            }
            found
        }
        Type::Hash(actual) => {
            let actual_size = IntegerRange::size_or_any(&actual.size);
            size_mismatch(path, expected_size, actual_size)
                .unwrap_or_else(|| vec![without_size(path, original, actual)])
        }
        actual => vec![Mismatch::of_type(path, original, actual)],
    }
}

/// The mismatch of the sizes of two collections, if they do not fit.
fn size_mismatch(
    path: &[PathStep],
    expected: IntegerRange,
    actual: IntegerRange,
) -> Option<Vec<Mismatch>> {
    let fits = expected.covers(&actual);
    (!fits).then(|| vec![Mismatch::new(path, MismatchKind::Size(expected, actual))])
}

fn without_size(path: &[PathStep], original: &Type, actual: &HashType) -> Mismatch {
    let actual = Type::hash(actual.key.clone(), actual.value.clone(), None);
    Mismatch::of_type(path, original, &actual)
}

fn describe_struct(
    elements: &[StructElement],
    original: &Type,
    actual: &Type,
    path: &[PathStep],
) -> Vec<Mismatch> {
    match actual {
        Type::Struct(others) => {
            let mut rest: Vec<&StructElement> = others.iter().collect();
            let mut found = Vec::new();
            for element in elements {
                if !charge_items(rest.len()) {
                    break;
                }
                let index = rest.iter().position(|other| other.name == element.name);
                let Some(index) = index else {
                    if !element.optional {
                        let kind = MismatchKind::MissingKey(element.name.clone());
                        found.push(Mismatch::new(path, kind));
                    }
                    continue;
                };
                let other = rest.remove(index);
                if !element.value.accepts(&other.value) {
                    let path = extended(path, PathStep::Entry(element.name.clone()));
                    found.extend(describe(&element.value, &other.value, &path));
                }
            }
            let extra = rest
                .iter()
                .map(|other| MismatchKind::ExtraKey(other.name.clone()));
            let extra = extra.take(MAX_MISMATCHES);
            found.extend(extra.map(|kind| Mismatch::new(path, kind)));
            found
        }
        Type::Hash(hash) => {
            let expected_size = StructElement::size_range(elements);
            let actual_size = IntegerRange::size_or_any(&hash.size);
            size_mismatch(path, expected_size, actual_size)
                .unwrap_or_else(|| vec![without_size(path, original, hash)])
        }
        actual => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_tuple(
    tuple: &TupleType,
    original: &Type,
    actual: &Type,
    path: &[PathStep],
) -> Vec<Mismatch> {
    let expected_size = tuple.size_range();
    let (actual_size, pairs): (IntegerRange, Vec<(usize, &Type, &Type)>) = match actual {
        Type::Tuple(other) if **other == *tuple => return Vec::new(),
        Type::Array(_) if tuple.types.is_empty() => return Vec::new(),
        Type::Tuple(other) => {
            // Puppet reports the index of the last type for all elements after it.
            let last = tuple.types.len().saturating_sub(1);
            let pairs = other.types.iter().enumerate().filter_map(|(index, ty)| {
                tuple
                    .at(index)
                    .map(|expected| (index.min(last), expected, ty))
            });
            (other.size_range(), pairs.collect())
        }
        Type::Array(array) => {
            let pairs = tuple.types.iter().enumerate();
            (
                IntegerRange::size_or_any(&array.size),
                pairs
                    .map(|(index, ty)| (index, ty, &array.element))
                    .collect(),
            )
        }
        actual => return vec![Mismatch::of_type(path, original, actual)],
    };
    if let Some(mismatch) = size_mismatch(path, expected_size, actual_size) {
        return mismatch;
    }
    pairs
        .into_iter()
        .flat_map(|(index, expected, actual)| {
            describe(expected, actual, &extended(path, PathStep::Index(index)))
        })
        .take(MAX_MISMATCHES)
        .collect()
}
