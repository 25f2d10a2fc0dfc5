//! `hiera.yaml` → [`HieraConfig`]: checked once, with room for no mistake afterwards.
//!
//! Reading collects every mistake with its line (`config/check.rs`), not only the first.

mod check;
mod document;
mod refusal;
mod required;
mod version_3;
mod version_4;

use std::hash::BuildHasher as _;
use std::sync::Arc;

use arcstr::ArcStr;

pub(crate) use self::refusal::{Refusal, RefusalKind};
use crate::Value;
use crate::data::{Format, KeysId};
use crate::path;
use crate::scope::{Scope, is_undefined};
use crate::strictness::Strictness;
use crate::template::{Part, Template, Variable};

/// The layers of the combined hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// What comes before every environment.
    Global,
    /// An environment.
    Environment,
    /// A module, by name.
    Module(ArcStr),
}

/// A layer as it is on disk.
#[derive(Debug, Default)]
pub enum Layer {
    /// It has no configuration, and so no data.
    #[default]
    Absent,
    /// Its configuration cannot be used in such a layer, for this reason, and is passed over.
    Ignored(ConfigFault),
    /// It has one.
    Configured(HieraConfig),
    /// Its configuration has mistakes, and every lookup that reaches it fails.
    Faulty(ConfigFaults),
}

/// A checked `hiera.yaml`.
#[derive(Debug)]
pub struct HieraConfig {
    kind: LayerKind,
    /// `None` for a built-in configuration.
    path: Option<ArcStr>,
    version: u8,
    levels: Vec<Level>,
    /// For keys that nothing else has; modules only.
    default_levels: Option<Vec<Level>>,
    /// The variables that must be set where lookups fail on undefined ones.
    required: Vec<RequiredVariable>,
}

/// A variable outside of the paths of version 5, where Puppet 8 accepts no undefined one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RequiredVariable {
    /// As it is written, without what is dug out of it.
    name: ArcStr,
    /// The line, where Puppet finds it.
    line: Option<u32>,
}

/// A variable that a configuration needs and that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UndefinedVariable {
    /// The configuration.
    pub path: ArcStr,
    /// The line, where it is known.
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

/// A level of a hierarchy.
#[derive(Clone, Debug)]
pub struct Level {
    name: ArcStr,
    function: DataFunction,
    /// An absolute path, perhaps with tokens.
    datadir: Text,
    locations: Locations,
    /// What paths end in where they do not say so themselves (configurations of version 3 and 4).
    extension: Option<ArcStr>,
    options: Option<Value>,
    line: u32,
}

/// The function that reads a level's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataFunction {
    /// `data_hash: yaml_data`
    Yaml,
    /// `data_hash: json_data`
    Json,
    /// `data_hash: hocon_data`
    Hocon,
    /// `lookup_key: eyaml_lookup_key`
    Eyaml,
    /// `lookup_key: hiera_http`: the server is asked for each key, or for a document with the key in it.
    Http,
    /// `data_hash: hiera_http`: the document is the level's data.
    HttpHash,
    /// One that is not here.
    Unknown {
        /// `data_hash`, `lookup_key`, ...
        kind: &'static str,
        /// Its name.
        name: ArcStr,
    },
}

/// Where a level looks.
#[derive(Clone, Debug)]
pub enum Locations {
    /// The level names none.
    None,
    /// `path`, `paths`
    Paths(Vec<Text>),
    /// `glob`, `globs`
    Globs(Vec<Text>),
    /// `uri`, `uris`
    Uris(Vec<Text>),
    /// `mapped_paths`
    Mapped {
        /// The variable to go through.
        variable: Variable,
        /// What each of its elements is called.
        name: ArcStr,
        /// The path for each.
        path: Text,
    },
}

/// A text of a configuration, perhaps with tokens.
#[derive(Clone, Debug)]
pub struct Text {
    source: ArcStr,
    template: Option<Template>,
    /// It is a path without empty components and such that start with a dot, once its tokens are names.
    is_plain: bool,
}

/// All mistakes of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigFaults {
    faults: Vec<ConfigFault>,
    refusal: Refusal,
    /// The levels that Puppet works out before it comes to the mistake.
    before: Option<Arc<HieraConfig>>,
}

impl PartialEq for ConfigFaults {
    fn eq(&self, other: &Self) -> bool {
        self.faults == other.faults
    }
}

impl Eq for ConfigFaults {}

