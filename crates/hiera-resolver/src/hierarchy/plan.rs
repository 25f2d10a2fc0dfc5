//! Levels × scope → the files to look into, in order: `path`s, `glob`s and `mapped_paths` filled in for one node.

mod fill;
mod node_options;

use std::borrow::Cow;
use std::ops::Range;

use arcstr::ArcStr;
use indexmap::IndexMap;
use smallvec::SmallVec;

use self::fill::{Filled, fill, fill_options, fill_parts, fill_text, variable_value};
use crate::Value;
use crate::config::{DataFunction, HieraConfig, LayerKind, Level, Locations, Text};
use crate::data::{Contents, DataFile, FileFault, Format};
use crate::error::LookupError;
use crate::glob::EntryKind;
use crate::hash::Hash;
use crate::layer_index::{Survey, SurveyedFiles};
use crate::options::FileOptions;
use crate::path;
use crate::remote::parse_address;
use crate::scope::{Scope, WithLocal};
use crate::template::Variable;
use crate::tree::Tree;

/// The hierarchy of a layer as one node sees it.
pub(crate) struct Plan<'a> {
    pub(crate) config: &'a HieraConfig,
    levels: Vec<PlannedLevel<'a>>,
    default_levels: Vec<PlannedLevel<'a>>,
    locations: Vec<Location<'a>>,
}

/// A level and its places among the locations of the plan.
#[derive(Clone)]
pub(crate) struct PlannedLevel<'a> {
    pub(crate) level: &'a Level,
    /// `None`: the level names no location at all.
    pub(crate) locations: Option<Range<usize>>,
    /// The options of its function, filled in; of functions that use them for each lookup.
    pub(crate) options: Option<Value>,
}

/// A place to look into.
pub(crate) struct Location<'a> {
    /// As it stands in `hiera.yaml`. Kept only for explanations.
    pub(crate) original: ArcStr,
    /// What that came to. Of files, kept only for explanations.
    pub(crate) path: String,
    pub(crate) is_uri: bool,
    /// `None`: there is nothing at that place.
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
        let mut planner = Planner {
            tree,
            keeps_paths,
            locations: Vec::with_capacity(config.levels().len()),
            filled: Filled::default(),
        };
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
            // Puppet's own configuration has no level for what is not there.
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

    /// Looks into all files. One that cannot be used fails here, and so every lookup: it may have `lookup_options`.
    pub(crate) fn survey(&self) -> Result<Survey<'a>, LookupError> {
        let mut options = Some(SmallVec::new());
        let mut files = Some(SurveyedFiles::default());
        for planned in &self.levels {
            let Some(range) = &planned.locations else {
                return Err(self.unusable(planned.level));
            };
            let function = planned.level.function();
            if function.is_remote() {
                // Any server may have some for any key.
                options = None;
                files = None;
                continue;
            }
            for location in self.locations(range.clone()) {
                let Some(contents) = self.contents(planned.level, location)? else {
                    continue;
                };
                if let Some(files) = &mut files {
                    files.there.push(contents);
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
        Ok(Survey { options, files })
    }

    /// What a location of a level holds; `None` where there is nothing.
    pub(crate) fn contents(
        &self,
        level: &Level,
        location: &Location<'a>,
    ) -> Result<Option<&'a Contents>, LookupError> {
        if location.is_uri {
            return Err(self.unusable(level));
        }
        let Some(file) = location.file else {
            return Ok(None);
        };
        let is_unfit = matches!(level.function(), DataFunction::Unknown { .. })
            || level.function().is_remote();
        if has_options(level) || is_unfit {
            return Err(self.unusable(level));
        }
        let contents = file
            .contents()
            .map_err(|fault| LookupError::File(fault.clone()))?;
        if let (true, LayerKind::Module(module)) = (contents.has_other_keys(), self.config.kind()) {
            return Err(LookupError::ModuleKeyNotText {
                path: file.path().clone(),
                module: module.clone(),
            });
        }
        Ok(Some(contents))
    }

    /// Why a level's function cannot do its work.
    pub(crate) fn unusable(&self, level: &Level) -> LookupError {
        let config = self.config.path().cloned().unwrap_or_default();
        let problem = match level.function() {
            DataFunction::Unknown { kind, name } => {
                return LookupError::UnknownFunction {
                    config,
                    level: level.name().clone(),
                    kind,
                    function: name.clone(),
                };
            }
            DataFunction::Http | DataFunction::HttpHash => {
                "one of uri or uris must be declared for its data function".to_owned()
            }
            _ if has_options(level) => "its data function takes no `options`".to_owned(),
            _ => "one of path, paths, glob, globs or mapped_paths must be declared for its data function".to_owned(),
        };
        LookupError::UnusableLevel {
            config,
            level: level.name().clone(),
            problem,
        }
    }
}

