//! Levels × scope → the files to look into, in order, for one node.
//!
//! `planner` fills in levels, `paths` fills in their `path`s and `glob`s, `fill` fills in strings, `node_options`
//! options that name files.

mod fill;
mod node_options;
mod paths;
mod planner;

use std::ops::Range;

use arcstr::ArcStr;
use puppet_values::{Hash, Value};
use smallvec::SmallVec;

use self::fill::fill_options;
use self::planner::Planner;
use super::visible_files::{VisibleContents, VisibleFiles};
use super::{HieraConfig, LayerKind, Level, LevelError};
use crate::data::{Contents, DataFile};
use crate::data_functions::{LevelFunction, Source};
use crate::lookup::LookupError;
use crate::lookup::options::FileOptions;
use crate::scope::Scope;
use crate::snapshot::Tree;

/// The hierarchy of a layer as one node sees it.
pub(crate) struct Plan<'a> {
    pub(crate) config: &'a HieraConfig,
    levels: Vec<PlannedLevel<'a>>,
    default_levels: Vec<PlannedLevel<'a>>,
    locations: Vec<Location<'a>>,
}

/// A level and the indices of its locations in the plan.
#[derive(Clone)]
pub(crate) struct PlannedLevel<'a> {
    pub(crate) level: &'a Level,
    /// `None`: the level has no location setting.
    pub(crate) locations: Option<Range<usize>>,
    /// The options of its function, filled in, if it needs them during a lookup.
    pub(crate) options: Option<Value>,
}

/// Where to look for data.
pub(crate) struct Location<'a> {
    /// As written in `hiera.yaml`. Kept only for explanations.
    pub(crate) original: ArcStr,
    /// The same, filled in. For files, kept only for explanations.
    pub(crate) path: String,
    pub(crate) is_uri: bool,
    /// `None`: it does not exist.
    pub(crate) file: Option<&'a DataFile>,
}

impl<'a> Plan<'a> {
    /// Fills in the hierarchy for one node.
    pub(crate) fn make(
        config: &'a HieraConfig,
        tree: &'a dyn Tree,
        scope: &dyn Scope,
        keeps_paths: bool,
    ) -> Result<Self, LookupError> {
        let mut planner = Planner::new(tree, keeps_paths, config.levels().len());
        let is_built_in = config.path().is_none();
        let in_config = |error: LookupError| error.in_config(config.path());
        let mut levels = Vec::with_capacity(config.levels().len());
        for level in config.levels() {
            let planned = planner.level(level, scope, is_built_in);
            levels.push(planned.map_err(in_config)?);
        }
        let mut default_levels = Vec::new();
        for level in config.default_levels().unwrap_or_default() {
            let planned = planner.level(level, scope, is_built_in);
            default_levels.push(planned.map_err(in_config)?);
        }
        planner.share_readings(levels.iter().chain(&default_levels));
        if is_built_in {
            // Puppet's own configuration has no level for a file that does not exist.
            levels.retain(|level| {
                level
                    .locations
                    .as_ref()
                    .is_none_or(|range| !range.is_empty())
            });
        }
        Ok(Plan {
            config,
            levels,
            default_levels,
            locations: planner.locations,
        })
    }

    pub(crate) fn levels(&self) -> &[PlannedLevel<'a>] {
        &self.levels
    }

    pub(crate) fn default_levels(&self) -> &[PlannedLevel<'a>] {
        &self.default_levels
    }

    pub(crate) fn locations(&self, range: Range<usize>) -> &[Location<'a>] {
        self.locations.get(range).unwrap_or_default()
    }

    /// The files of all levels.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &'a DataFile> {
        self.locations.iter().filter_map(|location| location.file)
    }

    /// Collects the contents of all files. A faulty file fails every lookup, since it may have `lookup_options`.
    pub(crate) fn visible_files(&self) -> Result<VisibleFiles<'a>, LookupError> {
        let mut options = Some(SmallVec::new());
        let mut all = Some(VisibleContents::default());
        for planned in &self.levels {
            let Some(range) = &planned.locations else {
                return Err(self.unusable(planned.level).into());
            };
            if planned.level.function().is_remote() {
                // Any server may have options for any key.
                options = None;
                all = None;
                continue;
            }
            for location in self.locations(range.clone()) {
                let Some(contents) = self.contents(planned.level, location)? else {
                    continue;
                };
                if let Some(all) = &mut all {
                    all.existing.push(contents);
                }
                match contents.options() {
                    FileOptions::None => {}
                    FileOptions::PerLookup => options = None,
                    FileOptions::Ready(compiled) => {
                        if let LayerKind::Module(module) = self.config.kind() {
                            compiled.check_namespace(module)?;
                        }
                        if let Some(options) = &mut options {
                            options.push(compiled.as_ref());
                        }
                    }
                }
            }
        }
        Ok(VisibleFiles {
            options,
            contents: all,
        })
    }

    /// What a location of a level holds; `None` if there is nothing.
    pub(crate) fn contents(
        &self,
        level: &Level,
        location: &Location<'a>,
    ) -> Result<Option<&'a Contents>, LookupError> {
        if location.is_uri {
            return Err(self.unusable(level).into());
        }
        let Some(file) = location.file else {
            return Ok(None);
        };
        if !level.can_read_files() {
            return Err(self.unusable(level).into());
        }
        let contents = file
            .contents()
            .map_err(|fault| LookupError::File(fault.clone()))?;
        if let (true, LayerKind::Module(module)) = (contents.has_other_keys(), self.config.kind()) {
            return Err(LevelError::ModuleKeyNotText {
                path: file.path().clone(),
                module: module.clone(),
            }
            .into());
        }
        Ok(Some(contents))
    }

    /// Why the function of a level cannot be called.
    pub(crate) fn unusable(&self, level: &Level) -> LevelError {
        let config = self.config.path().cloned().unwrap_or_default();
        let function = match level.function() {
            LevelFunction::Known { function, .. } => function,
            LevelFunction::Unknown { kind, name } => {
                return LevelError::UnknownFunction {
                    config,
                    level: level.name().clone(),
                    kind,
                    function: name.clone(),
                };
            }
        };
        let problem = match (&function.source, level.options_problem()) {
            (_, Some(problem)) => problem,
            (Source::Remote(_), None) => {
                "one of uri or uris must be declared for its data function"
            }
            (Source::Files(_), None) => {
                "one of path, paths, glob, globs or mapped_paths must be declared for its data function"
            }
        };
        LevelError::Unusable {
            config,
            level: level.name().clone(),
            problem: problem.to_owned(),
        }
    }
}

impl Level {
    /// The options of its function with their tokens filled in.
    pub fn filled_options(&self, scope: &dyn Scope) -> Result<Hash, LookupError> {
        let options = self
            .options()
            .map(|options| fill_options(options, scope))
            .transpose()?;
        Ok(options
            .as_ref()
            .and_then(Value::as_hash)
            .cloned()
            .unwrap_or_default())
    }

    /// Can its function read files as the level is written?
    fn can_read_files(&self) -> bool {
        self.format().is_read() && self.options_problem().is_none()
    }

    /// Does it read files in a way that is the same for every lookup?
    pub(crate) fn reads_plain_files(&self) -> bool {
        self.can_read_files() && !self.has_node_keys()
    }
}
