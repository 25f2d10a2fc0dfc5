//! [`ConfigText`]: a string of a configuration, parsed once.

use arcstr::ArcStr;

use super::path;
use crate::template::{Part, Template};

/// A string of a configuration, such as a path, which may have `%{...}` tokens.
#[derive(Clone, Debug)]
pub struct ConfigText {
    source: ArcStr,
    template: Option<Template>,
    /// It is a path without empty components and ones that start with a dot, once its tokens are names.
    is_plain: bool,
}

impl ConfigText {
    /// Parses a string.
    pub fn new(source: &str) -> Self {
        match Template::parse(source) {
            None => ConfigText::literal(source),
            Some(template) => ConfigText {
                source: source.into(),
                is_plain: path::is_plain(&template.with_tokens_as("x")),
                template: Some(template),
            },
        }
    }

    /// Takes a string as it is, with or without tokens.
    pub(crate) fn literal(source: &str) -> Self {
        ConfigText {
            source: source.into(),
            template: None,
            is_plain: path::is_plain(source.strip_prefix('/').unwrap_or(source)),
        }
    }

    /// As written.
    pub fn source(&self) -> &ArcStr {
        &self.source
    }

    /// Its text and tokens in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        let plain = match &self.template {
            None => Some(Part::Text(self.source.clone())),
            Some(_) => None,
        };
        let parts = self.template.iter().flat_map(Template::parts).cloned();
        plain.into_iter().chain(parts)
    }

    /// Its parts, if it has tokens.
    pub fn template(&self) -> Option<&Template> {
        self.template.as_ref()
    }

    /// Is it a path that can be joined as written, once its tokens are names?
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }
}
