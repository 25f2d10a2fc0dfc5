//! [`Traits`]: facts about a whole value that are computed once.

use super::Value;

/// Facts about a value and everything in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Levels of nesting: 0 for a scalar, 1 for `[]`.
    pub depth: u16,
    /// The approximate size of its output in units of 16 bytes. Shared parts count each time.
    pub weight: u32,
    /// It contains interpolation tokens.
    pub has_templates: bool,
    /// It contains a Symbol, or a hash key that is neither a string nor a number.
    pub is_irregular: bool,
    /// It contains a Sensitive.
    pub has_sensitive: bool,
    /// It is not of Puppet's type `Data`: it contains a Symbol, a rich value, a Sensitive, or a hash key that is not a
    /// string.
    pub is_beyond_data: bool,
}

impl Traits {
    /// Adds a part of the value.
    fn add(&mut self, part: &Value) {
        match part {
            // Most parts are one of these, and only add weight.
            Value::Str(text) => self.add_weight(weight_of(text.len())),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => self.add_weight(1),
            _ => self.include(part.traits()),
        }
    }

    fn add_weight(&mut self, weight: u32) {
        self.weight = self.weight.saturating_add(weight);
    }

    fn include(&mut self, inner: Traits) {
        self.depth = self.depth.max(inner.depth.saturating_add(1));
        self.add_weight(inner.weight);
        self.has_templates |= inner.has_templates;
        self.is_irregular |= inner.is_irregular;
        self.has_sensitive |= inner.has_sensitive;
        self.is_beyond_data |= inner.is_beyond_data;
    }

    /// The traits of an array of these values.
    pub fn of_items<'a>(items: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut traits = Traits {
            depth: 1,
            weight: 1,
            ..Traits::default()
        };
        for item in items {
            traits.add(item);
        }
        traits
    }

    /// The traits of a hash of these entries.
    pub fn of_entries<'a>(entries: impl IntoIterator<Item = (&'a Value, &'a Value)>) -> Self {
        let mut traits = Traits {
            depth: 1,
            weight: 1,
            ..Traits::default()
        };
        for (key, value) in entries {
            traits.add(key);
            if !matches!(key, Value::Str(_)) {
                traits.is_irregular |= !key.is_data_key();
                traits.is_beyond_data |= !matches!(key, Value::Template(_) | Value::Bytes(_));
            }
            traits.add(value);
        }
        traits
    }
}

/// The weight of a string.
pub(super) fn weight_of(length: usize) -> u32 {
    u32::try_from(length / 16)
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}
