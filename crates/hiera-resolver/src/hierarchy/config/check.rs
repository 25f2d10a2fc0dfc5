//! A `hiera.yaml` as written → a checked one, or all that is wrong with it.

use arcstr::ArcStr;
use psych_yaml::Mark;

use super::document::{Content, Node};
use super::refusal::Refusal;
use super::required;
use super::{
    ConfigFault, ConfigFaults, DataFunction, HieraConfig, LayerKind, Level, Locations, Text,
};
use crate::Value;
use crate::path::{self, join};
use crate::template::{Template, Variable};

/// What reading came to.
pub(super) enum Checked {
    Config(HieraConfig),
    /// Such a layer cannot use it, for this reason.
    Ignored(ConfigFault),
}

pub(super) const FUNCTION_KEYS: [&str; 5] = [
    "data_hash",
    "lookup_key",
    "data_dig",
    "hiera3_backend",
    "v4_data_hash",
];
pub(super) const LOCATION_KEYS: [&str; 7] = [
    "path",
    "paths",
    "glob",
    "globs",
    "uri",
    "uris",
    "mapped_paths",
];
const ROOT_KEYS: [&str; 5] = [
    "version",
    "defaults",
    "hierarchy",
    "plan_hierarchy",
    "default_hierarchy",
];
const DEFAULTS_KEYS: [&str; 5] = ["data_hash", "lookup_key", "data_dig", "datadir", "options"];

