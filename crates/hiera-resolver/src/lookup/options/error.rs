//! [`OptionsError`]: `lookup_options` that no lookup can use.

use lean_string::LeanStr;

/// `lookup_options` that no lookup can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// `lookup_options` of another type.
    #[error("value of lookup_options must be a hash, not {found}")]
    NotAHash {
        /// The class that it has.
        found: &'static str,
    },
    /// A key that is not text.
    #[error("the keys of lookup_options must be strings, but there is {found}")]
    KeyNotText {
        /// The class that it has.
        found: &'static str,
    },
    /// The options of a key are of another type.
    #[error("the lookup options of a key must be a hash, not {found}")]
    KeyOptionsNotAHash {
        /// The class that they have.
        found: &'static str,
    },
    /// A module's options for a key outside its namespace.
    #[error("all lookup_options keys must start with module name '{module}', but there is `{key}`")]
    ForeignKey {
        /// The module.
        module: LeanStr,
        /// The key or pattern.
        key: LeanStr,
    },
    /// A pattern that is not a regular expression.
    #[error("the lookup_options pattern `{pattern}` is not a regular expression: {problem}")]
    BadPattern {
        /// The pattern.
        pattern: LeanStr,
        /// What is wrong with it.
        problem: String,
    },
}
