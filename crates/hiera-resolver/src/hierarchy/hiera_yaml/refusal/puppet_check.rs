//! The checks of a `hiera.yaml` in Puppet's order.

use puppet_types::{Type, assert_instance};
use puppet_values::{Hash, Value};
use ruby_regex::RubyRegex;

use super::schema::{VERSION_4, VERSION_5, version_3_with};
use super::{Refusal, RefusalKind, without_comment};
use crate::hierarchy::LayerKind;
use crate::hierarchy::hiera_yaml::{FUNCTION_KEYS, LOCATION_KEYS};

/// The settings that name a function, and those that name a location, as messages list them.
const NAMED_FUNCTIONS: &str = "data_hash, lookup_key, data_dig, or hiera3_backend";
const NAMED_LOCATIONS: &str = "path, paths, glob, globs, uri, uris, or mapped_paths";
/// The backends that Puppet itself has functions for.
const BACKENDS: [&str; 3] = ["yaml", "json", "hocon"];

/// A configuration that Puppet refuses.
pub(super) struct PuppetCheck<'a> {
    pub(super) kind: &'a LayerKind,
    pub(super) path: &'a str,
    pub(super) source: &'a str,
}

type Checked = Result<(), Refusal>;

impl PuppetCheck<'_> {
    /// Fails at the first mistake that Puppet finds.
    pub(super) fn document(&self, root: &Hash) -> Checked {
        match version_of(root.get("version")) {
            Some(5) => self.version_5(root.clone()),
            Some(4) => self.version_4(root.clone()),
            Some(3) => self.version_3(root.clone()),
            Some(other) => {
                let text = format!("This runtime does not support hiera.yaml version {other}");
                Err(self.named(&text, None))
            }
            None => Err(Refusal::unexpected()),
        }
    }

    fn version_5(&self, mut root: Hash) -> Checked {
        let mut defaults = Hash::new();
        defaults.insert("datadir".into(), Value::str("data"));
        defaults.insert("data_hash".into(), Value::str("yaml_data"));
        set_default(&mut root, "defaults", Value::hash(defaults));
        let mut common = Hash::new();
        common.insert("name".into(), Value::str("Common"));
        common.insert("path".into(), Value::str("common.yaml"));
        let levels = Value::array(vec![Value::hash(common)]);
        set_default(&mut root, "hierarchy", levels);
        self.check_type(VERSION_5.as_ref(), &root)?;
        let defaults = root.get("defaults").and_then(Value::as_hash);
        self.defaults(defaults)?;
        for setting in ["hierarchy", "plan_hierarchy"] {
            self.levels(&root, setting, defaults)?;
        }
        if root.get("default_hierarchy").is_some() {
            if !matches!(self.kind, LayerKind::Module(_)) {
                let line = self.line_of(r"(?:^|\s+)default_hierarchy:", 1)?;
                let text = "'default_hierarchy' is only allowed in the module layer";
                return Err(self.named(text, line));
            }
            self.levels(&root, "default_hierarchy", defaults)?;
        }
        for setting in ["hierarchy", "default_hierarchy"] {
            let mut seen = Vec::new();
            for level in hashes_of(root.get(setting)) {
                self.check_name(&mut seen, level, 5)?;
            }
        }
        Ok(())
    }

    fn defaults(&self, defaults: Option<&Hash>) -> Checked {
        let Some(defaults) = defaults else {
            return Ok(());
        };
        if count(defaults, &FUNCTION_KEYS[..4]) > 1 {
            let text = format!("Only one of {NAMED_FUNCTIONS} can be defined in defaults");
            return Err(self.named(&text, None));
        }
        match reserved_option(defaults) {
            Some(key) => {
                let text = format!("Option key '{key}' used in defaults is reserved by Puppet");
                Err(self.named(&text, None))
            }
            None => Ok(()),
        }
    }

    fn levels(&self, root: &Hash, setting: &str, defaults: Option<&Hash>) -> Checked {
        hashes_of(root.get(setting)).try_for_each(|level| self.level(level, defaults))
    }

    fn level(&self, level: &Hash, defaults: Option<&Hash>) -> Checked {
        let name = level
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let fail = |text: String| Err(self.named(&text, None));
        match count(level, &FUNCTION_KEYS) {
            0 if defaults.is_none_or(|defaults| count(defaults, &FUNCTION_KEYS[..4]) == 0) => {
                return fail(format!(
                    "One of {NAMED_FUNCTIONS} must be defined in hierarchy '{name}'"
                ));
            }
            0 | 1 => {}
            _ => {
                return fail(format!(
                    "Only one of {NAMED_FUNCTIONS} can be defined in hierarchy '{name}'"
                ));
            }
        }
        if let Some(backend) = level.get("hiera3_backend").and_then(Value::as_str) {
            self.backend(backend)?;
        }
        if count(level, &LOCATION_KEYS) > 1 {
            return fail(format!(
                "Only one of {NAMED_LOCATIONS} can be defined in hierarchy '{name}'"
            ));
        }
        match reserved_option(level) {
            Some(key) => fail(format!(
                "Option key '{key}' used in hierarchy '{name}' is reserved by Puppet"
            )),
            None => Ok(()),
        }
    }

    fn backend(&self, backend: &str) -> Checked {
        if *self.kind != LayerKind::Global {
            let line = self.line_of(r"\s+hiera3_backend:", 1)?;
            let text = "'hiera3_backend' is only allowed in the global layer";
            return Err(self.named(text, line));
        }
        if BACKENDS.contains(&backend) {
            let pattern = format!(r#"\s+hiera3_backend:\s*['"]?{backend}(?:[^\w]|$)"#);
            let line = self.line_of(&pattern, 1)?;
            let text = format!(
                "Use \"data_hash: {backend}_data\" instead of \"hiera3_backend: {backend}\""
            );
            return Err(self.named(&text, line));
        }
        Ok(())
    }

    fn version_4(&self, mut root: Hash) -> Checked {
        set_default(&mut root, "datadir", Value::str("data"));
        let mut common = Hash::new();
        common.insert("name".into(), Value::str("common"));
        common.insert("backend".into(), Value::str("yaml"));
        let levels = Value::array(vec![Value::hash(common)]);
        set_default(&mut root, "hierarchy", levels);
        self.check_type(VERSION_4.as_ref(), &root)?;
        if *self.kind == LayerKind::Global {
            let text = "hiera.yaml version 4 cannot be used in the global layer";
            return Err(self.named(text, None));
        }
        let mut seen = Vec::new();
        for level in hashes_of(root.get("hierarchy")) {
            self.check_name(&mut seen, level, 4)?;
            let backend = level.get("backend").and_then(Value::as_str);
            let backend = backend.unwrap_or_default();
            if !BACKENDS.contains(&backend) {
                let line = self.line_of(&format!(r"[^\w]{backend}(?:[^\w]|$)"), 1)?;
                let text = format!("No data provider is registered for backend '{backend}'");
                return Err(self.late(&text, line, 4));
            }
        }
        Ok(())
    }

    fn version_3(&self, mut root: Hash) -> Checked {
        set_default(&mut root, "version", Value::Int(3));
        set_default(
            &mut root,
            "backends",
            Value::array(vec![Value::str("yaml")]),
        );
        let levels = ["nodes/%{::trusted.certname}", "common"].map(Value::str);
        set_default(&mut root, "hierarchy", Value::array(levels.to_vec()));
        set_default(&mut root, "merge_behavior", Value::str("native"));
        set_default(&mut root, "deep_merge_options", Value::hash(Hash::new()));
        let backends = flattened(root.get("backends"));
        self.check_type(version_3_with(&backends)?.as_ref(), &root)?;
        let mut seen = Vec::new();
        for backend in backends.iter().filter_map(Value::as_str) {
            if seen.contains(&backend) {
                let pattern = format!(r"[^\w]{backend}(?:[^\w]|$)");
                let text = format!("Backend '{backend}' is defined more than once.");
                return Err(self.twice(&text, &pattern, 3));
            }
            seen.push(backend);
        }
        Ok(())
    }

    /// Fails if a level before this one has the same name.
    fn check_name<'l>(&self, seen: &mut Vec<&'l str>, level: &'l Hash, version: u8) -> Checked {
        let name = level
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if seen.contains(&name) {
            // Puppet: the name is part of the pattern, unescaped.
            let pattern = format!(r#"\s+name:\s+['"]?{name}(?:[^\w]|$)"#);
            let text = format!("Hierarchy name '{name}' defined more than once.");
            return Err(self.twice(&text, &pattern, version));
        }
        seen.push(name);
        Ok(())
    }

    fn twice(&self, text: &str, pattern: &str, version: u8) -> Refusal {
        let lines = self.line_of(pattern, 1).and_then(|first| {
            let second = match first {
                Some(first) => self.line_of(pattern, first + 1)?,
                None => None,
            };
            Ok((first, second))
        });
        match lines {
            Err(refusal) => Refusal {
                late: Some(version),
                ..refusal
            },
            Ok((Some(first), Some(second))) => {
                let text = format!("{text} First defined at (line: {first})");
                self.late(&text, Some(second), version)
            }
            Ok((line, _)) => self.late(text, line, version),
        }
    }

    fn check_type(&self, expected: Option<&Type>, root: &Hash) -> Checked {
        let Some(expected) = expected else {
            return Err(Refusal::unexpected());
        };
        let subject = format!("The Lookup Configuration at '{}'", self.path);
        assert_instance(&subject, expected, &Value::hash(root.clone())).map_err(|mismatch| {
            Refusal {
                kind: RefusalKind::Puppet,
                text: mismatch.to_string(),
                late: None,
            }
        })
    }

    fn named(&self, text: &str, line: Option<usize>) -> Refusal {
        let line = line.map_or(String::new(), |line| format!(", line: {line}"));
        Refusal {
            kind: RefusalKind::Named,
            text: format!("{text} (file: {}{line})", self.path),
            late: None,
        }
    }

    fn late(&self, text: &str, line: Option<usize>, version: u8) -> Refusal {
        Refusal {
            late: Some(version),
            ..self.named(text, line)
        }
    }

    /// The first line from `start` on that the pattern matches outside of comments.
    fn line_of(&self, pattern: &str, start: usize) -> Result<Option<usize>, Refusal> {
        let Ok(pattern) = RubyRegex::new(pattern) else {
            return Err(Refusal::unexpected());
        };
        let mut lines = self.source.split_inclusive('\n').enumerate();
        let found = lines.find(|(index, line)| {
            index + 1 >= start && pattern.is_match(without_comment(line)).unwrap_or(false)
        });
        Ok(found.map(|(index, _)| index + 1))
    }
}

