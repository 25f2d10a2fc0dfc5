//! [`RawObject`]: a JSON object whose names are parsed and whose values are still text.

use std::borrow::Cow;

use hiera_resolver::data::json;
use hiera_resolver::{Hash, Value};

use super::json_scanner::{JsonScanner, ScanResult};

/// The members of an object: their names, and the text of their values.
#[derive(Debug, Default)]
pub(crate) struct RawObject<'a> {
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> RawObject<'a> {
    /// Takes an object.
    pub(crate) fn scan(scanner: &mut JsonScanner<'a>) -> ScanResult<Self> {
        let mut members = Vec::with_capacity(64);
        scanner.object(|scanner, name| {
            members.push((name, scanner.value()?));
            Ok(())
        })?;
        Ok(RawObject { members })
    }

    /// The member of this name; the last one if there are several.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.members
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Is this member a string? `None` if there is no such member.
    pub(crate) fn is_text(&self, name: &str) -> Option<bool> {
        Some(self.get(name)?.starts_with('"'))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_ref())
    }

    /// The whole object as a value.
    pub(crate) fn to_hash(&self, parse: impl Fn(&str) -> Value) -> Hash {
        self.members
            .iter()
            .map(|(name, value)| (Value::str(name), parse(value)))
            .collect()
    }
}

/// Parses the text of a value that has been scanned, which cannot fail any more.
pub(crate) fn parse_scanned(raw: &str) -> Value {
    json::parse(raw.as_bytes(), &mut |text| Value::str(text)).unwrap_or_default()
}
