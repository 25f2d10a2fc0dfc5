//! [`LookupError`]: why a lookup failed, gathered from the steps it went through.

use arcstr::ArcStr;

use crate::config::{ConfigFaults, RefusalKind, UndefinedVariable};
use crate::convert::ConversionError;
use crate::data::FileFault;
use crate::glob::GlobError;
use crate::key::{DigError, KeyError};
use crate::merge::MergeError;
use crate::options::OptionsError;
use crate::remote::{RemoteRequest, without_user};
use crate::template::DecryptFault;
use puppet_types::{Type, TypeMismatch, TypeParseError, assert_instance};
use puppet_values::Value;
use ruby_regex::MatchError;

/// A lookup that cannot be answered. Not finding a value is no error.
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
    /// A file of the hierarchy that cannot be used.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A token that cannot be filled in.
    #[error("in `{template}`{}: {error}", of_file(path.as_deref()))]
    Interpolation {
        /// The text with the token.
        template: ArcStr,
        /// The data file that it stands in, where that is known.
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
    /// What `lookup_options` say cannot be used, with the place that says it.
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
    /// A value that interpolation made too large.
    #[error("the value of `{key}` is too large")]
    TooLargeValue {
        /// The key.
        key: String,
    },
    /// Interpolation made more of the data than the bound allows.
    #[error("the request needs more than {bound} steps")]
    TooMuchWork {
        /// The bound.
        bound: u64,
    },
    /// An explanation beyond the bound.
    #[error("the explanation would be larger than {bound} bytes")]
    TooMuchToExplain {
        /// The bound.
        bound: usize,
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
        "level \"{level}\" of `{config}`: there is no {kind} function '{function}' here; there are {}",
        crate::data_functions::names()
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
    /// An encrypted value that could not be decrypted.
    #[error("the value of key '{key}' cannot be decrypted: {}", fault.reason)]
    Undecryptable {
        /// The key.
        key: String,
        /// The value as it stands in the file.
        text: ArcStr,
        /// The file, once that is known.
        path: Option<ArcStr>,
        /// Why.
        fault: DecryptFault,
    },
    /// An error whose words could give away a secret.
    #[error("{what} failed; what exactly is not shown, since the value is secret")]
    Withheld {
        /// What failed.
        what: &'static str,
    },
    /// An answer of another server is needed first. Whoever runs the lookup fetches it and starts again.
    #[error("an answer of `{}` is needed", without_user(&.0.uri))]
    NeedsRemote(Box<RemoteRequest>),
    /// Another server failed to answer.
    #[error("level \"{level}\": {reason}")]
    Remote {
        /// The level.
        level: ArcStr,
        /// What went wrong.
        reason: String,
        /// What Puppet's explanation would say, where it says anything.
        told: Option<String>,
    },
    /// An address that is none once its tokens are filled in.
    #[error("level \"{level}\": {problem}")]
    Address {
        /// The level.
        level: ArcStr,
        /// What Ruby says.
        problem: String,
    },
    /// A location that goes on from the parent of what a link leads to, which is not known.
    #[error(
        "level \"{level}\": its location has `..` behind the link `{link}`, which is not supported; write the path \
         without it"
    )]
    ParentOfLink {
        /// The level.
        level: ArcStr,
        /// The link.
        link: String,
    },
    /// A glob that takes too much work.
    #[error("level \"{level}\": the glob `{pattern}` cannot be searched: {error}")]
    Glob {
        /// The level.
        level: ArcStr,
        /// The glob as it was filled in.
        pattern: String,
        /// What is too much.
        error: GlobError,
    },
    /// An address in which a variable leads elsewhere.
    #[error("level \"{level}\": a variable adds {what} to its address, which is not allowed")]
    AddressLeadsOut {
        /// The level.
        level: ArcStr,
        /// What it adds.
        what: &'static str,
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

/// How Puppet tells of an error at the end of an explanation.
///
/// It tells of errors of the lookup itself, and no others; on the way up through the layers one kind may become
/// the other.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    kind: TellingKind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TellingKind {
    /// An error of the lookup.
    Lookup,
    /// One that has a name of its own, and keeps it.
    NamedLookup,
    /// Another error that Puppet knows.
    Puppet,
    /// An error that it does not expect, or whose words are not known here.
    Other,
}

