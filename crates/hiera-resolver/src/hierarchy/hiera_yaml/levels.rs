//! The levels of a configuration of version 5.

use arcstr::ArcStr;
use psych_yaml::Mark;
use puppet_values::Value;

use super::check::{Check, Settings};
use super::document::{Content, Node};
use super::{FUNCTION_KEYS, LOCATION_KEYS};
use crate::data_functions::{self, LegacyBackend, LevelFunction};
use crate::hierarchy::{LayerKind, Level};

/// What applies to a level that does not set it.
#[derive(Default)]
pub(super) struct Defaults {
    pub(super) function: Option<LevelFunction>,
    pub(super) datadir: Option<ArcStr>,
    pub(super) options: Option<Value>,
}

impl Check {
    /// A list of levels.
    pub(super) fn levels(&mut self, node: &Node, setting: &str, defaults: &Defaults) -> Vec<Level> {
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

    /// Refuses levels of the same name.
    pub(super) fn check_names(&mut self, levels: &[Level]) {
        for (index, level) in levels.iter().enumerate() {
            let mut before = levels.iter().take(index);
            if let Some(first) = before.find(|other| other.name() == level.name()) {
                let problem = format!(
                    "level name `{}` is defined more than once, first at line {}",
                    level.name(),
                    first.line()
                );
                let mark = Mark {
                    line: level.line(),
                    column: 1,
                };
                self.fault(mark, problem);
            }
        }
    }

    fn level(&mut self, node: &Node, defaults: &Defaults) -> Option<Level> {
        let settings = self.settings(node, "a level of the hierarchy")?;
        if settings.get("name").is_none() {
            self.fault(settings.mark, "a level of the hierarchy has no `name`");
        }
        let name = self.text_setting(&settings, "name").unwrap_or_default();
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
        let function = function.unwrap_or(LevelFunction::YAML);
        let level = Level::new(name, function, self.datadir(datadir), locations);
        Some(level.with_options(options).at_line(settings.mark.line))
    }

    fn check_backend(&mut self, settings: &Settings<'_>) {
        let Some(backend) = settings.get("hiera3_backend").and_then(Node::text) else {
            return;
        };
        let mark = settings.mark_of("hiera3_backend");
        if self.kind != LayerKind::Global {
            self.fault(mark, "`hiera3_backend` is only allowed in the global layer");
        } else if let Some((function, _)) = self.version_4_backend(backend) {
            let (kind, name) = function.kind_and_name();
            self.fault(
                mark,
                format!("use `{kind}: {name}` instead of `hiera3_backend`"),
            );
        }
    }

    /// The function that a backend of version 4 means.
    pub(super) fn version_4_backend(
        &self,
        name: &str,
    ) -> Option<(LevelFunction, &'static LegacyBackend)> {
        data_functions::of_backend(self.functions, name).filter(|(_, it)| it.in_version_4)
    }

    pub(super) fn function(
        &mut self,
        settings: &Settings<'_>,
        kind: &'static str,
    ) -> Option<LevelFunction> {
        let name = self.text_setting(settings, kind)?;
        Some(LevelFunction::named(self.functions, kind, name))
    }
}
