//! [`ConversionError`]: why a value cannot be converted.

use puppet_values::RegexError;
use puppet_values::semver::{VersionError, VersionRangeError};
use puppet_values::uri::UriError;

use crate::{TypeMismatch, TypeParseError};

/// Why a value cannot be converted, with Puppet's message. The content of a Sensitive is never shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// Values of the type cannot be created.
    #[error("Creation of new instance of type '{ty}' is not supported")]
    NotSupported {
        /// The type.
        ty: String,
    },
    /// The type is not a type.
    #[error("'new' {0}")]
    NotAType(TypeMismatch),
    /// The value cannot be converted to the type.
    #[error("'{function}' {problem}")]
    Value {
        /// Puppet's name for the function.
        function: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// No signature accepts the arguments.
    #[error("{problem}")]
    Arguments {
        /// The message of each signature.
        problem: String,
    },
    /// An argument has the right type, but cannot be used.
    #[error("{problem}")]
    Unusable {
        /// The message of Puppet or Ruby.
        problem: String,
    },
    /// The arguments of an `Init` fit no signature.
    #[error("The type '{ty}' does not represent a valid set of parameters for {target}.new()")]
    InitArguments {
        /// The `Init`.
        ty: String,
        /// The type to create.
        target: String,
    },
    /// Not a regular expression.
    #[error(transparent)]
    Regexp(#[from] RegexError),
    /// Not a version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// Not a range of versions.
    #[error(transparent)]
    VersionRange(#[from] VersionRangeError),
    /// Not a URI.
    #[error(transparent)]
    Uri(#[from] UriError),
    /// The result is outside the bounds of the type.
    #[error(transparent)]
    OutOfBounds(#[from] TypeMismatch),
    /// Not a type.
    #[error(transparent)]
    Type(#[from] TypeParseError),
    /// The result would be too large.
    #[error("the result would be larger than {limit} elements or characters")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}
