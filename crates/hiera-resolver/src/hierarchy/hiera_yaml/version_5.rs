//! `hiera.yaml` of version 5, the current one.

use arcstr::ArcStr;
use psych_yaml::Mark;

use super::check::{Check, Settings};
use super::document::Node;
use super::levels::Defaults;
use super::{Checked, FUNCTION_KEYS};
use crate::data_functions::LevelFunction;
use crate::hierarchy::path::join;
use crate::hierarchy::{ConfigText, HieraConfig, LayerKind, Level, Locations};

const ROOT_KEYS: [&str; 5] = [
    "version",
    "defaults",
    "hierarchy",
    "plan_hierarchy",
    "default_hierarchy",
];
const DEFAULTS_KEYS: [&str; 5] = ["data_hash", "lookup_key", "data_dig", "datadir", "options"];

impl Check {
    /// Checks a whole file.
    pub(super) fn version_5(&mut self, root: &Settings<'_>) -> Option<Checked> {
        self.known_only(root, &ROOT_KEYS, "hiera.yaml");
        let defaults = match root.get("defaults").filter(|node| !node.is_null()) {
            Some(node) => self.defaults(node),
            None => Defaults {
                function: Some(LevelFunction::YAML),
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
        Some(Checked::Config(HieraConfig {
            default_levels,
            ..HieraConfig::new(self.kind.clone(), self.path.clone(), 5, levels)
        }))
    }

    /// Puppet's level for a configuration that names none.
    fn common_level(&mut self, defaults: &Defaults, mark: Mark) -> Level {
        let function = defaults.function.clone().unwrap_or_else(|| {
            self.fault(mark, "level `Common` (there is no `hierarchy`) has no data function, and `defaults` names none");
            LevelFunction::YAML
        });
        let datadir = self.datadir(defaults.datadir.as_deref());
        let locations = Locations::Paths(vec![ConfigText::new("common.yaml")]);
        Level::new("Common", function, datadir, locations)
            .with_options(defaults.options.clone())
            .at_line(mark.line)
    }

    pub(super) fn datadir(&self, written: Option<&str>) -> ConfigText {
        ConfigText::new(&join(&self.root, written.unwrap_or("data")))
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
}
