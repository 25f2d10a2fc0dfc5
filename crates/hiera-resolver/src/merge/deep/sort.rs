//! Ruby's order of values, for `sort_merged_arrays`.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use puppet_values::Value;

use crate::merge::error::MergeError;

/// Sorts as Ruby does: texts by their bytes, numbers by value, lists element by element, nothing else.
pub(super) fn sort(list: &mut [Value]) -> Result<(), MergeError> {
    let mut failure = None;
    list.sort_by(|left, right| {
        compare(left, right).unwrap_or_else(|| {
            failure = Some(MergeError::NotSortable {
                left: left.ruby_class(),
                right: right.ruby_class(),
            });
            Ordering::Equal
        })
    });
    failure.map_or(Ok(()), Err)
}

/// Ruby's `<=>`.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::BigInt(left), Value::BigInt(right)) => Some(left.cmp(right)),
        (Value::BigInt(big), Value::Int(_) | Value::Float(_)) => Some(sign_order(big)),
        (Value::Int(_) | Value::Float(_), Value::BigInt(big)) => Some(sign_order(big).reverse()),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => (*left as f64).partial_cmp(right),
        (Value::Float(left), Value::Int(right)) => left.partial_cmp(&(*right as f64)),
        (Value::Array(left), Value::Array(right)) => {
            for (left, right) in left.items().iter().zip(right.items()) {
                match compare(left, right)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(left.items().len().cmp(&right.items().len()))
        }
        (left, right) => (left == right).then_some(Ordering::Equal),
    }
}

/// How an integer beyond 64 bits compares with any that is not.
fn sign_order(big: &BigInt) -> Ordering {
    match big.sign() {
        Sign::Minus => Ordering::Less,
        _ => Ordering::Greater,
    }
}
