//! [`LookupError`]: why a lookup failed, gathered from the steps it went through.

use arcstr::ArcStr;

use crate::config::ConfigFaults;
use crate::convert::ConversionError;
use crate::data::FileFault;
use crate::key::{DigError, KeyError};
use crate::merge::MergeError;
use crate::options::{EntryFault, OptionsError};
use crate::ruby_regex::MatchError;
use crate::types::{TypeMismatch, TypeParseError};

/// A lookup that cannot be answered. Not finding a value is no error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LookupError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A `hiera.yaml` with mistakes.
    #[error(transparent)]
    Config(#[from] ConfigFaults),
    /// A file of the hierarchy that cannot be used.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A token that cannot be filled in.
    #[error("in `{template}`: {error}")]
    Interpolation {
        /// The text with the token.
        template: ArcStr,
        /// What is wrong with it.
        error: InterpolationError,
    },
    /// A subkey of something that is neither hash nor list.
    #[error(transparent)]
    Dig(#[from] DigError),
    /// Values that cannot be merged, or a strategy that does not exist.
    #[error("{error}")]
    Merge {
        /// Why.
        error: MergeError,
        /// Did it happen below a layer? Puppet's explanations tell only that.
        is_in_layer: bool,
    },
    /// `lookup_options` that cannot be used.
    #[error("{0}")]
    Options(#[from] OptionsError),
    /// An entry of `lookup_options` that cannot be used.
    #[error("{0}")]
    OptionsEntry(EntryFault),
    /// A pattern of `lookup_options` that takes too long to match.
    #[error("a lookup_options pattern could not be matched: {0}")]
    PatternMatch(MatchError),
    /// A key that, by way of others, needs its own value.
    #[error("recursive lookup detected in [{}]", chain.join(", "))]
    Recursion {
        /// The keys that were being looked up.
        chain: Vec<String>,
    },
    /// A chain of lookups beyond the bound.
    #[error("lookups are nested more than {bound} deep, starting at `{start}`")]
    TooDeepChain {
        /// The bound.
        bound: usize,
        /// The key that was asked for.
        start: String,
    },
    /// A value that interpolation nested beyond the bound.
    #[error("the value of `{key}` is nested more than {bound} deep")]
    TooDeepValue {
        /// The key.
        key: String,
        /// The bound.
        bound: u16,
    },
    /// Interpolation made more of the data than the bound allows.
    #[error("the lookup needs more than {bound} steps")]
    TooMuchWork {
        /// The bound.
        bound: u64,
    },
    /// A value with something in it that Puppet's data cannot hold.
    #[error(
        "the value of key '{key}' in `{path}` has wrong type: it holds a Symbol, or a hash key that is neither string nor number"
    )]
    IrregularValue {
        /// The key.
        key: String,
        /// The file.
        path: ArcStr,
    },
    /// A module's data file with a key that is no text.
    #[error("`{path}` of module '{module}' has a top-level key that is not a string")]
    ModuleKeyNotText {
        /// The file.
        path: ArcStr,
        /// The module.
        module: ArcStr,
    },
    /// A level whose function is not there.
    #[error(
        "level \"{level}\" of `{config}`: there is no {kind} function '{function}' here; there are yaml_data and json_data"
    )]
    UnknownFunction {
        /// The configuration.
        config: ArcStr,
        /// The level.
        level: ArcStr,
        /// `data_hash`, `lookup_key`, ...
        kind: &'static str,
        /// The function.
        function: ArcStr,
    },
    /// A level that its function cannot work with.
    #[error("level \"{level}\" of `{config}`: {problem}")]
    UnusableLevel {
        /// The configuration.
        config: ArcStr,
        /// The level.
        level: ArcStr,
        /// What is wrong.
        problem: String,
    },
    /// `mapped_paths` over something that cannot be gone through.
    #[error(
        "`mapped_paths` goes through `{variable}`, which is neither a string, an array nor a hash but {class}"
    )]
    NotMappable {
        /// The variable.
        variable: ArcStr,
        /// What it is.
        class: &'static str,
    },
    /// The type of a request cannot be read.
    #[error("the type cannot be parsed: {0}")]
    Type(TypeParseError),
    /// A value that is not of the type asked for.
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
    FunctionNotAllowed,
    /// A variable that cannot be read.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// A subkey of something that is neither hash nor list.
    #[error("{0}")]
    Dig(#[from] DigError),
}

impl LookupError {
    /// The last line of Puppet's explanation of this error; `None` where Puppet does not explain it, or not in
    /// words that could be told here.
    pub fn puppet_text(&self) -> Option<String> {
        Some(match self {
            LookupError::Key(KeyError::Syntax { key }) => format!("Syntax error in key: '{key}'"),
            LookupError::Recursion { chain } => {
                let last = chain.last().map(String::as_str).unwrap_or_default();
                format!(
                    "Lookup of key '{last}' failed: Recursive lookup detected in [{}]",
                    chain.join(", ")
                )
            }
            LookupError::Interpolation { template, error } => return error.puppet_text(template),
            LookupError::Dig(error) => return error.puppet_text(),
            LookupError::File(FileFault::Unparsable { puppet_text, .. }) => puppet_text.clone(),
            LookupError::UnknownFunction {
                config,
                kind,
                function,
                ..
            } => {
                format!("Unable to find '{kind}' function named '{function}' (file: {config})")
            }
            LookupError::Merge {
                error: MergeError::WrongType(text),
                is_in_layer: true,
            } => text.clone(),
            LookupError::Options(OptionsError::NotAHash { .. }) => {
                "value of lookup_options must be a hash".to_owned()
            }
            LookupError::Options(OptionsError::ForeignKey { module, key }) => {
                let what = if key.starts_with('^') {
                    "patterns must match a key starting"
                } else {
                    "keys must start"
                };
                format!("all lookup_options {what} with module name '{module}'")
            }
            LookupError::Conversion { .. } | LookupError::ConversionType { .. } => self.to_string(),
            _ => return None,
        })
    }
}

impl InterpolationError {
    fn puppet_text(&self, template: &ArcStr) -> Option<String> {
        Some(match self {
            InterpolationError::AliasNotWholeString => {
                "'alias' interpolation is only permitted if the expression is equal to the entire string".to_owned()
            }
            InterpolationError::UnknownFunction { name } => format!("Unknown interpolation method '{name}'"),
            InterpolationError::FunctionNotAllowed => {
                "Interpolation using method syntax is not allowed in this context".to_owned()
            }
            InterpolationError::Key(KeyError::Syntax { .. }) => format!("Syntax error in string: {template}"),
            InterpolationError::Key(KeyError::NumberFirst { .. }) => return None,
            InterpolationError::Dig(error) => return error.puppet_text(),
        })
    }
}

impl DigError {
    /// Ruby's integers can be asked for their bits, and that then fails in a way that Puppet does not explain.
    fn puppet_text(&self) -> Option<String> {
        (self.class != "Integer").then(|| self.to_string())
    }
}
