//! The locations of a level of version 5.

use super::LOCATION_KEYS;
use super::check::{Check, Settings};
use crate::hierarchy::{ConfigText, Locations};
use crate::template::Variable;

impl Check {
    /// Where a level looks.
    pub(super) fn locations(&mut self, settings: &Settings<'_>, shown: &str) -> Locations {
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
            let texts: Vec<ConfigText> = self
                .text_setting(settings, kind)
                .map(ConfigText::new)
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
}
