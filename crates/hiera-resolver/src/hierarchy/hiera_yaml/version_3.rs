//! `hiera.yaml` of version 3, which Puppet reads in the global layer only.
//!
//! It has backends instead of levels. Here each is a level whose paths are the whole hierarchy.

use std::borrow::Cow;

use psych_yaml::Mark;

use super::Checked;
use super::check::{Check, Settings};
use super::document::{Content, Node};
use super::options::with_templates;
use crate::data_functions::{self, LevelFunction};
use crate::hierarchy::{ConfigFault, ConfigText, HieraConfig, LayerKind, Level, Locations, path};

impl Check {
    /// Checks a whole file. `what` says why it counts as one of this version.
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
        for (index, level) in levels.iter().enumerate() {
            let mut before = levels.iter().take(index);
            if before.any(|other| other.name() == level.name()) {
                self.fault(
                    root.mark_of("backends"),
                    format!("backend `{}` is named more than once", level.name()),
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
        let config = HieraConfig::new(self.kind.clone(), self.path.clone(), 3, levels);
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
        let known = data_functions::of_backend(self.functions, backend);
        let extension = match (text(self, "extension"), &known) {
            (Some(extension), _) => format!(".{extension}"),
            (None, Some((_, known))) => known.extension.to_owned(),
            (None, None) => format!(".{backend}"),
        };
        let function = match known {
            Some((function, _)) => function,
            None => LevelFunction::Unknown {
                kind: "backend",
                name: backend.into(),
            },
        };
        // The section of a backend is read as options if these name its keys.
        let files = function.known().and_then(|function| function.files());
        let options = match root.get(backend) {
            Some(node) if files.is_some_and(|files| files.decrypts()) => {
                Some(with_templates(&node.to_value()))
            }
            _ => None,
        };
        let paths = hierarchy.iter().map(|path| ConfigText::new(path));
        let locations = Locations::Paths(paths.collect());
        Level::new(backend, function, ConfigText::new(&datadir), locations)
            .with_extension(&extension)
            .with_options(options)
            .at_line(root.mark_of(backend).line)
    }

    /// A setting that is a string or a list of strings.
    fn one_or_several<'a>(
        &mut self,
        root: &Settings<'a>,
        name: &str,
        default: &'a str,
    ) -> Vec<Cow<'a, str>> {
        let Some(node) = root.get(name).filter(|node| !node.is_null()) else {
            return vec![default.into()];
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
