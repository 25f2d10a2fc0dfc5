//! `hiera.yaml` → [`HieraConfig`], or all that is wrong with it.
//!
//! All mistakes are collected with their positions, not only the first. `refusal` has Puppet's texts for them.

mod check;
mod document;
mod levels;
mod locations;
mod options;
mod refusal;
mod required;
mod version_3;
mod version_4;
mod version_5;

use psych_yaml::Mark;

use self::check::{Check, Settings};
use self::document::{Content, Node};
pub(crate) use self::refusal::{Refusal, RefusalKind};
use puppet_values::Value;

use super::config_fault::{ConfigFault, ConfigFaults};
use super::hiera_config::HieraConfig;
use super::layer::LayerKind;
use crate::data_functions::Functions;

/// The settings of a level that name its function.
const FUNCTION_KEYS: [&str; 5] = [
    "data_hash",
    "lookup_key",
    "data_dig",
    "hiera3_backend",
    "v4_data_hash",
];
/// The settings of a level that name its locations.
const LOCATION_KEYS: [&str; 7] = [
    "path",
    "paths",
    "glob",
    "globs",
    "uri",
    "uris",
    "mapped_paths",
];

/// A configuration without mistakes.
pub(super) enum Checked {
    Config(HieraConfig),
    /// This kind of layer cannot use it, for this reason.
    Ignored(ConfigFault),
}

/// Reads and checks a configuration.
pub(super) fn parse(
    functions: Functions,
    kind: LayerKind,
    path: &str,
    codedir: &str,
    bytes: &[u8],
) -> Result<Checked, ConfigFaults> {
    let mut check = Check::new(functions, kind, path, codedir);
    let document = Node::read(bytes).map_err(|error| {
        check.fault(error.mark(), error.problem().to_string());
        let faults = ConfigFaults::new(std::mem::take(&mut check.faults));
        faults.with_refusal(Refusal::of_syntax(&error, path))
    })?;
    let mut checked = check.document(document.as_ref());
    if let Some(Checked::Config(config)) = &mut checked {
        config.required = required::variables(config, bytes);
    }
    match checked {
        Some(checked) if check.faults.is_empty() => Ok(checked),
        checked => {
            let mut faults = ConfigFaults::new(check.faults);
            let document = document.map(|node| node.to_value());
            if let Some(root) = document.as_ref().and_then(Value::as_hash) {
                faults = faults.with_refusal(Refusal::of_document(&check.kind, path, bytes, root));
            }
            match checked {
                Some(Checked::Config(config)) if faults.refusal().late.is_some() => {
                    Err(faults.after(config.before_same_name()))
                }
                _ => Err(faults),
            }
        }
    }
}

impl Check {
    /// Checks a file of any version.
    fn document(&mut self, document: Option<&Node>) -> Option<Checked> {
        let Some(Node {
            content: Content::Map(entries),
            mark,
        }) = document
        else {
            let reason = "hiera.yaml does not hold a hash, and counts as an empty one of version 3";
            return self.version_3(
                &Settings {
                    entries: &[],
                    mark: Mark { line: 1, column: 1 },
                },
                reason,
            );
        };
        let root = Settings {
            entries,
            mark: *mark,
        };
        let Some(node) = root.get("version").filter(|version| !version.is_null()) else {
            return self.version_3(&root, "hiera.yaml without `version` counts as version 3");
        };
        match ruby_integer(node) {
            Some(5) => {
                self.check_version(node, 5);
                self.version_5(&root)
            }
            Some(4) if self.kind == LayerKind::Global => {
                self.fault(
                    node.mark,
                    "hiera.yaml version 4 cannot be used in the global layer",
                );
                None
            }
            Some(4) => {
                self.check_version(node, 4);
                self.version_4(&root)
            }
            Some(3) => {
                self.check_version(node, 3);
                self.version_3(&root, "hiera.yaml is of version 3")
            }
            _ => {
                self.fault(
                    node.mark,
                    "this version of hiera.yaml is not supported; write `version: 5`",
                );
                None
            }
        }
    }

    /// Puppet accepts `"5"` as the version and then refuses it because it is not a number.
    fn check_version(&mut self, node: &Node, version: i64) {
        if !matches!(node.content, Content::Scalar(Value::Int(_))) {
            self.fault(
                node.mark,
                format!(
                    "`version` must be the number {version}, not {}",
                    node.kind()
                ),
            );
        }
    }
}

/// The result of Ruby's `to_i` for a node.
fn ruby_integer(node: &Node) -> Option<i64> {
    match &node.content {
        Content::Scalar(Value::Int(number)) => Some(*number),
        Content::Scalar(Value::Float(number)) => Some(*number as i64),
        Content::Scalar(Value::Str(text)) => {
            let text = text.trim_start();
            let end = text
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(text.len());
            text.get(..end)?.parse().ok()
        }
        _ => None,
    }
}
