//! [`Planner`]: a level → its locations for one node.

use indexmap::IndexMap;
use puppet_values::Value;

use super::fill::{Filled, fill_options, fill_text, variable_value};
use super::paths::FilledDirectory;
use super::{Location, PlannedLevel};
use crate::data::DataFile;
use crate::hierarchy::{ConfigText, Level, LevelError, Locations};
use crate::lookup::LookupError;
use crate::remote::parse_address;
use crate::scope::{Scope, WithLocal};
use crate::snapshot::Tree;
use crate::template::Variable;

/// Fills in one level after the other.
pub(super) struct Planner<'a> {
    pub(super) tree: &'a dyn Tree,
    /// For explanations.
    pub(super) keeps_paths: bool,
    pub(super) locations: Vec<Location<'a>>,
    /// Reused for every level, so that filling in allocates once.
    pub(super) filled: Filled,
}

impl<'a> Planner<'a> {
    pub(super) fn new(tree: &'a dyn Tree, keeps_paths: bool, levels: usize) -> Self {
        Planner {
            tree,
            keeps_paths,
            locations: Vec::with_capacity(levels),
            filled: Filled::default(),
        }
    }

    /// Fills in a level.
    pub(super) fn level(
        &mut self,
        level: &'a Level,
        scope: &dyn Scope,
        is_built_in: bool,
    ) -> Result<PlannedLevel<'a>, LookupError> {
        let start = self.locations.len();
        let datadir = FilledDirectory::of(level, scope)?;
        match level.locations() {
            Locations::None => {
                return Ok(PlannedLevel {
                    level,
                    locations: None,
                    options: None,
                });
            }
            Locations::Paths(paths) => {
                for text in paths {
                    self.path(level, &datadir, text, scope)?;
                }
            }
            Locations::Globs(globs) => {
                for text in globs {
                    self.glob(level, &datadir, text, scope)?;
                }
            }
            Locations::Uris(uris) => {
                for text in uris {
                    self.uri(level, text, scope)?;
                }
            }
            Locations::Mapped {
                variable,
                name,
                path,
            } => {
                for value in mapped_values(variable, scope)? {
                    let scope = WithLocal {
                        name,
                        value: &value,
                        outer: scope,
                    };
                    self.path(level, &datadir, path, &scope)?;
                }
            }
        }
        let options = level
            .options()
            .map(|options| fill_options(options, scope))
            .transpose()?;
        if let Some(Ok(keys)) = level.node_keys(scope)? {
            for location in self.locations.iter_mut().skip(start) {
                location.file = location.file.map(|file| file.decrypted_with(&keys));
            }
        }
        let options = level.function().remote().and_then(|(remote, _)| {
            let options = options?;
            Some(level.without_outside_files(remote.file_options, options, scope))
        });
        if is_built_in {
            self.locations.truncate(
                start
                    + self
                        .locations
                        .iter()
                        .skip(start)
                        .filter(|it| it.file.is_some())
                        .count(),
            );
        }
        Ok(PlannedLevel {
            level,
            locations: Some(start..self.locations.len()),
            options,
        })
    }

    fn uri(
        &mut self,
        level: &Level,
        text: &ConfigText,
        scope: &dyn Scope,
    ) -> Result<(), LookupError> {
        fill_text(text, scope, &mut self.filled).map_err(LookupError::without_user)?;
        if let Some(what) = self.filled.leads_address_out() {
            return Err(LevelError::AddressLeadsOut {
                level: level.name().clone(),
                what,
            }
            .into());
        }
        let uri = parse_address(&self.filled.text).map_err(|problem| LevelError::Address {
            level: level.name().clone(),
            problem,
        })?;
        self.locations.push(Location {
            original: text.source().clone(),
            path: uri.to_string(),
            is_uri: true,
            file: None,
        });
        Ok(())
    }

    /// Puppet: a file is read once, by the function of the first level that names it. Other functions get what that one
    /// has read.
    pub(super) fn share_readings<'p>(
        &mut self,
        levels: impl Iterator<Item = &'p PlannedLevel<'a>> + Clone,
    ) where
        'a: 'p,
    {
        let mut formats = levels.clone().map(|planned| planned.level.format());
        let first = formats.next();
        if !formats.any(|format| Some(format) != first && format.is_plain()) {
            return;
        }
        // A map, since a glob may have found thousands of files.
        let mut read: IndexMap<&'a str, &'a DataFile, foldhash::fast::RandomState> =
            IndexMap::default();
        for planned in levels.filter(|planned| planned.level.format().is_plain()) {
            for index in planned.locations.clone().into_iter().flatten() {
                let Some(location) = self.locations.get_mut(index) else {
                    continue;
                };
                let Some(file) = location.file else { continue };
                location.file = Some(read.entry(file.path().as_str()).or_insert(file));
            }
        }
    }
}

/// The elements that `mapped_paths` iterates over.
fn mapped_values(variable: &Variable, scope: &dyn Scope) -> Result<Vec<Value>, LookupError> {
    // Puppet: names the setting in place of the string that has the variable.
    let value = variable_value(variable, scope).map_err(|error| LookupError::Interpolation {
        template: arcstr::literal!("mapped_path[0]"),
        path: None,
        error,
    })?;
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Str(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Value::Str(text)) => Ok(vec![Value::Str(text)]),
        Some(Value::Array(array)) => Ok(array.items().to_vec()),
        // Ruby iterates over a hash in pairs.
        Some(Value::Hash(hash)) => Ok(hash
            .iter()
            .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
            .collect()),
        Some(other) => Err(LevelError::NotMappable {
            variable: variable.text.clone(),
            class: other.ruby_class(),
        }
        .into()),
    }
}