/// The result of Ruby's `to_i` for a version; `None` if it has no such method. A missing version is 3.
fn version_of(version: Option<&Value>) -> Option<i64> {
    match version {
        None | Some(Value::Null | Value::Bool(false)) => Some(3),
        Some(Value::Int(number)) => Some(*number),
        Some(Value::Float(number)) => Some(*number as i64),
        Some(Value::Str(text)) => {
            let text = text.trim_start();
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let end = digits.find(|letter: char| !letter.is_ascii_digit());
            let digits = digits.get(..end.unwrap_or(digits.len()))?;
            let number: i64 = digits.parse().unwrap_or(0);
            Some(if text.starts_with('-') {
                -number
            } else {
                number
            })
        }
        _ => None,
    }
}

fn set_default(root: &mut Hash, name: &str, value: Value) {
    if matches!(
        root.get(name),
        None | Some(Value::Null | Value::Bool(false))
    ) {
        root.insert(name.into(), value);
    }
}

fn hashes_of(levels: Option<&Value>) -> impl Iterator<Item = &Hash> {
    let items = match levels {
        Some(Value::Array(array)) => array.items(),
        _ => &[],
    };
    items.iter().filter_map(Value::as_hash)
}

fn count(settings: &Hash, names: &[&str]) -> usize {
    let is_set = |name: &&&str| settings.get(name).is_some();
    names.iter().filter(is_set).count()
}

fn reserved_option(settings: &Hash) -> Option<&'static str> {
    let options = settings.get("options").and_then(Value::as_hash)?;
    ["path", "uri"]
        .into_iter()
        .find(|name| options.get(name).is_some())
}

fn flattened(value: Option<&Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(array)) => {
            let items = array.items().iter();
            items.flat_map(|item| flattened(Some(item))).collect()
        }
        Some(value) => vec![value.clone()],
        None => Vec::new(),
    }
}
