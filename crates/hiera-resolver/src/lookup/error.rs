//! [`LookupError`]: why a lookup failed. It holds data; Puppet's texts for it are in `explain/words.rs`.

use arcstr::ArcStr;
use puppet_types::convert::ConversionError;
use puppet_types::{TypeMismatch, TypeParseError};
use ruby_regex::MatchError;
use work_budget::Spent;

use super::limits::LimitError;
use super::options::OptionsError;
use crate::data::FileFault;
use crate::hierarchy::{ConfigFaults, LevelError, UndefinedVariable};
use crate::key::{DigError, KeyError};
use crate::merge::MergeError;
use crate::remote::{RemoteRequest, without_user};
use crate::template::{DecryptFault, InterpolationError};

/// A lookup that cannot be answered. Not finding a value is not an error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LookupError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A `hiera.yaml` with mistakes.
    #[error(transparent)]
    Config(#[from] ConfigFaults),
    /// A `hiera.yaml` that needs a variable which is not set.
    #[error(transparent)]
    UndefinedInConfig(#[from] UndefinedVariable),
    /// A level that cannot be used.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// A file of the hierarchy that cannot be used.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A token that cannot be filled in.
    #[error("in `{template}`{}: {error}", of_file(path.as_deref()))]
    Interpolation {
        /// The text with the token.
        template: ArcStr,
        /// The data file that it is in, if that is known.
        path: Option<ArcStr>,
        /// What is wrong with it.
        error: InterpolationError,
    },
    /// A subkey of something that is neither hash nor list.
    #[error(transparent)]
    Dig(#[from] DigError),
    /// Values that cannot be merged, or a strategy that does not exist.
    #[error("{0}")]
    Merge(#[from] MergeError),
    /// `lookup_options` that cannot be used.
    #[error("{0}")]
    Options(#[from] OptionsError),
    /// What `lookup_options` say cannot be used, with the position.
    #[error("in `{path}`:{line}:{column}: {error}")]
    InOptions {
        /// The file.
        path: ArcStr,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong.
        error: Box<LookupError>,
    },
    /// A pattern of `lookup_options` that takes too long to match.
    #[error("a lookup_options pattern could not be matched: {0}")]
    PatternMatch(MatchError),
    /// A lookup that exceeds a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A lookup that spends its budget.
    #[error("the lookup was ended: {0}")]
    Spent(#[from] Spent),
    /// A key whose value depends on itself.
    #[error("recursive lookup detected in [{}]", chain.join(", "))]
    Recursion {
        /// The keys that were being looked up.
        chain: Vec<String>,
    },
    /// A value with something in it that is not data to Puppet.
    #[error(
        "the value of key '{key}' in `{path}` has wrong type: it holds a Symbol, or a hash key that is neither string nor number"
    )]
    IrregularValue {
        /// The key.
        key: String,
        /// The file.
        path: ArcStr,
    },
    /// An encrypted value that could not be decrypted.
    #[error("the value of key '{key}' cannot be decrypted: {}", fault.reason)]
    Undecryptable {
        /// The key.
        key: String,
        /// The value as written in the file.
        text: ArcStr,
        /// The file, once that is known.
        path: Option<ArcStr>,
        /// Why.
        fault: DecryptFault,
    },
    /// An error whose text could reveal a secret.
    #[error("{what} failed; what exactly is not shown, since the value is secret")]
    Withheld {
        /// What failed.
        what: &'static str,
    },
    /// An answer of another server is needed first. The caller fetches it and runs the lookup again.
    #[error("an answer of `{}` is needed", without_user(&.0.uri))]
    NeedsRemote(Box<RemoteRequest>),
    /// Another server failed to answer.
    #[error("level \"{level}\": {reason}")]
    Remote {
        /// The level.
        level: ArcStr,
        /// What went wrong.
        reason: String,
        /// Puppet's text for it, for explanations; `None` if Puppet has none.
        puppet_text: Option<String>,
    },
    /// The type of a request cannot be read.
    #[error("the type cannot be parsed: {0}")]
    Type(TypeParseError),
    /// A value that does not have the type asked for.
    #[error("{0}")]
    TypeMismatch(TypeMismatch),
    /// A type in `convert_to` that cannot be read.
    #[error(
        "Invalid data type in lookup_options for key '{key}' could not parse '{source_text}', error: '{problem}'"
    )]
    ConversionType {
        /// The key.
        key: String,
        /// The type as written.
        source_text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A value that cannot be converted.
    #[error("The convert_to lookup_option for key '{key}' raised error: {error}")]
    Conversion {
        /// The key.
        key: String,
        /// Why.
        error: ConversionError,
    },
}

impl LookupError {
    /// The error of a configuration, with its path.
    pub(crate) fn in_config(mut self, path: Option<&ArcStr>) -> Self {
        if let LookupError::Interpolation { error, .. } = &mut self
            && let InterpolationError::FunctionNotAllowed { config } = error
        {
            *config = path.cloned();
        }
        self
    }

    /// The error of an address, without the name and password that it may have.
    pub(crate) fn without_user(mut self) -> Self {
        if let LookupError::Interpolation { template, .. } = &mut self {
            *template = without_user(template).into();
        }
        self
    }

    /// The error without texts that could quote a value.
    pub(crate) fn withheld(self) -> Self {
        let what = match self {
            LookupError::Conversion { .. } => "the conversion",
            LookupError::TypeMismatch(_) => "the check of the type",
            LookupError::Merge(MergeError::WrongType(_)) => "the merge",
            // The text with the token may be a part of the secret.
            LookupError::Interpolation { .. } => "the interpolation",
            other => return other,
        };
        LookupError::Withheld { what }
    }
}

/// The file of a text, for messages.
fn of_file(path: Option<&str>) -> String {
    path.map_or(String::new(), |path| format!(" of `{path}`"))
}
