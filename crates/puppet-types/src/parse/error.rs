//! [`TypeParseError`]: why a type cannot be parsed.

use std::fmt;

use puppet_values::RegexError;
use puppet_values::semver::VersionRangeError;
use puppet_values::uri::UriError;

use super::MAX_DEPTH;
use crate::TypeMismatch;

/// Why a type cannot be parsed, with Puppet's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeParseError {
    /// An unexpected token.
    #[error("Syntax error at '{found}' {position}")]
    Unexpected {
        /// The token.
        found: String,
        /// Its position.
        position: Position,
    },
    /// The end of the input where more is needed.
    #[error("Syntax error at end of input")]
    EndOfInput,
    /// An invalid token.
    #[error("{problem} {position}")]
    Token {
        /// What is wrong.
        problem: String,
        /// Its position.
        position: Position,
    },
    /// An expression that is not a type, or a parameter that does not fit.
    #[error("The expression <{expression}> is not a valid type specification.")]
    NotAType {
        /// The expression as written.
        expression: String,
    },
    /// Too few or too many parameters.
    #[error(
        "Invalid number of type parameters specified: {ty} requires {required}, {given} provided"
    )]
    ParameterCount {
        /// The type.
        ty: String,
        /// The number that it requires.
        required: &'static str,
        /// The number that was given.
        given: usize,
    },
    /// Parameters of a type that has none.
    #[error("Not a parameterized type <{ty}>")]
    NotParameterized {
        /// The type as written.
        ty: String,
    },
    /// An invalid parameter.
    #[error("{problem}")]
    Parameter {
        /// What is wrong.
        problem: String,
    },
    /// An invalid regular expression.
    #[error(transparent)]
    Regexp(#[from] RegexError),
    /// An invalid range of versions.
    #[error(transparent)]
    VersionRange(#[from] VersionRangeError),
    /// An invalid URI.
    #[error(transparent)]
    Uri(#[from] UriError),
    /// Invalid components of a `URI`.
    #[error(transparent)]
    UriParts(#[from] TypeMismatch),
    /// Types are nested too deeply.
    #[error("the type is nested more than {MAX_DEPTH} levels deep {position}")]
    TooDeep {
        /// The position of the first level that is too deep.
        position: Position,
    },
}

/// A position in the notation of a type. Both numbers start at 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The position of a byte.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(line: {}, column: {})", self.line, self.column)
    }
}
