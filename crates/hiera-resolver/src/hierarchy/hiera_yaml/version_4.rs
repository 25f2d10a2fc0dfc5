//! `hiera.yaml` of version 4, from Puppet 4.3: Puppet 7 still reads it in environments and modules.

use psych_yaml::Mark;

use super::Checked;
use super::check::{Check, Settings};
use super::document::{Content, Node};
use crate::data_functions::LevelFunction;
use crate::hierarchy::{ConfigText, HieraConfig, Level, Locations};

impl Check {
    /// Checks a whole file.
    pub(super) fn version_4(&mut self, root: &Settings<'_>) -> Option<Checked> {
        self.known_only(root, &["version", "datadir", "hierarchy"], "hiera.yaml");
        let datadir = self.text_setting(root, "datadir").unwrap_or("data");
        let levels: Vec<Level> = match root.get("hierarchy").filter(|node| !node.is_null()) {
            Some(Node {
                content: Content::List(nodes),
                ..
            }) => nodes
                .iter()
                .filter_map(|node| self.version_4_level(node, datadir))
                .collect(),
            Some(node) => {
                self.fault(
                    node.mark,
                    format!("`hierarchy` must be a list of levels, not {}", node.kind()),
                );
                Vec::new()
            }
            None => vec![self.version_4_common(datadir, root.mark)],
        };
        self.check_names(&levels);
        let config = HieraConfig::new(self.kind.clone(), self.path.clone(), 4, levels);
        Some(Checked::Config(config))
    }

    /// Puppet does not interpolate the data directories of this version.
    fn literal_datadir(&self, written: &str) -> ConfigText {
        ConfigText::literal(self.datadir(Some(written)).source())
    }

    fn version_4_common(&self, datadir: &str, mark: Mark) -> Level {
        let locations = Locations::Paths(vec![ConfigText::new("common")]);
        let datadir = self.literal_datadir(datadir);
        Level::new("common", LevelFunction::YAML, datadir, locations)
            .with_extension(".yaml")
            .at_line(mark.line)
    }

    fn version_4_level(&mut self, node: &Node, datadir: &str) -> Option<Level> {
        let settings = self.settings(node, "a level of the hierarchy")?;
        let name = self.text_setting(&settings, "name");
        if settings.get("name").is_none() {
            self.fault(settings.mark, "a level of the hierarchy has no `name`");
        }
        let name = name.unwrap_or_default();
        self.known_only(
            &settings,
            &["name", "backend", "datadir", "path", "paths"],
            &format!("level `{name}`"),
        );
        let backend = self.text_setting(&settings, "backend");
        let known = backend.and_then(|backend| self.version_4_backend(backend));
        let (function, extension) = match known {
            Some((function, known)) => (function, known.extension),
            None => {
                let problem = format!(
                    "level `{name}` has no backend that is known: {}",
                    backend.unwrap_or("none")
                );
                self.fault(settings.mark_of("backend"), problem);
                (LevelFunction::YAML, ".yaml")
            }
        };
        let paths = match (settings.get("paths"), self.text_setting(&settings, "path")) {
            (Some(_), _) => self.list_setting(&settings, "paths"),
            (None, path) => vec![ConfigText::new(path.unwrap_or(name))],
        };
        let own = self.text_setting(&settings, "datadir");
        let datadir = self.literal_datadir(own.unwrap_or(datadir));
        let level = Level::new(name, function, datadir, Locations::Paths(paths));
        Some(level.with_extension(extension).at_line(settings.mark.line))
    }
}
