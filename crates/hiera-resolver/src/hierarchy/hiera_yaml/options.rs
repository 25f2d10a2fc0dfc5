//! The `options` of a level.

use puppet_values::Value;

use super::check::{Check, Settings};
use super::document::Content;
use crate::template::Template;

impl Check {
    /// The options of a level, with templates if they have tokens. `shown` names the level in messages.
    pub(super) fn options(&mut self, settings: &Settings<'_>, shown: &str) -> Option<Value> {
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
        Some(with_templates(&node.to_value()))
    }
}

/// A letter first, a letter or digit last; dashes, underscores and colons between.
fn is_option_name(name: &str) -> bool {
    let is_inner =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | ':');
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.ends_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(is_inner)
}

/// The value with a template for every string that has tokens.
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
