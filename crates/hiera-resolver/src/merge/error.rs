//! [`MergeError`]: a strategy that cannot be used, or values that cannot be merged.

use puppet_types::TypeMismatch;
use puppet_values::Value;

/// A merge that cannot be done, or a strategy that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A hash without `strategy`.
    #[error("the hash given as `merge` must name a strategy under the key `strategy`")]
    NoStrategy,
    /// Not a strategy.
    #[error("unknown merge strategy `{name}`; there are first, unique, hash and deep")]
    UnknownStrategy {
        /// The name that was given.
        name: String,
    },
    /// Options that the strategy does not accept.
    #[error("the merge options have wrong type: {problem}")]
    WrongOptions {
        /// Which option is wrong, and how.
        problem: OptionProblem,
        /// All options as they were given, with the name of the strategy.
        options: Value,
    },
    /// A value of a type that the strategy cannot merge.
    #[error("{0}")]
    WrongType(TypeMismatch),
    /// An empty knock-out prefix.
    #[error("`knockout_prefix` cannot be an empty string")]
    EmptyKnockoutPrefix,
    /// `sort_merged_arrays` over values that have no order.
    #[error("cannot sort the merged array: comparison of {left} with {right} failed")]
    NotSortable {
        /// The class of one element.
        left: &'static str,
        /// The class of another.
        right: &'static str,
    },
}

/// What is wrong with an option of a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionProblem {
    /// The strategy has no such option.
    #[error("unrecognized key '{name}'")]
    UnrecognizedKey {
        /// The option.
        name: String,
    },
    /// The option has a value of another type.
    #[error("entry '{name}' expects a value of type Undef or {expected}, got {found}")]
    WrongType {
        /// The option.
        name: &'static str,
        /// The type that it should have, if it is set.
        expected: &'static str,
        /// The class of its value.
        found: &'static str,
    },
}
