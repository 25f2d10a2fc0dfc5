//! What is wrong with a file, and what is merely odd about it.

use arcstr::ArcStr;
use psych_yaml::Mark;
use puppet_types::{Type, assert_instance};
use puppet_values::Value;

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// It exists and cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: ArcStr,
        /// The error of the operating system.
        reason: String,
    },
    /// It is a directory.
    #[error("cannot read `{path}`: it is a directory")]
    Directory {
        /// The directory.
        path: ArcStr,
    },
    /// It is not in the expected format.
    #[error("cannot parse `{path}`:{line}:{column}: {problem}")]
    Unparsable {
        /// The file.
        path: ArcStr,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong there.
        problem: String,
        /// Puppet's text for it, for explanations; `None` if Puppet has none.
        puppet_text: Option<String>,
        /// Puppet's text quotes long parts of the file.
        quotes_file: bool,
    },
    /// It holds something other than a hash.
    #[error("`{path}` holds {found} where a hash is expected")]
    NotAHash {
        /// The file.
        path: ArcStr,
        /// What it holds.
        found: &'static str,
        /// Puppet's text for it, if the format is JSON or HOCON.
        mismatch: Option<String>,
    },
}

impl FileFault {
    /// A symbolic link whose target does not exist.
    pub(crate) fn dangling(path: &str) -> Self {
        FileFault::Unreadable {
            path: path.into(),
            reason: "it is a link to a file that does not exist".to_owned(),
        }
    }

    /// A file that its format's Ruby library refuses, with the message of that library if it has one.
    pub fn unparsable(
        path: &ArcStr,
        (line, column): (usize, usize),
        problem: &dyn std::fmt::Display,
        ruby_message: Option<&str>,
    ) -> Self {
        FileFault::Unparsable {
            path: path.clone(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            problem: problem.to_string(),
            puppet_text: ruby_message.map(|message| format!("Unable to parse ({path}): {message}")),
            quotes_file: true,
        }
    }

    /// A file whose root is not a hash, if Puppet checks the type of what its function returns.
    pub(super) fn wrong_root(path: &ArcStr, root: &Value) -> Self {
        let any_hash = Type::hash(Type::Any, Type::Any, None);
        let mismatch = assert_instance("", &any_hash, root).err();
        FileFault::NotAHash {
            path: path.clone(),
            found: kind_of(root),
            mismatch: Some(mismatch.map_or(String::new(), |mismatch| mismatch.to_string())),
        }
    }

    /// The file.
    pub fn path(&self) -> &str {
        match self {
            FileFault::Unreadable { path, .. }
            | FileFault::Directory { path }
            | FileFault::Unparsable { path, .. }
            | FileFault::NotAHash { path, .. } => path,
        }
    }

    /// Line and column, if the fault has a position in the file.
    pub fn position(&self) -> Option<(u32, u32)> {
        match self {
            FileFault::Unparsable { line, column, .. } => Some((*line, *column)),
            _ => None,
        }
    }

    /// What is wrong, without path and position.
    pub fn problem(&self) -> String {
        match self {
            FileFault::Unreadable { reason, .. } => format!("cannot be read: {reason}"),
            FileFault::Directory { .. } => "cannot be read: it is a directory".to_owned(),
            FileFault::Unparsable { problem, .. } => problem.clone(),
            FileFault::NotAHash { found, .. } => format!("holds {found} where a hash is expected"),
        }
    }
}

/// Something that works but is probably a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The line, from 1; 0 if the notice is about the whole file.
    pub line: u32,
    /// The column, from 1; 0 if the notice is about the whole file.
    pub column: u32,
    /// What was found.
    pub text: String,
}

impl Notice {
    pub(crate) fn at(mark: Mark, text: String) -> Self {
        Notice {
            line: mark.line,
            column: mark.column,
            text,
        }
    }

    pub(crate) fn about_file(text: String) -> Self {
        Notice {
            line: 0,
            column: 0,
            text,
        }
    }
}

/// What a value is, for messages.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "no data",
        Value::Array(_) => "a list",
        Value::Hash(_) => "a hash",
        _ => "a scalar",
    }
}
