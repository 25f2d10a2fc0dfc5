//! `Array` and `Hash` from values that can be iterated over.

use std::sync::LazyLock;

use num_bigint::BigInt;
use puppet_values::{Hash, Rich, Value};

use super::{ConversionError, MAX_SIZE, cannot_convert, hash_tree, type_for_error, unusable};
use crate::Type;
use crate::signature::Function;

pub(super) static ARRAY: LazyLock<Function> = LazyLock::new(|| {
    Function::new(
        "new_array",
        &[],
        &[
            (
                false,
                &[
                    ("Variant[Array,Hash,Binary,Iterable]", "from", false),
                    ("Boolean[false]", "wrap", true),
                ],
            ),
            (
                false,
                &[("Any", "from", false), ("Boolean[true]", "wrap", false)],
            ),
            (true, &[("Any", "from", false), ("Boolean", "wrap", true)]),
        ],
    )
});

pub(super) fn array(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let from = arguments.first().unwrap_or(&Value::Null);
    match signature {
        0 => Ok(Value::array(items_of(from)?)),
        1 => Ok(match from {
            Value::Array(_) => from.clone(),
            from => Value::array(vec![from.clone()]),
        }),
        _ => {
            let ty = type_for_error(from);
            Err(ConversionError::Value {
                function: "new_array",
                problem: format!("Value of type {ty} cannot be converted to Array"),
            })
        }
    }
}

/// The elements that iterating over a value yields.
fn items_of(value: &Value) -> Result<Vec<Value>, ConversionError> {
    Ok(match value {
        Value::Array(array) => array.items().to_vec(),
        Value::Hash(hash) => hash
            .iter()
            .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
            .collect(),
        Value::Str(text) => text
            .chars()
            .map(|char| Value::str(char.encode_utf8(&mut [0; 4])))
            .collect(),
        Value::Bytes(bytes) => bytes
            .iter()
            .map(|byte| match byte {
                0..=0x7f => Value::str(char::from(*byte).encode_utf8(&mut [0; 4])),
                byte => Value::Bytes(vec![*byte].into()),
            })
            .collect(),
        Value::Int(count) => numbers(&BigInt::ZERO, &(BigInt::from(*count) - 1))?,
        Value::Rich(rich) => match &**rich {
            Rich::Binary(bytes) => bytes
                .iter()
                .map(|byte| Value::Int(i64::from(*byte)))
                .collect(),
            Rich::Type(_) => match Type::from_value(value) {
                Some(ty) => items_of_type(ty)?,
                None => Vec::new(),
            },
            _ => Vec::new(),
        },
        Value::BigInt(_) => return Err(too_large()),
        _ => Vec::new(),
    })
}

fn items_of_type(ty: &Type) -> Result<Vec<Value>, ConversionError> {
    match ty {
        Type::Enum(list) => Ok(list.values.iter().cloned().map(Value::Str).collect()),
        Type::Integer(range) => match (&range.from, &range.to) {
            (Some(from), Some(to)) => numbers(from, to),
            _ => Ok(Vec::new()),
        },
        Type::Alias(alias) => items_of_type(alias.resolved()),
        _ => Ok(Vec::new()),
    }
}

fn too_large() -> ConversionError {
    ConversionError::TooLarge { limit: MAX_SIZE }
}

fn numbers(from: &BigInt, to: &BigInt) -> Result<Vec<Value>, ConversionError> {
    if to < from {
        return Ok(Vec::new());
    }
    let count = u64::try_from(to - from).map_err(|_| too_large())?;
    if count >= u64::try_from(MAX_SIZE).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    Ok((0..=count)
        .map(|step| Value::integer(from + step))
        .collect())
}

pub(super) static HASH: LazyLock<Function> = LazyLock::new(|| {
    Function::new(
        "new_hash",
        &[
            ("KeyValueArray", "Array[Tuple[Any,Any],1]".to_owned()),
            ("TreeArray", "Array[Tuple[Array,Any],1]".to_owned()),
            ("NewHashOption", "Enum[tree, hash_tree]".to_owned()),
        ],
        &[
            (
                false,
                &[
                    ("TreeArray", "from", false),
                    ("NewHashOption", "build_option", true),
                ],
            ),
            (false, &[("KeyValueArray", "from", false)]),
            (false, &[("Any", "from", false)]),
        ],
    )
});

pub(super) fn hash(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let from = arguments.first().unwrap_or(&Value::Null);
    if signature < 2 {
        let entries = from.as_array().unwrap_or_default();
        return match arguments.get(1).and_then(Value::as_str) {
            Some(option) => hash_tree::build(entries, option == "hash_tree"),
            None => Ok(Value::hash(entries.iter().filter_map(pair).collect())),
        };
    }
    let items = match from {
        Value::Hash(_) => return Ok(from.clone()),
        from if Type::Iterable(None).is_instance(from) => items_of(from)?,
        from => {
            let ConversionError::Value { problem, .. } = cannot_convert("", from, "Hash") else {
                return Err(unusable(""));
            };
            return Err(unusable(problem));
        }
    };
    if !items.len().is_multiple_of(2) {
        return Err(unusable("odd number of arguments for Hash"));
    }
    let mut hash = Hash::new();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        hash.insert(key, value);
    }
    Ok(Value::hash(hash))
}

fn pair(entry: &Value) -> Option<(Value, Value)> {
    match entry.as_array() {
        Some([key, value]) => Some((key.clone(), value.clone())),
        _ => None,
    }
}
