//! [`Layer`]: a layer of the combined hierarchy, with or without a usable configuration.

use arcstr::ArcStr;

use super::config_fault::{ConfigFault, ConfigFaults};
use super::config_text::ConfigText;
use super::hiera_config::HieraConfig;
use super::hiera_yaml::{self, Checked, Refusal};
use super::level::{Level, Locations};
use super::path;
use crate::data_functions::{BUILT_IN, Functions, LevelFunction};
use crate::strictness::Strictness;

/// The layers of the combined hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// The layer above every environment.
    Global,
    /// An environment.
    Environment,
    /// A module, by name.
    Module(ArcStr),
}

/// A layer as found on disk.
#[derive(Debug, Default)]
pub enum Layer {
    /// It has no configuration, and so no data.
    #[default]
    Absent,
    /// Its configuration cannot be used in this kind of layer, for this reason, and is skipped.
    Ignored(ConfigFault),
    /// It has a configuration.
    Configured(HieraConfig),
    /// Its configuration has mistakes, and every lookup that reaches it fails.
    Faulty(ConfigFaults),
}

impl Layer {
    /// Parses the configuration of a layer. `path` is its absolute path; `codedir` is where a configuration of version 3
    /// looks for data unless it says otherwise.
    pub fn parse(kind: LayerKind, path: &str, codedir: &str, bytes: &[u8]) -> Self {
        Layer::parse_with(&BUILT_IN, kind, path, codedir, bytes)
    }

    /// The same with a table of data functions other than [`BUILT_IN`].
    pub fn parse_with(
        functions: Functions,
        kind: LayerKind,
        path: &str,
        codedir: &str,
        bytes: &[u8],
    ) -> Self {
        match hiera_yaml::parse(functions, kind, path, codedir, bytes) {
            Ok(Checked::Config(config)) => Layer::Configured(config),
            Ok(Checked::Ignored(reason)) => Layer::Ignored(reason),
            Err(faults) => Layer::Faulty(faults),
        }
    }

    /// The same layer, faulty if it would be skipped and lookups are to fail instead.
    pub fn held_to(self, kind: &LayerKind, strictness: Strictness) -> Self {
        match self {
            Layer::Ignored(fault) if strictness.is_error() => {
                let refusal = Refusal::not_global(kind, &fault.path);
                Layer::Faulty(ConfigFaults::new(vec![fault]).with_refusal(refusal))
            }
            layer => layer,
        }
    }

    /// A layer whose configuration cannot be read.
    pub fn unreadable(path: &str, reason: &dyn std::fmt::Display) -> Self {
        let problem = format!("cannot be read: {reason}");
        Layer::Faulty(ConfigFaults::new(vec![ConfigFault {
            path: path.into(),
            line: 1,
            column: 1,
            problem,
        }]))
    }

    /// A layer without a configuration that still counts as one of version 5.
    pub fn empty(kind: LayerKind) -> Self {
        Layer::Configured(HieraConfig::built_in(kind, Vec::new()))
    }

    /// Puppet's own configuration: `data/common.yaml` below `root`, if that exists.
    pub fn built_in(kind: LayerKind, root: &str) -> Self {
        let datadir = ConfigText::new(&path::join(root, "data"));
        let locations = Locations::Paths(vec![ConfigText::new("common.yaml")]);
        let level = Level::new("Common", LevelFunction::YAML, datadir, locations);
        Layer::Configured(HieraConfig::built_in(kind, vec![level]))
    }

    /// A layer whose data comes from a function in the code directory, which is never executed.
    pub fn of_function(kind: LayerKind, name: &str) -> Self {
        let function = LevelFunction::Unknown {
            kind: "v4_data_hash",
            name: name.into(),
        };
        let title = format!("Legacy function '{name}'");
        let level = Level::new(&title, function, ConfigText::new("/"), Locations::None);
        Layer::Configured(HieraConfig::built_in(kind, vec![level]))
    }

    /// The configuration, if there is a good one.
    pub fn config(&self) -> Option<&HieraConfig> {
        match self {
            Layer::Configured(config) => Some(config),
            _ => None,
        }
    }
}