/// Reads and checks a configuration.
pub(super) fn parse(
    kind: LayerKind,
    path: &str,
    codedir: &str,
    bytes: &[u8],
) -> Result<Checked, ConfigFaults> {
    let root = path::parent(path).to_owned();
    let mut check = Check {
        kind,
        path: path.into(),
        root,
        codedir: codedir.to_owned(),
        faults: Vec::new(),
    };
    let document = Node::read(bytes).map_err(|error| {
        check.fault(error.mark(), error.problem().to_string());
        let faults = ConfigFaults::new(std::mem::take(&mut check.faults));
        faults.told_as(Refusal::of_syntax(&error, path))
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
                faults = faults.told_as(Refusal::of_document(&check.kind, path, bytes, root));
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

/// The settings of a hash that has been gone through.
pub(super) struct Settings<'a> {
    pub(super) entries: &'a [(Node, Node)],
    pub(super) mark: Mark,
}

impl<'a> Settings<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a Node> {
        self.entries
            .iter()
            .find(|(key, _)| key.key_text() == Some(name))
            .map(|(_, value)| value)
    }

    pub(super) fn mark_of(&self, name: &str) -> Mark {
        let key = self
            .entries
            .iter()
            .find(|(key, _)| key.key_text() == Some(name));
        key.map_or(self.mark, |(key, _)| key.mark)
    }

    /// Those of the names that are set, in the order of the names.
    fn set_among(&self, names: &[&'static str]) -> Vec<&'static str> {
        names
            .iter()
            .copied()
            .filter(|name| self.get(name).is_some())
            .collect()
    }
}

/// What a level takes over where it says nothing itself.
#[derive(Default)]
struct Defaults {
    function: Option<DataFunction>,
    datadir: Option<ArcStr>,
    options: Option<Value>,
}

pub(super) struct Check {
    pub(super) kind: LayerKind,
    pub(super) path: ArcStr,
    pub(super) root: String,
    pub(super) codedir: String,
    faults: Vec<ConfigFault>,
}

impl Check {
    pub(super) fn fault(&mut self, mark: Mark, problem: impl Into<String>) {
        let fault = ConfigFault {
            path: self.path.clone(),
            line: mark.line,
            column: mark.column,
            problem: problem.into(),
        };
        self.faults.push(fault);
    }

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

    /// Puppet takes `"5"` for the version, and then refuses it for not being a number.
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

    fn version_5(&mut self, root: &Settings<'_>) -> Option<Checked> {
        self.known_only(root, &ROOT_KEYS, "hiera.yaml");
        let defaults = match root.get("defaults").filter(|node| !node.is_null()) {
            Some(node) => self.defaults(node),
            None => Defaults {
                function: Some(DataFunction::Yaml),
                ..Defaults::default()
            },
        };
        let levels = match root.get("hierarchy").filter(|node| !node.is_null()) {
            Some(node) => self.levels(node, "hierarchy", &defaults),
            None => vec![self.common_level(&defaults, root.mark)],
        };
        if let Some(node) = root.get("plan_hierarchy") {
            self.levels(node, "plan_hierarchy", &defaults);
        }
        let default_levels = root.get("default_hierarchy").map(|node| {
            if !matches!(self.kind, LayerKind::Module(_)) {
                self.fault(
                    root.mark_of("default_hierarchy"),
                    "`default_hierarchy` is only allowed in the module layer",
                );
            }
            self.levels(node, "default_hierarchy", &defaults)
        });
        let config = HieraConfig {
            kind: self.kind.clone(),
            path: Some(self.path.clone()),
            version: 5,
            levels,
            default_levels,
            required: Vec::new(),
        };
        Some(Checked::Config(config))
    }

    /// Puppet's level for a configuration that names none.
    fn common_level(&mut self, defaults: &Defaults, mark: Mark) -> Level {
        let function = defaults.function.clone().unwrap_or_else(|| {
            self.fault(mark, "level `Common` (there is no `hierarchy`) has no data function, and `defaults` names none");
            DataFunction::Yaml
        });
        Level {
            name: "Common".into(),
            function,
            datadir: self.datadir(defaults.datadir.as_deref()),
            locations: Locations::Paths(vec![Text::new("common.yaml")]),
            extension: None,
            options: defaults.options.clone(),
            line: mark.line,
        }
    }

    pub(super) fn datadir(&self, written: Option<&str>) -> Text {
        Text::new(&join(&self.root, written.unwrap_or("data")))
    }

    fn defaults(&mut self, node: &Node) -> Defaults {
        let Some(settings) = self.settings(node, "`defaults`") else {
            return Defaults::default();
        };
        self.known_only(&settings, &DEFAULTS_KEYS, "`defaults`");
        let functions = settings.set_among(&FUNCTION_KEYS[..3]);
        if functions.len() > 1 {
            self.fault(
                settings.mark,
                format!(
                    "`defaults` names several data functions: {}",
                    functions.join(", ")
                ),
            );
        }
        Defaults {
            function: functions
                .first()
                .and_then(|kind| self.function(&settings, kind)),
            datadir: self.text_setting(&settings, "datadir").map(ArcStr::from),
            options: self.options(&settings, "`defaults`"),
        }
    }

    fn levels(&mut self, node: &Node, setting: &str, defaults: &Defaults) -> Vec<Level> {
        let Content::List(nodes) = &node.content else {
            self.fault(
                node.mark,
                format!("`{setting}` must be a list of levels, not {}", node.kind()),
            );
            return Vec::new();
        };
        let levels: Vec<Level> = nodes
            .iter()
            .filter_map(|node| self.level(node, defaults))
            .collect();
        self.check_names(&levels);
        levels
    }

    /// Complains of levels of the same name.
    pub(super) fn check_names(&mut self, levels: &[Level]) {
        for (place, level) in levels.iter().enumerate() {
            if let Some(first) = levels
                .iter()
                .take(place)
                .find(|other| other.name == level.name)
            {
                let problem = format!(
                    "level name `{}` is defined more than once, first at line {}",
                    level.name, first.line
                );
                self.fault(
                    Mark {
                        line: level.line,
                        column: 1,
                    },
                    problem,
                );
            }
        }
    }

    fn level(&mut self, node: &Node, defaults: &Defaults) -> Option<Level> {
        let settings = self.settings(node, "a level of the hierarchy")?;
        let name: ArcStr = match self.text_setting(&settings, "name") {
            Some(name) => name.into(),
            None => {
                if settings.get("name").is_none() {
                    self.fault(settings.mark, "a level of the hierarchy has no `name`");
                }
                "".into()
            }
        };
        let shown = format!("level `{name}`");
        let known: Vec<&str> = ["name", "options", "datadir"]
            .into_iter()
            .chain(FUNCTION_KEYS)
            .chain(LOCATION_KEYS)
            .collect();
        self.known_only(&settings, &known, &shown);
        let functions = settings.set_among(&FUNCTION_KEYS);
        let function = match functions.as_slice() {
            [] => defaults.function.clone().or_else(|| {
                self.fault(settings.mark, format!("{shown} has no data function (such as `data_hash: yaml_data`), and `defaults` names none"));
                None
            }),
            [kind] => self.function(&settings, kind),
            several => {
                self.fault(settings.mark, format!("{shown} names several data functions: {}", several.join(", ")));
                None
            }
        };
        self.check_backend(&settings);
        let locations = self.locations(&settings, &shown);
        let options = self
            .options(&settings, &shown)
            .or_else(|| defaults.options.clone());
        let datadir = self
            .text_setting(&settings, "datadir")
            .or(defaults.datadir.as_deref());
        Some(Level {
            name,
            function: function.unwrap_or(DataFunction::Yaml),
            datadir: self.datadir(datadir),
            locations,
            extension: None,
            options,
            line: settings.mark.line,
        })
    }

    fn check_backend(&mut self, settings: &Settings<'_>) {
        let Some(backend) = settings.get("hiera3_backend").and_then(Node::text) else {
            return;
        };
        let mark = settings.mark_of("hiera3_backend");
        if self.kind != LayerKind::Global {
            self.fault(mark, "`hiera3_backend` is only allowed in the global layer");
        } else if matches!(backend, "yaml" | "json" | "hocon") {
            self.fault(
                mark,
                format!("use `data_hash: {backend}_data` instead of `hiera3_backend`"),
            );
        }
    }

    fn function(&mut self, settings: &Settings<'_>, kind: &'static str) -> Option<DataFunction> {
        let name = self.text_setting(settings, kind)?;
        Some(match (kind, name) {
            ("data_hash", "yaml_data") => DataFunction::Yaml,
            ("data_hash", "json_data") => DataFunction::Json,
            ("data_hash", "hocon_data") => DataFunction::Hocon,
            ("lookup_key", "eyaml_lookup_key") => DataFunction::Eyaml,
            ("lookup_key", "hiera_http") => DataFunction::Http,
            ("data_hash", "hiera_http") => DataFunction::HttpHash,
            _ => DataFunction::Unknown {
                kind,
                name: name.into(),
            },
        })
    }

    fn locations(&mut self, settings: &Settings<'_>, shown: &str) -> Locations {
        let set = settings.set_among(&LOCATION_KEYS);
        if set.len() > 1 {
            self.fault(
                settings.mark,
                format!(
                    "{shown} names its location in several ways: {}",
                    set.join(", ")
                ),
            );
        }
        let Some(kind) = set.first().copied() else {
            return Locations::None;
        };
        if matches!(kind, "path" | "glob" | "uri") {
            let texts: Vec<Text> = self
                .text_setting(settings, kind)
                .map(Text::new)
                .into_iter()
                .collect();
            return match kind {
                "path" => Locations::Paths(texts),
                "glob" => Locations::Globs(texts),
                _ => Locations::Uris(texts),
            };
        }
        let texts = self.list_setting(settings, kind);
        match kind {
            "paths" => Locations::Paths(texts),
            "globs" => Locations::Globs(texts),
            "uris" => Locations::Uris(texts),
            _ => {
                let [variable, name, path] = texts.as_slice() else {
                    let problem = "`mapped_paths` takes three strings: a variable, a name for each of its elements, and a path";
                    self.fault(settings.mark_of(kind), problem);
                    return Locations::None;
                };
                Locations::Mapped {
                    variable: Variable::parse(variable.source()),
                    name: name.source().clone(),
                    path: path.clone(),
                }
            }
        }
    }

    fn options(&mut self, settings: &Settings<'_>, shown: &str) -> Option<Value> {
        let node = settings.get("options")?;
        let Content::Map(entries) = &node.content else {
            self.fault(
                node.mark,
                format!("`options` must be a hash, not {}", node.kind()),
            );
            return None;
        };
        for (key, value) in entries {
            match key.key_text() {
                Some("path" | "uri") => {
                    let name = key.key_text().unwrap_or_default();
                    self.fault(key.mark, format!("option `{name}` of {shown} is reserved"));
                }
                Some(name) if is_option_name(name) => {}
                Some(name) => self.fault(
                    key.mark,
                    format!("`{name}` is not a valid name of an option"),
                ),
                None => self.fault(
                    key.mark,
                    format!("the name of an option must be a string, not {}", key.kind()),
                ),
            }
            if value.to_value().traits().is_beyond_data {
                self.fault(value.mark, "an option must be plain data");
            }
        }
        // Tokens in options are filled in like those of any value.
        Some(with_templates(&node.to_value()))
    }

    /// The entries of a hash, or a complaint.
    pub(super) fn settings<'a>(&mut self, node: &'a Node, what: &str) -> Option<Settings<'a>> {
        match &node.content {
            Content::Map(entries) => Some(Settings {
                entries,
                mark: node.mark,
            }),
            _ => {
                self.fault(
                    node.mark,
                    format!("{what} must be a hash, not {}", node.kind()),
                );
                None
            }
        }
    }

    pub(super) fn known_only(&mut self, settings: &Settings<'_>, known: &[&str], what: &str) {
        for (key, _) in settings.entries {
            match key.key_text() {
                Some(name) if known.contains(&name) => {}
                Some(name) => {
                    let problem = format!(
                        "unknown setting `{name}` in {what}; there are {}",
                        known.join(", ")
                    );
                    self.fault(key.mark, problem);
                }
                None => self.fault(
                    key.mark,
                    format!("the name of a setting must be a string, not {}", key.kind()),
                ),
            }
        }
    }

    pub(super) fn text_setting<'a>(
        &mut self,
        settings: &Settings<'a>,
        name: &str,
    ) -> Option<&'a str> {
        let node = settings.get(name)?;
        match node.text().filter(|text| !text.is_empty()) {
            Some(text) => Some(text),
            None => {
                self.fault(
                    node.mark,
                    format!(
                        "`{name}` must be a string that is not empty, not {}",
                        node.kind()
                    ),
                );
                None
            }
        }
    }

    pub(super) fn list_setting(&mut self, settings: &Settings<'_>, name: &str) -> Vec<Text> {
        let Some(node) = settings.get(name) else {
            return Vec::new();
        };
        let Content::List(items) = &node.content else {
            self.fault(
                node.mark,
                format!("`{name}` must be a list of strings, not {}", node.kind()),
            );
            return Vec::new();
        };
        if items.is_empty() {
            self.fault(node.mark, format!("`{name}` must not be empty"));
        }
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item.text().filter(|text| !text.is_empty()) {
                Some(text) => texts.push(Text::new(text)),
                None => self.fault(
                    item.mark,
                    format!(
                        "`{name}` must hold strings that are not empty, not {}",
                        item.kind()
                    ),
                ),
            }
        }
        texts
    }
}

/// What Ruby's `to_i` makes of a node.
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

/// A letter first, a letter or digit last, dashes and underscores between.
fn is_option_name(name: &str) -> bool {
    let is_inner =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | ':');
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.ends_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(is_inner)
}

pub(super) fn with_templates(value: &Value) -> Value {
    match value {
        Value::Str(text) => {
            Template::parse(text).map_or_else(|| value.clone(), Template::into_value)
        }
        Value::Array(array) => Value::array(array.items().iter().map(with_templates).collect()),
        Value::Hash(hash) => Value::hash(
            hash.iter()
                .map(|(key, value)| (with_templates(key), with_templates(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}
