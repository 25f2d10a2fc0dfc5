//! The strategy `hash`: the entries of all levels, those of the highest level win.

use puppet_values::Value;

use super::error::MergeError;
use super::type_check::assert_type;
use crate::explain::words::subjects::Subject;

/// The type of what can be merged, as errors show it.
const TYPE: &str = "Hash[String, Data]";

/// Checks that a value can be merged with those of the levels above it. All of these but the first have been checked.
pub(super) fn check(above: &[Value], value: &Value) -> Result<(), MergeError> {
    // Puppet checks what came of the values above as well. It fits, unless they hold something that is not data.
    if above.len() == 1 || above.iter().any(|value| value.traits().is_beyond_data) {
        check_one(Subject::FirstElement, &join(above))?;
    }
    check_one(Subject::SecondElement, value)
}

/// Merges values that have been checked, the highest level first. A value alone stays as it is.
pub(super) fn join(values: &[Value]) -> Value {
    let (lowest, higher) = match values {
        [] => return Value::Null,
        [value] => return value.clone(),
        [higher @ .., lowest] => (lowest, higher),
    };
    // Puppet computes `lower.merge(higher)`: values of the higher level win, keys of the
    // lower level come first. Clients see that order, so it is kept.
    let mut merged = lowest.as_hash().cloned().unwrap_or_default();
    for hash in higher.iter().rev().filter_map(Value::as_hash) {
        for (key, value) in hash.iter() {
            merged.insert(key.clone(), value.clone());
        }
    }
    Value::hash(merged)
}

fn check_one(subject: Subject<'_>, value: &Value) -> Result<(), MergeError> {
    match value {
        Value::Hash(hash) if !hash.traits().is_beyond_data => Ok(()),
        _ => assert_type(subject, TYPE, value),
    }
}
