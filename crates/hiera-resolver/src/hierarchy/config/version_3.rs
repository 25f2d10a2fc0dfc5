//! `hiera.yaml` of version 3: Puppet reads it in the global layer, and nowhere else.
//!
//! It has backends instead of levels: each is a level here, whose paths are the whole hierarchy.

use std::borrow::Cow;

use psych_yaml::Mark;

use super::check::{Check, Checked, Settings, with_templates};
use super::document::{Content, Node};
use super::{ConfigFault, DataFunction, HieraConfig, LayerKind, Level, Locations, Text};
use crate::path;

impl Check {
    /// Checks the settings of a whole file. `what` says why it counts as one of this version.
    pub(super) fn version_3(&mut self, root: &Settings<'_>, what: &str) -> Option<Checked> {
        let backends = self.one_or_several(root, "backends", "yaml");
        let mut known = vec![
            "version",
            "backends",
            "logger",
            "merge_behavior",
            "deep_merge_options",
            "hierarchy",
        ];
        known.extend(backends.iter().map(AsRef::as_ref));
        self.known_only(root, &known, "hiera.yaml of version 3");
        let hierarchy = match root.get("hierarchy") {
            Some(node) if !node.is_null() => self.one_or_several(root, "hierarchy", ""),
            _ => vec!["nodes/%{::trusted.certname}".into(), "common".into()],
        };
        if let Some(node) = root.get("merge_behavior").filter(|node| !node.is_null())
            && !matches!(node.text(), Some("deep" | "deeper" | "native"))
        {
            self.fault(node.mark, "`merge_behavior` must be native, deep or deeper");
        }
        let levels: Vec<Level> = backends
            .iter()
            .map(|backend| self.backend_level(root, backend, &hierarchy))
            .collect();
        for (place, level) in levels.iter().enumerate() {
            if levels
                .iter()
                .take(place)
                .any(|other| other.name == level.name)
            {
                self.fault(
                    root.mark_of("backends"),
                    format!("backend `{}` is named more than once", level.name),
                );
            }
        }
        if self.kind != LayerKind::Global {
            let problem = format!("{what}, which works only in the global layer");
            let mark = root.mark;
            return Some(Checked::Ignored(ConfigFault {
                path: self.path.clone(),
                line: mark.line,
                column: mark.column,
                problem,
            }));
        }
        let config = HieraConfig {
            kind: self.kind.clone(),
            path: Some(self.path.clone()),
            version: 3,
            levels,
            default_levels: None,
            required: Vec::new(),
        };
        Some(Checked::Config(config))
    }

    fn backend_level(
        &mut self,
        root: &Settings<'_>,
        backend: &str,
        hierarchy: &[Cow<'_, str>],
    ) -> Level {
        let own = root
            .get(backend)
            .filter(|node| !node.is_null())
            .and_then(|node| self.settings(node, backend));
        let text = |check: &mut Self, name: &str| {
            own.as_ref()
                .and_then(|settings| check.text_setting(settings, name))
                .map(ToOwned::to_owned)
        };
        let datadir = match text(self, "datadir") {
            Some(datadir) => path::join(&self.root, &datadir),
            None => format!("{}/environments/%{{::environment}}/hieradata", self.codedir),
        };
        let extension = match text(self, "extension") {
            Some(extension) => format!(".{extension}"),
            None if backend == "hocon" => ".conf".to_owned(),
            None => format!(".{backend}"),
        };
        let options = match (backend, root.get(backend)) {
            ("eyaml", Some(node)) => Some(with_templates(&node.to_value())),
            _ => None,
        };
        let function = match backend {
            "yaml" => DataFunction::Yaml,
            "json" => DataFunction::Json,
            "hocon" => DataFunction::Hocon,
            "eyaml" => DataFunction::Eyaml,
            other => DataFunction::Unknown {
                kind: "backend",
                name: other.into(),
            },
        };
        Level {
            name: backend.into(),
            function,
            datadir: Text::new(&datadir),
            locations: Locations::Paths(hierarchy.iter().map(|path| Text::new(path)).collect()),
            extension: Some(extension.into()),
            options,
            line: root.mark_of(backend).line,
        }
    }

    /// A setting that is a string or a list of such.
    fn one_or_several<'a>(
        &mut self,
        root: &Settings<'a>,
        name: &str,
        usual: &'a str,
    ) -> Vec<Cow<'a, str>> {
        let Some(node) = root.get(name).filter(|node| !node.is_null()) else {
            return vec![usual.into()];
        };
        match &node.content {
            Content::List(items) => items
                .iter()
                .filter_map(|item| self.text_of(item, name))
                .map(Cow::Borrowed)
                .collect(),
            _ => self
                .text_of(node, name)
                .map(Cow::Borrowed)
                .into_iter()
                .collect(),
        }
    }

    fn text_of<'a>(&mut self, node: &'a Node, name: &str) -> Option<&'a str> {
        let text = node.text().filter(|text| !text.is_empty());
        if text.is_none() {
            let mark: Mark = node.mark;
            self.fault(
                mark,
                format!(
                    "`{name}` must be a string or a list of strings, not {}",
                    node.kind()
                ),
            );
        }
        text
    }
}
