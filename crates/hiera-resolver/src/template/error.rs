//! [`InterpolationError`]: a token that cannot be filled in.

use arcstr::ArcStr;

use crate::key::{DigError, KeyError};

/// A token that cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterpolationError {
    /// `%{alias(...)}` shares its string with other text.
    #[error("`alias` must be the whole string")]
    AliasNotWholeString,
    /// Not one of the functions.
    #[error(
        "unknown interpolation function `{name}`; there are lookup, hiera, alias, literal and scope"
    )]
    UnknownFunction {
        /// The name.
        name: ArcStr,
    },
    /// A function in a configuration.
    #[error("interpolation functions are not allowed in hiera.yaml")]
    FunctionNotAllowed {
        /// The configuration.
        config: Option<ArcStr>,
    },
    /// A variable that is not set.
    #[error("undefined variable `{name}`")]
    UndefinedVariable {
        /// The variable.
        name: ArcStr,
    },
    /// A variable that cannot be read.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// A subkey of something that is neither hash nor list.
    #[error("{0}")]
    Dig(#[from] DigError),
}
