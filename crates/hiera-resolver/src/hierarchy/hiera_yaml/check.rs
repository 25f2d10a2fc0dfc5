//! [`Check`]: reads settings and collects what is wrong with them.

use arcstr::ArcStr;
use psych_yaml::Mark;

use super::document::{Content, Node};
use crate::data_functions::Functions;
use crate::hierarchy::{ConfigFault, ConfigText, LayerKind, path};

/// The entries of a hash, by name.
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

    /// Which of these names are set, in the order of the names.
    pub(super) fn set_among(&self, names: &[&'static str]) -> Vec<&'static str> {
        names
            .iter()
            .copied()
            .filter(|name| self.get(name).is_some())
            .collect()
    }
}

/// A configuration while it is checked.
pub(super) struct Check {
    /// The functions that levels may name.
    pub(super) functions: Functions,
    pub(super) kind: LayerKind,
    pub(super) path: ArcStr,
    /// The directory of the configuration.
    pub(super) root: String,
    pub(super) codedir: String,
    pub(super) faults: Vec<ConfigFault>,
}

impl Check {
    pub(super) fn new(functions: Functions, kind: LayerKind, path: &str, codedir: &str) -> Self {
        Check {
            functions,
            kind,
            path: path.into(),
            root: path::parent(path).to_owned(),
            codedir: codedir.to_owned(),
            faults: Vec::new(),
        }
    }

    pub(super) fn fault(&mut self, mark: Mark, problem: impl Into<String>) {
        let fault = ConfigFault {
            path: self.path.clone(),
            line: mark.line,
            column: mark.column,
            problem: problem.into(),
        };
        self.faults.push(fault);
    }

    /// The entries of a node that must be a hash.
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

    /// Refuses settings with other names.
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

    /// A setting that must be a non-empty string.
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

    /// A setting that must be a list of non-empty strings.
    pub(super) fn list_setting(&mut self, settings: &Settings<'_>, name: &str) -> Vec<ConfigText> {
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
                Some(text) => texts.push(ConfigText::new(text)),
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
