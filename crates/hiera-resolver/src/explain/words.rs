//! Puppet's words: the texts that `puppet lookup --explain` has for failures and for steps, one file a topic.
//!
//! Our own messages, for people, are the `Display` of the errors. Texts that need more than an error holds are functions
//! that the walk calls. What readers of YAML, JSON and HOCON, of `hiera.yaml` and of types say comes with their errors.

pub(crate) mod data;
pub(crate) mod headings;
mod interpolation;
mod merge;
mod options;
pub(crate) mod subjects;

use super::puppet_error::PuppetError;
use crate::hierarchy::{ConfigFaults, LevelError, RefusalKind, UndefinedVariable};
use crate::key::KeyError;
use crate::lookup::LookupError;
use crate::template::DecryptFault;

impl From<&LookupError> for PuppetError {
    fn from(error: &LookupError) -> Self {
        match error {
            LookupError::Key(KeyError::Syntax { key }) => {
                PuppetError::lookup(format!("Syntax error in key: '{key}'"))
            }
            LookupError::Recursion { chain } => {
                let chain = chain.join(", ");
                PuppetError::lookup(format!("Recursive lookup detected in [{chain}]"))
            }
            LookupError::Config(faults) => refused_config(faults),
            LookupError::UndefinedInConfig(undefined) => undefined_in_config(undefined),
            LookupError::Level(LevelError::UnknownFunction {
                config,
                kind,
                function,
                ..
            }) => {
                let text = format!("Unable to find '{kind}' function named '{function}'");
                PuppetError::named_lookup(text + &in_file(config))
            }
            LookupError::Interpolation {
                template, error, ..
            } => interpolation::failed(error, template),
            LookupError::Dig(error) => interpolation::cannot_dig(error),
            LookupError::Merge(error) => merge::failed(error),
            LookupError::Options(error) => options::unusable(error),
            LookupError::InOptions { error, .. } => PuppetError::from(error.as_ref()),
            LookupError::Conversion { key, error } => options::not_converted(key, error),
            LookupError::ConversionType {
                key,
                source_text,
                problem,
            } => options::not_a_type(key, source_text, problem),
            LookupError::Undecryptable {
                key,
                text,
                path: Some(path),
                fault:
                    DecryptFault {
                        puppet_text: Some(message),
                        ..
                    },
            } => data::undecryptable(key, text, path, message),
            LookupError::Remote {
                puppet_text: Some(text),
                ..
            } => PuppetError::lookup(text),
            // Puppet does not fail here, or in another way.
            LookupError::Key(KeyError::NumberFirst { .. })
            | LookupError::Level(_)
            | LookupError::File(_)
            | LookupError::PatternMatch(_)
            | LookupError::Spent(_)
            | LookupError::Limit(_)
            | LookupError::IrregularValue { .. }
            | LookupError::Undecryptable { .. }
            | LookupError::Withheld { .. }
            | LookupError::NeedsRemote(_)
            | LookupError::Remote { .. }
            | LookupError::Type(_)
            | LookupError::TypeMismatch(_) => PuppetError::unexpected(),
        }
    }
}

fn refused_config(faults: &ConfigFaults) -> PuppetError {
    let refusal = faults.refusal();
    match refusal.kind {
        RefusalKind::Named => PuppetError::named_lookup(&refusal.text),
        RefusalKind::Puppet => PuppetError::puppet(&refusal.text),
        RefusalKind::Unexpected => PuppetError::unexpected(),
    }
}

fn undefined_in_config(undefined: &UndefinedVariable) -> PuppetError {
    let UndefinedVariable { name, path, line } = undefined;
    let line = line.map(|line| format!(", line: {line}"));
    let line = line.unwrap_or_default();
    PuppetError::named_lookup(format!("Undefined variable '{name}' (file: {path}{line})"))
}

/// The file of a mistake; a built-in configuration has none.
fn in_file(config: &str) -> String {
    match config {
        "" => String::new(),
        config => format!(" (file: {config})"),
    }
}

/// What Puppet says if nothing is found.
pub(crate) fn not_found(names: &[&str]) -> String {
    match names {
        [name] => format!("Function lookup() did not find a value for the name '{name}'"),
        names => {
            let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            format!(
                "Function lookup() did not find a value for any of the names [{}]",
                quoted.join(", ")
            )
        }
    }
}