/// Functions that read a plain file take none.
fn has_options(level: &Level) -> bool {
    !level.function().is_remote()
        && !matches!(level.function(), DataFunction::Eyaml)
        && level
            .options()
            .and_then(Value::as_hash)
            .is_some_and(|options| !options.is_empty())
}

struct Planner<'a> {
    tree: &'a dyn Tree,
    keeps_paths: bool,
    locations: Vec<Location<'a>>,
    /// Kept from level to level, so that filling in allocates once.
    filled: Filled,
}

impl<'a> Planner<'a> {
    fn level(
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
                    fill_text(text, scope, &mut self.filled).map_err(LookupError::without_user)?;
                    if let Some(what) = self.filled.leads_address_out() {
                        return Err(LookupError::AddressLeadsOut {
                            level: level.name().clone(),
                            what,
                        });
                    }
                    let uri = parse_address(&self.filled.text).map_err(|problem| {
                        LookupError::Address {
                            level: level.name().clone(),
                            problem,
                        }
                    })?;
                    self.locations.push(Location {
                        original: text.source().clone(),
                        path: uri.to_string(),
                        is_uri: true,
                        file: None,
                    });
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
                location.file = location.file.map(|file| file.opened_with(&keys));
            }
        }
        let options = options.filter(|_| level.function().is_remote());
        let options = options.map(|options| level.without_led_out(options, scope));
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

    /// Puppet: a file is read once, by the function of the first level that comes to it. Another function gets what
    /// that one made of it.
    fn share_readings<'p>(&mut self, levels: impl Iterator<Item = &'p PlannedLevel<'a>> + Clone)
    where
        'a: 'p,
    {
        let is_plain = |format: Format| Format::PLAIN.contains(&format);
        let mut formats = levels.clone().map(|planned| planned.level.format());
        let first = formats.next();
        if !formats.any(|format| is_plain(format) && Some(format) != first) {
            return;
        }
        // By path, since a glob may have led to thousands.
        let mut read: IndexMap<&'a str, &'a DataFile, foldhash::fast::RandomState> =
            IndexMap::default();
        for planned in levels.filter(|planned| is_plain(planned.level.format())) {
            for place in planned.locations.clone().into_iter().flatten() {
                let Some(location) = self.locations.get_mut(place) else {
                    continue;
                };
                let Some(file) = location.file else { continue };
                location.file = Some(read.entry(file.path().as_str()).or_insert(file));
            }
        }
    }

    fn path(
        &mut self,
        level: &'a Level,
        datadir: &FilledDirectory<'_>,
        text: &Text,
        scope: &dyn Scope,
    ) -> Result<(), LookupError> {
        if self.plain_path(level, text, scope)? {
            let file = self.tree.file(&self.filled.text, level.format());
            self.locations.push(Location {
                original: ArcStr::new(),
                path: String::new(),
                is_uri: false,
                file,
            });
            return Ok(());
        }
        fill_text(text, scope, &mut self.filled)?;
        if let Some(extension) = level.extension()
            && !self.filled.text.ends_with(extension)
        {
            self.filled.text.push_str(extension);
        }
        let leads_out = datadir.leads_out || self.filled.leads_out(text.source());
        let joined = path::join(datadir.text(), &self.filled.text);
        let resolved = match leads_out {
            true => None,
            false => self.resolve(level, &joined)?,
        };
        let file = resolved.and_then(|path| self.tree.file(&path, level.format()));
        let (original, path) = if self.keeps_paths {
            (text.source().clone(), joined)
        } else {
            (ArcStr::new(), String::new())
        };
        self.locations.push(Location {
            original,
            path,
            is_uri: false,
            file,
        });
        Ok(())
    }

    /// A path without doubled slashes, `.` and `..`; `None` where it goes through a directory that is not there.
    fn resolve<'p>(
        &self,
        level: &Level,
        path: &'p str,
    ) -> Result<Option<Cow<'p, str>>, LookupError> {
        let normal = path::normalize(path);
        if path::parents(path) > 0 {
            let mut before = String::new();
            for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
                if name != ".." {
                    before.push('/');
                    before.push_str(name);
                    continue;
                }
                match self.tree.kind_of(&before) {
                    _ if before.is_empty() => {}
                    Some(EntryKind::Directory) => before.truncate(before.rfind('/').unwrap_or(0)),
                    Some(EntryKind::LinkToDirectory) => {
                        return Err(LookupError::ParentOfLink {
                            level: level.name().clone(),
                            link: before,
                        });
                    }
                    _ => return Ok(None),
                }
            }
        }
        let wants_directory = path.ends_with('/') || path.ends_with("/.");
        let is_directory =
            || matches!(self.tree.kind_of(&normal), Some(kind) if kind != EntryKind::File);
        Ok((!wants_directory || is_directory()).then_some(normal))
    }

    /// Fills in a path that is normal as it is written, behind its directory, as nearly all are. Says whether it
    /// turned out to be one: joining, normalizing and looking where it leads can be left out then.
    fn plain_path(
        &mut self,
        level: &Level,
        text: &Text,
        scope: &dyn Scope,
    ) -> Result<bool, LookupError> {
        if self.keeps_paths || !level.has_plain_path(text) {
            return Ok(false);
        }
        self.filled.clear();
        self.filled.text.push_str(level.datadir().source());
        self.filled.text.push('/');
        match text.template() {
            None => self.filled.text.push_str(text.source()),
            Some(template) => fill_parts(template, scope, &mut self.filled)?,
        }
        if let Some(extension) = level.extension()
            && !self.filled.text.ends_with(extension)
        {
            self.filled.text.push_str(extension);
        }
        Ok(self.filled.are_variables_plain())
    }

    fn glob(
        &mut self,
        level: &'a Level,
        datadir: &FilledDirectory<'_>,
        text: &Text,
        scope: &dyn Scope,
    ) -> Result<(), LookupError> {
        fill_text(text, scope, &mut self.filled)?;
        if datadir.leads_out || self.filled.leads_out(text.source()) {
            return Ok(());
        }
        let shown = path::join(datadir.text(), &self.filled.text);
        let pattern = path::join(&datadir.as_glob(), &self.filled.as_glob());
        let found = self.tree.glob(&pattern);
        let found = found.map_err(|error| LookupError::Glob {
            level: level.name().clone(),
            pattern: shown.clone(),
            error,
        })?;
        // A list in braces (`{%{facts.list}}`) is a path, or part of one, only now.
        let parents = [level.datadir(), text].map(|it| it.source().matches("..").count());
        let leads_out = |path: &str| path::parents(path) > parents.iter().sum();
        let original = ArcStr::from(shown);
        for path in found.into_iter().filter(|path| !leads_out(path)) {
            let file = self.tree.file(&path::normalize(&path), level.format());
            // A glob finds links that lead to nothing, and Puppet then fails on reading them.
            let file = file.ok_or_else(|| FileFault::dangling(&path))?;
            let path = if self.keeps_paths {
                path
            } else {
                String::new()
            };
            self.locations.push(Location {
                original: original.clone(),
                path,
                is_uri: false,
                file: Some(file),
            });
        }
        Ok(())
    }
}