/// A mistake in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`:{line}:{column}: {problem}")]
pub struct ConfigFault {
    /// The file.
    pub path: ArcStr,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong there.
    pub problem: String,
}

impl ConfigFaults {
    /// The mistakes of one configuration; there is at least one.
    pub fn new(faults: Vec<ConfigFault>) -> Self {
        ConfigFaults {
            faults,
            refusal: Refusal::unexpected(),
            before: None,
        }
    }

    fn told_as(self, refusal: Refusal) -> Self {
        ConfigFaults { refusal, ..self }
    }

    fn after(self, before: HieraConfig) -> Self {
        let before = Some(Arc::new(before));
        ConfigFaults { before, ..self }
    }

    /// What Puppet works out before it comes to the mistake, where it finds that so late.
    pub(crate) fn before(&self) -> Option<&HieraConfig> {
        self.before.as_deref()
    }

    /// What Puppet says of the configuration.
    pub(crate) fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigFault> {
        self.faults.iter()
    }
}

impl std::fmt::Display for ConfigFaults {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, fault) in self.faults.iter().enumerate() {
            if place > 0 {
                out.write_str("; ")?;
            }
            write!(out, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigFaults {}

impl LayerKind {
    /// The name that a layer with a configuration of this version goes by in explanations.
    pub(crate) fn provider_name(&self, version: u8) -> String {
        let place = match self {
            LayerKind::Global => "Global ".to_owned(),
            LayerKind::Environment => "Environment ".to_owned(),
            LayerKind::Module(name) => format!("Module \"{name}\" "),
        };
        format!("{place}Data Provider (hiera configuration version {version})")
    }
}

impl Layer {
    /// Reads the configuration of a layer. `path` is where it lies, in absolute form; `codedir` is where one of
    /// version 3 looks for data unless it says otherwise.
    pub fn parse(kind: LayerKind, path: &str, codedir: &str, bytes: &[u8]) -> Self {
        match check::parse(kind, path, codedir, bytes) {
            Ok(check::Checked::Config(config)) => Layer::Configured(config),
            Ok(check::Checked::Ignored(reason)) => Layer::Ignored(reason),
            Err(faults) => Layer::Faulty(faults),
        }
    }

    /// The same layer, faulty where it would be passed over and lookups are to fail instead.
    pub fn held_to(self, kind: &LayerKind, strictness: Strictness) -> Self {
        match self {
            Layer::Ignored(fault) if strictness.is_error() => {
                let refusal = Refusal::not_global(kind, &fault.path);
                Layer::Faulty(ConfigFaults::new(vec![fault]).told_as(refusal))
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

    /// The layer without a configuration of its own that still counts as one of version 5.
    pub fn empty(kind: LayerKind) -> Self {
        Layer::Configured(HieraConfig {
            kind,
            path: None,
            version: 5,
            levels: Vec::new(),
            default_levels: None,
            required: Vec::new(),
        })
    }

    /// Puppet's own configuration: `data/common.yaml` below `root`, where that exists.
    pub fn built_in(kind: LayerKind, root: &str) -> Self {
        let level = Level {
            name: "Common".into(),
            function: DataFunction::Yaml,
            datadir: Text::new(&path::join(root, "data")),
            locations: Locations::Paths(vec![Text::new("common.yaml")]),
            extension: None,
            options: None,
            line: 0,
        };
        Layer::Configured(HieraConfig {
            kind,
            path: None,
            version: 5,
            levels: vec![level],
            default_levels: None,
            required: Vec::new(),
        })
    }

    /// A layer whose data comes out of a function of the tree itself, which is never run.
    pub fn of_function(kind: LayerKind, name: &str) -> Self {
        let level = Level {
            name: format!("Legacy function '{name}'").into(),
            function: DataFunction::Unknown {
                kind: "v4_data_hash",
                name: name.into(),
            },
            datadir: Text::new("/"),
            locations: Locations::None,
            extension: None,
            options: None,
            line: 0,
        };
        Layer::Configured(HieraConfig {
            kind,
            path: None,
            version: 5,
            levels: vec![level],
            default_levels: None,
            required: Vec::new(),
        })
    }

    /// The configuration, where there is a good one.
    pub fn config(&self) -> Option<&HieraConfig> {
        match self {
            Layer::Configured(config) => Some(config),
            _ => None,
        }
    }
}

impl HieraConfig {
    /// The levels up to the first whose name there was before.
    fn before_same_name(mut self) -> Self {
        let cut = |levels: &mut Vec<Level>| {
            let is_again = |place: &usize| {
                let (before, rest) = levels.split_at(*place);
                rest.first()
                    .is_some_and(|level| before.iter().any(|other| other.name == level.name))
            };
            let place = (0..levels.len()).find(is_again);
            levels.truncate(place.unwrap_or(levels.len()));
            place.is_some()
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

    /// The layer it belongs to.
    pub fn kind(&self) -> &LayerKind {
        &self.kind
    }

    /// Where it lies; `None` for a built-in one.
    pub fn path(&self) -> Option<&ArcStr> {
        self.path.as_ref()
    }

    /// The version it is written in.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The levels, most specific first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The levels for keys that nothing else has.
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

impl DataFunction {
    /// The functions there are, for messages.
    pub const KNOWN: &'static str =
        "yaml_data, json_data, hocon_data, eyaml_lookup_key and hiera_http";

    /// Does its data come from another server?
    pub fn is_remote(&self) -> bool {
        matches!(self, DataFunction::Http | DataFunction::HttpHash)
    }

    /// The kind and the name that a configuration gives it.
    pub fn kind_and_name(&self) -> (&'static str, &str) {
        match self {
            DataFunction::Yaml => ("data_hash", "yaml_data"),
            DataFunction::Json => ("data_hash", "json_data"),
            DataFunction::Hocon => ("data_hash", "hocon_data"),
            DataFunction::Eyaml => ("lookup_key", "eyaml_lookup_key"),
            DataFunction::Http => ("lookup_key", "hiera_http"),
            DataFunction::HttpHash => ("data_hash", "hiera_http"),
            DataFunction::Unknown { kind, name } => (kind, name),
        }
    }
}

impl Level {
    /// Its name.
    pub fn name(&self) -> &ArcStr {
        &self.name
    }

    /// What reads its data.
    pub fn function(&self) -> &DataFunction {
        &self.function
    }

    /// The directory that its paths start from.
    pub fn datadir(&self) -> &Text {
        &self.datadir
    }

    /// Can a path be put behind the directory as both are written, once its tokens are names?
    pub(crate) fn has_plain_path(&self, path: &Text) -> bool {
        self.datadir.is_plain
            && self.datadir.template.is_none()
            && path.is_plain
            && !path.source.starts_with('/')
    }

    /// Where it looks.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// What its paths end in, where that is left out in them.
    pub fn extension(&self) -> Option<&str> {
        self.extension.as_deref()
    }

    /// The options of its function.
    pub fn options(&self) -> Option<&Value> {
        self.options.as_ref()
    }

    /// What tells its keys from those of other levels.
    fn keys_id(&self) -> KeysId {
        self.options.as_ref().map_or(0, |options| {
            foldhash::quality::FixedState::default().hash_one(options)
        })
    }

    /// The line it starts at.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The format of its files.
    pub fn format(&self) -> Format {
        match self.function {
            DataFunction::Yaml => Format::Yaml,
            DataFunction::Json => Format::Json,
            DataFunction::Hocon => Format::Hocon,
            DataFunction::Eyaml => Format::Eyaml(self.keys_id()),
            DataFunction::Http | DataFunction::HttpHash | DataFunction::Unknown { .. } => {
                Format::Unknown
            }
        }
    }
}

impl Text {
    /// Reads a text.
    pub fn new(source: &str) -> Self {
        let template = Template::parse(source);
        let is_plain = match &template {
            None => path::is_plain(source.strip_prefix('/').unwrap_or(source)),
            Some(template) => path::is_plain(&template.with_tokens_as("x")),
        };
        Text {
            source: source.into(),
            template,
            is_plain,
        }
    }

    /// Takes a text as it is, tokens or not.
    pub(crate) fn literal(source: &str) -> Self {
        Text {
            source: source.into(),
            template: None,
            is_plain: path::is_plain(source.strip_prefix('/').unwrap_or(source)),
        }
    }

    /// As it was written.
    pub fn source(&self) -> &ArcStr {
        &self.source
    }

    /// Its stretches in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        let plain = match &self.template {
            None => Some(Part::Text(self.source.clone())),
            Some(_) => None,
        };
        let parts = self.template.iter().flat_map(Template::parts).cloned();
        plain.into_iter().chain(parts)
    }

    /// Its parts, where it has tokens.
    pub fn template(&self) -> Option<&Template> {
        self.template.as_ref()
    }
}
