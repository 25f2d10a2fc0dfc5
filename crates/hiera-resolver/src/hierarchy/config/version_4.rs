//! `hiera.yaml` of version 4, from Puppet 4.3: Puppet 7 still reads it in environments and modules.

use psych_yaml::Mark;

use super::check::{Check, Checked, Settings};
use super::document::{Content, Node};
use super::{DataFunction, HieraConfig, Level, Locations, Text};

impl Check {
    /// Checks the settings of a whole file.
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
        let config = HieraConfig {
            kind: self.kind.clone(),
            path: Some(self.path.clone()),
            version: 4,
            levels,
            default_levels: None,
            required: Vec::new(),
        };
        Some(Checked::Config(config))
    }

    /// Puppet fills in no tokens in the data directories of this version.
    fn literal_datadir(&self, written: &str) -> Text {
        Text::literal(self.datadir(Some(written)).source())
    }

    fn version_4_common(&self, datadir: &str, mark: Mark) -> Level {
        Level {
            name: "common".into(),
            function: DataFunction::Yaml,
            datadir: self.literal_datadir(datadir),
            locations: Locations::Paths(vec![Text::new("common")]),
            extension: Some(".yaml".into()),
            options: None,
            line: mark.line,
        }
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
        let (function, extension) = match self.text_setting(&settings, "backend") {
            Some("yaml") => (DataFunction::Yaml, ".yaml"),
            Some("json") => (DataFunction::Json, ".json"),
            Some("hocon") => (DataFunction::Hocon, ".conf"),
            other => {
                let problem = format!(
                    "level `{name}` has no backend that is known: {}",
                    other.unwrap_or("none")
                );
                self.fault(settings.mark_of("backend"), problem);
                (DataFunction::Yaml, ".yaml")
            }
        };
        let paths = match (settings.get("paths"), self.text_setting(&settings, "path")) {
            (Some(_), _) => self.list_setting(&settings, "paths"),
            (None, path) => vec![Text::new(path.unwrap_or(name))],
        };
        let own = self.text_setting(&settings, "datadir");
        Some(Level {
            name: name.into(),
            function,
            datadir: self.literal_datadir(own.unwrap_or(datadir)),
            locations: Locations::Paths(paths),
            extension: Some(extension.into()),
            options: None,
            line: settings.mark.line,
        })
    }
}