/// The directory of a level, filled in.
struct FilledDirectory<'a> {
    level: &'a Level,
    /// `None`: it has no tokens.
    filled: Option<Filled>,
    leads_out: bool,
}

impl<'a> FilledDirectory<'a> {
    fn of(level: &'a Level, scope: &dyn Scope) -> Result<Self, LookupError> {
        let mut directory = FilledDirectory {
            level,
            filled: None,
            leads_out: false,
        };
        if let Some(template) = level.datadir().template() {
            let mut filled = Filled::default();
            fill(template, scope, &mut filled)?;
            directory.leads_out = filled.leads_out(level.datadir().source());
            directory.filled = Some(filled);
        }
        Ok(directory)
    }

    fn text(&self) -> &str {
        let filled = self.filled.as_ref().map(|filled| filled.text.as_str());
        filled.unwrap_or(self.level.datadir().source())
    }

    fn as_glob(&self) -> Cow<'_, str> {
        let filled = self.filled.as_ref().map(Filled::as_glob);
        filled.unwrap_or(Cow::Borrowed(self.level.datadir().source()))
    }
}

/// The elements that `mapped_paths` goes through.
fn mapped_values(variable: &Variable, scope: &dyn Scope) -> Result<Vec<Value>, LookupError> {
    // Puppet: the place stands for the text that the variable is written in.
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
        // Ruby goes through a hash by pairs.
        Some(Value::Hash(hash)) => Ok(hash
            .iter()
            .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
            .collect()),
        Some(other) => Err(LookupError::NotMappable {
            variable: variable.text.clone(),
            class: other.ruby_class(),
        }),
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

    /// Does it read files in a way that is the same for every lookup?
    pub(crate) fn reads_plain_files(&self) -> bool {
        !self.function().is_remote()
            && !matches!(self.function(), DataFunction::Unknown { .. })
            && !has_options(self)
            && !self.has_node_keys()
    }
}