impl Telling {
    /// Of an error of the lookup.
    pub(crate) fn lookup(text: String) -> Self {
        let kind = TellingKind::Lookup;
        Telling { kind, text }
    }

    /// Of another error that Puppet knows.
    pub(crate) fn puppet(text: String) -> Self {
        let kind = TellingKind::Puppet;
        Telling { kind, text }
    }

    /// Of one that is not told.
    pub(crate) fn other() -> Self {
        let (kind, text) = (TellingKind::Other, String::new());
        Telling { kind, text }
    }

    /// What becomes of it at the edge of a layer.
    pub(crate) fn leave_layer(&mut self) {
        if self.kind == TellingKind::Puppet {
            self.kind = TellingKind::Lookup;
        }
    }

    /// What becomes of it where the global layer was asked for a key.
    pub(crate) fn leave_global(&mut self, key: &str) {
        if self.kind == TellingKind::Lookup {
            self.kind = TellingKind::Puppet;
            self.text = format!("Lookup of key '{key}' failed: {}", self.text);
        }
    }

    /// The last line of the explanation, where there is one.
    pub(crate) fn told(self) -> Option<String> {
        matches!(self.kind, TellingKind::Lookup | TellingKind::NamedLookup).then_some(self.text)
    }
}

impl LookupError {
    /// The error of a configuration, with its place.
    pub(crate) fn in_config(mut self, path: Option<&ArcStr>) -> Self {
        if let LookupError::Interpolation { error, .. } = &mut self
            && let InterpolationError::FunctionNotAllowed { config } = error
        {
            *config = path.cloned();
        }
        self
    }

    /// The error of an address, without the name and password that may stand in it.
    pub(crate) fn without_user(mut self) -> Self {
        if let LookupError::Interpolation { template, .. } = &mut self {
            *template = without_user(template).into();
        }
        self
    }

    /// The error without words that could hold a value.
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

    /// How Puppet would tell of it where it happens.
    pub(crate) fn telling(&self) -> Telling {
        let (kind, text) = match self {
            LookupError::Key(KeyError::Syntax { key }) => {
                (TellingKind::Lookup, format!("Syntax error in key: '{key}'"))
            }
            LookupError::Recursion { chain } => (
                TellingKind::Lookup,
                format!("Recursive lookup detected in [{}]", chain.join(", ")),
            ),
            LookupError::Config(faults) => {
                let kind = match faults.refusal().kind {
                    RefusalKind::Named => TellingKind::NamedLookup,
                    RefusalKind::Puppet => TellingKind::Puppet,
                    RefusalKind::Unexpected => TellingKind::Other,
                };
                (kind, faults.refusal().text.clone())
            }
            LookupError::UndefinedInConfig(missing) => {
                let line = missing.line.map(|line| format!(", line: {line}"));
                let (name, path) = (&missing.name, &missing.path);
                let place = format!(" (file: {path}{})", line.unwrap_or_default());
                let text = format!("Undefined variable '{name}'{place}");
                (TellingKind::NamedLookup, text)
            }
            LookupError::Interpolation {
                template, error, ..
            } => error.telling(template),
            LookupError::Dig(error) => error.telling(),
            LookupError::UnknownFunction {
                config,
                kind,
                function,
                ..
            } => {
                let text = format!("Unable to find '{kind}' function named '{function}'");
                (TellingKind::NamedLookup, text + &in_file(config))
            }
            LookupError::Merge(MergeError::WrongType(mismatch)) => {
                (TellingKind::Puppet, mismatch.to_string())
            }
            LookupError::Merge(MergeError::WrongOptions { options, .. }) => {
                (TellingKind::Puppet, describe_options(options))
            }
            LookupError::Options(OptionsError::NotAHash { .. }) => (
                TellingKind::Lookup,
                "value of lookup_options must be a hash".to_owned(),
            ),
            LookupError::Options(OptionsError::ForeignKey { module, key }) => {
                let what = if key.starts_with('^') {
                    "patterns must match a key starting"
                } else {
                    "keys must start"
                };
                (
                    TellingKind::Lookup,
                    format!("all lookup_options {what} with module name '{module}'"),
                )
            }
            LookupError::InOptions { error, .. } => return error.telling(),
            LookupError::Conversion { .. } => (TellingKind::Lookup, self.to_string()),
            LookupError::ConversionType { .. } => {
                // Puppet leaves the last quote open.
                let text = self.to_string();
                let text = text.strip_suffix('\'').map(ToOwned::to_owned);
                (TellingKind::Lookup, text.unwrap_or_default())
            }
            LookupError::Undecryptable {
                key,
                text,
                path: Some(path),
                fault:
                    DecryptFault {
                        puppet_text: Some(message),
                        ..
                    },
            } => {
                let text = format!(
                    "hiera-eyaml backend error decrypting {text} when looking up {key} in {path}. Error was {message}"
                );
                (TellingKind::Lookup, text)
            }
            LookupError::Remote {
                told: Some(text), ..
            } => (TellingKind::Lookup, text.clone()),
            _ => (TellingKind::Other, String::new()),
        };
        Telling { kind, text }
    }
}

