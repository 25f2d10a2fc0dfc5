//! Puppet's messages for a `hiera.yaml` that it refuses.
//!
//! Puppet stops at the first mistake, in its own order: first the whole is checked against a type, then each level, and only
//! a lookup finds names that occur twice.

mod puppet_check;
mod schema;

use puppet_values::Hash;

use self::puppet_check::PuppetCheck;
use crate::hierarchy::LayerKind;

/// How Puppet refuses a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) text: String,
    /// The version of a configuration that can be parsed, and fails only when its levels are used.
    pub(crate) late: Option<u8>,
}

/// Puppet's kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// An error of lookups, with an issue code.
    Named,
    /// Another error of Puppet.
    Puppet,
    /// An error that Puppet does not expect.
    Unexpected,
}

impl Refusal {
    /// A mistake that Puppet does not expect, and so has no message for.
    pub(crate) fn unexpected() -> Self {
        Refusal {
            kind: RefusalKind::Unexpected,
            text: String::new(),
            late: None,
        }
    }

    /// For a file of version 3 that is not in the global layer.
    pub(in crate::hierarchy) fn not_global(kind: &LayerKind, path: &str) -> Self {
        let layer = match kind {
            LayerKind::Module(_) => "a module",
            LayerKind::Global | LayerKind::Environment => "an environment",
        };
        Refusal {
            kind: RefusalKind::Named,
            text: format!("hiera.yaml version 3 cannot be used in {layer} (file: {path})"),
            late: None,
        }
    }

    /// For a file that is not YAML.
    pub(super) fn of_syntax(error: &psych_yaml::ReadError, path: &str) -> Self {
        Refusal {
            kind: RefusalKind::Puppet,
            text: error.puppet_message(path),
            late: None,
        }
    }

    /// For a file with a hash.
    pub(super) fn of_document(kind: &LayerKind, path: &str, source: &[u8], root: &Hash) -> Self {
        let source = String::from_utf8_lossy(source);
        let check = PuppetCheck {
            kind,
            path,
            source: &source,
        };
        match check.document(root) {
            Err(refusal) => refusal,
            Ok(()) => Refusal::unexpected(),
        }
    }
}

/// A line up to the first `#`. Puppet: one in quotes counts too.
pub(super) fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default()
}
