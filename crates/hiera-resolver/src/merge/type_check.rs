//! The types of values that meet in a merge, checked as Puppet does.

use puppet_types::{Type, assert_instance};
use puppet_values::Value;

use super::error::MergeError;
use crate::explain::words::subjects::Subject;

/// Checks a value against a type, in full. Strategies have a quicker test for the values that pass.
pub(super) fn assert_type(
    subject: Subject<'_>,
    expected: &str,
    value: &Value,
) -> Result<(), MergeError> {
    // Invariant: the strategies name types that exist.
    let expected = Type::parse(expected).unwrap_or(Type::Any);
    assert_instance(&subject.to_string(), &expected, value).map_err(MergeError::WrongType)
}
