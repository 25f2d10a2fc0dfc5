//! The strategy `unique`: all elements in one flat list, without repetitions, those of the highest level first.

use puppet_values::{Rich, Value};
use smallvec::SmallVec;

use super::error::MergeError;
use super::type_check::assert_type;
use super::union::{may_repeat, union};
use crate::explain::words::subjects::Subject;

/// The type of what can be merged, as errors show it.
const TYPE: &str = "Variant[Scalar, Array[Data]]";

/// The value of a search with a single source. It loses repetitions, and is not flattened.
pub(super) fn single(value: Value) -> Value {
    match &value {
        Value::Array(array) if may_repeat(array.items()) => {
            Value::array(union(array.items().iter().cloned()))
        }
        _ => value,
    }
}

/// Checks that a value can be merged with those of the levels above it, which have been checked.
pub(super) fn check(above: &[Value], value: &Value) -> Result<(), MergeError> {
    // Puppet checks what came of the values above as well. It fits, unless they hold something that is not data.
    if above.iter().any(|value| value.traits().is_beyond_data) {
        check_one(Subject::FirstElement, &join(above))?;
    }
    check_one(Subject::SecondElement, value)
}

/// Merges values, the highest level first. A value alone becomes a flat list, and keeps its repetitions.
pub(super) fn join(values: &[Value]) -> Value {
    let items = match values {
        // There is no list in it that could be flattened.
        [value @ Value::Array(array)] if array.traits().depth == 1 => return value.clone(),
        [_] => flatten(values).into_vec(),
        _ => union(flatten(values).into_iter()),
    };
    Value::array(items.into_iter().cloned().collect())
}

fn check_one(subject: Subject<'_>, value: &Value) -> Result<(), MergeError> {
    match is_list_or_scalar(value) {
        true => Ok(()),
        false => assert_type(subject, TYPE, value),
    }
}

fn is_list_or_scalar(value: &Value) -> bool {
    match value {
        Value::Array(array) => !array.traits().is_beyond_data,
        Value::Null
        | Value::Hash(_)
        | Value::Sensitive(_)
        | Value::Symbol(_)
        | Value::Template(_) => false,
        Value::Rich(rich) => {
            matches!(
                **rich,
                Rich::Regexp(_) | Rich::Timestamp(_) | Rich::Timespan(_) | Rich::SemVer(_)
            )
        }
        _ => true,
    }
}

/// All elements of these values, and of lists in them.
fn flatten(values: &[Value]) -> SmallVec<[&Value; 32]> {
    fn add<'a>(values: &'a [Value], out: &mut SmallVec<[&'a Value; 32]>) {
        for value in values {
            match value {
                Value::Array(inner) => add(inner.items(), out),
                other => out.push(other),
            }
        }
    }
    let mut out = SmallVec::new();
    add(values, &mut out);
    out
}