/// The file of a text, for messages.
fn of_file(path: Option<&str>) -> String {
    path.map_or(String::new(), |path| format!(" of `{path}`"))
}

/// Where Puppet found a mistake; a built-in configuration has no place.
fn in_file(config: &str) -> String {
    if config.is_empty() {
        return String::new();
    }
    format!(" (file: {config})")
}

impl InterpolationError {
    fn telling(&self, template: &ArcStr) -> (TellingKind, String) {
        match self {
            InterpolationError::AliasNotWholeString => {
                let text = "'alias' interpolation is only permitted if the expression is equal to the entire string";
                (TellingKind::NamedLookup, text.to_owned())
            }
            InterpolationError::UnknownFunction { name } => (
                TellingKind::NamedLookup,
                format!("Unknown interpolation method '{name}'"),
            ),
            InterpolationError::FunctionNotAllowed { config } => {
                let text = "Interpolation using method syntax is not allowed in this context";
                let place = in_file(config.as_deref().unwrap_or_default());
                (TellingKind::NamedLookup, format!("{text}{place}"))
            }
            // Puppet does not expect it in data.
            InterpolationError::UndefinedVariable { .. } => (TellingKind::Other, String::new()),
            InterpolationError::Key(KeyError::Syntax { .. }) => (
                TellingKind::Lookup,
                format!("Syntax error in string: {template}"),
            ),
            InterpolationError::Key(KeyError::NumberFirst { number, .. }) => (
                TellingKind::Puppet,
                format!("Scope variable name {number} is a Integer, not a string"),
            ),
            InterpolationError::Dig(error) => error.telling(),
        }
    }
}

impl DigError {
    /// Ruby's integers can be asked for their bits, and that then fails in a way that Puppet does not expect.
    fn telling(&self) -> (TellingKind, String) {
        let kind = if self.class == "Integer" {
            TellingKind::Other
        } else {
            TellingKind::Lookup
        };
        (kind, self.to_string())
    }
}

/// What Puppet says of merge options that a strategy does not take.
fn describe_options(options: &Value) -> String {
    let strategy = options
        .as_hash()
        .and_then(|options| options.get("strategy"));
    let expected = match strategy.and_then(Value::as_str).unwrap_or_default() {
        "deep" => "Struct[{strategy=>Optional[Pattern[deep]],knockout_prefix=>Optional[String],\
             merge_debug=>Optional[Boolean],merge_hash_arrays=>Optional[Boolean],\
             sort_merged_arrays=>Optional[Boolean],}]"
            .to_owned(),
        "unconstrained_deep" | "reverse_deep" => "Hash[String[1],Any]".to_owned(),
        name => format!("Struct[{{strategy=>Optional[Pattern[/{name}/]]}}]"),
    };
    let subject = "The merge options";
    let mismatch = Type::parse(&expected)
        .ok()
        .and_then(|expected| assert_instance(subject, &expected, options).err());
    mismatch.map_or_else(
        || format!("{subject} has wrong type, expects {expected}, got Hash"),
        |mismatch| mismatch.to_string(),
    )
}
