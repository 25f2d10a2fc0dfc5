//! [`HieraConfig`]: a checked `hiera.yaml`.

use arcstr::ArcStr;

use super::layer::LayerKind;
use super::level::Level;
use crate::scope::{Scope, is_undefined};

/// A checked `hiera.yaml`.
#[derive(Debug)]
pub struct HieraConfig {
    pub(super) kind: LayerKind,
    /// `None` for a built-in configuration.
    pub(super) path: Option<ArcStr>,
    pub(super) version: u8,
    pub(super) levels: Vec<Level>,
    /// For keys that are found nowhere else; modules only.
    pub(super) default_levels: Option<Vec<Level>>,
    /// The variables that must be set if lookups fail on undefined ones.
    pub(super) required: Vec<RequiredVariable>,
}

/// A variable outside of the locations of version 5, where Puppet 8 accepts no undefined one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequiredVariable {
    /// As written, without what is dug out of it.
    pub(super) name: ArcStr,
    /// The line where Puppet finds it.
    pub(super) line: Option<u32>,
}

/// A variable that a configuration needs and that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UndefinedVariable {
    /// The configuration.
    pub path: ArcStr,
    /// The line, if it is known.
    pub line: Option<u32>,
    /// The variable.
    pub name: ArcStr,
}

impl std::fmt::Display for UndefinedVariable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}`", self.path)?;
        if let Some(line) = self.line {
            write!(out, ":{line}")?;
        }
        write!(out, ": undefined variable `{}`", self.name)
    }
}

impl HieraConfig {
    pub(super) fn new(kind: LayerKind, path: ArcStr, version: u8, levels: Vec<Level>) -> Self {
        HieraConfig {
            kind,
            path: Some(path),
            version,
            levels,
            default_levels: None,
            required: Vec::new(),
        }
    }

    /// A configuration that is not in a file.
    pub(super) fn built_in(kind: LayerKind, levels: Vec<Level>) -> Self {
        HieraConfig {
            path: None,
            ..HieraConfig::new(kind, ArcStr::new(), 5, levels)
        }
    }

    /// The same with all levels from the first repeated name on cut off.
    pub(super) fn before_same_name(mut self) -> Self {
        let cut = |levels: &mut Vec<Level>| {
            let is_repeated = |index: &usize| {
                let (before, rest) = levels.split_at(*index);
                rest.first()
                    .is_some_and(|level| before.iter().any(|other| other.name() == level.name()))
            };
            let index = (0..levels.len()).find(is_repeated);
            levels.truncate(index.unwrap_or(levels.len()));
            index.is_some()
        };
        if cut(&mut self.levels) {
            self.default_levels = None;
        } else if let Some(levels) = &mut self.default_levels {
            cut(levels);
        }
        self
    }

    /// The first variable that it needs and that is not set.
    pub(crate) fn undefined_variable(&self, scope: &dyn Scope) -> Option<UndefinedVariable> {
        let is_version_3 = self.version == 3;
        let mut required = self.required.iter();
        let missing = required.find(|it| is_undefined(&it.name, scope, is_version_3))?;
        Some(UndefinedVariable {
            path: self.path.clone().unwrap_or_default(),
            line: missing.line,
            name: missing.name.clone(),
        })
    }

    /// The layer that it belongs to.
    pub fn kind(&self) -> &LayerKind {
        &self.kind
    }

    /// Its absolute path; `None` for a built-in one.
    pub fn path(&self) -> Option<&ArcStr> {
        self.path.as_ref()
    }

    /// The version of its format.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The levels, most specific first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The levels for keys that are found nowhere else.
    pub fn default_levels(&self) -> Option<&[Level]> {
        self.default_levels.as_deref()
    }

    /// All levels of both kinds.
    pub fn all_levels(&self) -> impl Iterator<Item = &Level> {
        self.levels
            .iter()
            .chain(self.default_levels.iter().flatten())
    }
}
