//! The two values of a merge, and how Puppet checks them.

use puppet_types::{Type, assert_instance};
use puppet_values::Value;

use super::error::MergeError;

/// Which of the two values that meet in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// That of the higher level, or what the levels above were merged to.
    First,
    /// That of the lower level.
    Second,
}

impl Element {
    /// Checks a value against a type, in full. Strategies have a quicker test for the values that pass.
    pub(super) fn assert_type(self, expected: &str, value: &Value) -> Result<(), MergeError> {
        let subject = match self {
            Element::First => "The first element of the merge",
            Element::Second => "The second element of the merge",
        };
        // Invariant: the strategies name types that exist.
        let expected = Type::parse(expected).unwrap_or(Type::Any);
        assert_instance(subject, &expected, value).map_err(MergeError::WrongType)
    }
}
