//! How Puppet tells of a `hiera.yaml` that it refuses.
//!
//! It stops at the first mistake, in an order of its own: what is there at all is checked against a type, then
//! each level by itself, and only a lookup finds out about names that occur twice.

use std::sync::LazyLock;

use super::LayerKind;
use super::check::{FUNCTION_KEYS, LOCATION_KEYS};
use crate::Value;
use crate::hash::Hash;
use crate::types::{StructElement, Type, assert_instance};
use ruby_regex::RubyRegex;

/// What Puppet says of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) text: String,
    /// The version of a configuration that can be read, and fails where its levels are worked out.
    pub(crate) late: Option<u8>,
}

/// What kind of error it is to Puppet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// One of the lookup, with a name of its own.
    Named,
    /// Another that it knows.
    Puppet,
    /// One that it does not expect.
    Unexpected,
}

/// The functions that a level of version 5 may name, and `defaults` too.
const NAMED_FUNCTIONS: &str = "data_hash, lookup_key, data_dig, or hiera3_backend";
const NAMED_LOCATIONS: &str = "path, paths, glob, globs, uri, uris, or mapped_paths";

static VERSION_5: LazyLock<Option<Type>> = LazyLock::new(|| {
    let text = "String[1]";
    let list = "Array[String[1], 1, default]";
    let options = r"Hash[Pattern[/\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z/], Data]";
    let levels = format!(
        "Array[Struct[{{name => {text}, Optional[options] => {options}, Optional[data_hash] => {text}, \
         Optional[lookup_key] => {text}, Optional[hiera3_backend] => {text}, Optional[v4_data_hash] => {text}, \
         Optional[data_dig] => {text}, Optional[path] => {text}, Optional[paths] => {list}, \
         Optional[glob] => {text}, Optional[globs] => {list}, Optional[uri] => {text}, \
         Optional[uris] => {list}, Optional[mapped_paths] => Array[String[1], 3, 3], \
         Optional[datadir] => {text}}}]]"
    );
    let defaults = format!(
        "Struct[{{Optional[data_hash] => {text}, Optional[lookup_key] => {text}, \
         Optional[data_dig] => {text}, Optional[datadir] => {text}, Optional[options] => {options}}}]"
    );
    let whole = format!(
        "Struct[{{version => Integer[5, 5], Optional[defaults] => {defaults}, \
         Optional[hierarchy] => {levels}, Optional[plan_hierarchy] => {levels}, \
         Optional[default_hierarchy] => {levels}}}]"
    );
    Type::parse(&whole).ok()
});

static VERSION_4: LazyLock<Option<Type>> = LazyLock::new(|| {
    let whole = "Struct[{version => Integer[4, 4], Optional[datadir] => String[1], \
         Optional[hierarchy] => Array[Struct[{backend => String[1], name => String[1], \
         Optional[datadir] => String[1], Optional[path] => String[1], \
         Optional[paths] => Array[String[1]]}]]}]";
    Type::parse(whole).ok()
});

static VERSION_3: LazyLock<Option<Type>> = LazyLock::new(|| {
    let whole = "Struct[{Optional[version] => Integer[3, 3], \
         Optional[backends] => Variant[String[1], Array[String[1]]], Optional[logger] => String[1], \
         Optional[merge_behavior] => Enum['deep', 'deeper', 'native'], \
         Optional[deep_merge_options] => Hash[String[1], Variant[String, Boolean]], \
         Optional[hierarchy] => Variant[String[1], Array[String[1]]]}]";
    Type::parse(whole).ok()
});

impl Refusal {
    /// One that Puppet does not expect, and so has no words for.
    pub(crate) fn unexpected() -> Self {
        Refusal {
            kind: RefusalKind::Unexpected,
            text: String::new(),
            late: None,
        }
    }

    /// Of a file of version 3 that is not in the global layer.
    pub(super) fn not_global(kind: &LayerKind, path: &str) -> Self {
        let layer = match kind {
            LayerKind::Module(_) => "a module",
            LayerKind::Global | LayerKind::Environment => "an environment",
        };
        Refusal {
            kind: RefusalKind::Named,
            text: format!("hiera.yaml version 3 cannot be used in {layer} (file: {path})"),
            late: None,
        }
    }

    /// Of a file that is no YAML.
    pub(super) fn of_syntax(error: &psych_yaml::ReadError, path: &str) -> Self {
        Refusal {
            kind: RefusalKind::Puppet,
            text: error.puppet_message(path),
            late: None,
        }
    }

    /// Of a file that holds a hash.
    pub(super) fn of_document(kind: &LayerKind, path: &str, source: &[u8], root: &Hash) -> Self {
        let source = String::from_utf8_lossy(source);
        let judge = Judge {
            kind,
            path,
            source: &source,
        };
        match judge.document(root) {
            Err(refusal) => refusal,
            Ok(()) => Refusal::unexpected(),
        }
    }
}

struct Judge<'a> {
    kind: &'a LayerKind,
    path: &'a str,
    source: &'a str,
}

type Verdict = Result<(), Refusal>;

impl Judge<'_> {
    fn document(&self, root: &Hash) -> Verdict {
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

    fn version_5(&self, mut root: Hash) -> Verdict {
        let mut defaults = Hash::new();
        defaults.insert("datadir".into(), Value::str("data"));
        defaults.insert("data_hash".into(), Value::str("yaml_data"));
        set_unless_there(&mut root, "defaults", Value::hash(defaults));
        let mut common = Hash::new();
        common.insert("name".into(), Value::str("Common"));
        common.insert("path".into(), Value::str("common.yaml"));
        let levels = Value::array(vec![Value::hash(common)]);
        set_unless_there(&mut root, "hierarchy", levels);
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

    fn defaults(&self, defaults: Option<&Hash>) -> Verdict {
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

    fn levels(&self, root: &Hash, setting: &str, defaults: Option<&Hash>) -> Verdict {
        hashes_of(root.get(setting)).try_for_each(|level| self.level(level, defaults))
    }

    fn level(&self, level: &Hash, defaults: Option<&Hash>) -> Verdict {
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

    fn backend(&self, backend: &str) -> Verdict {
        if *self.kind != LayerKind::Global {
            let line = self.line_of(r"\s+hiera3_backend:", 1)?;
            let text = "'hiera3_backend' is only allowed in the global layer";
            return Err(self.named(text, line));
        }
        if matches!(backend, "yaml" | "json" | "hocon") {
            let pattern = format!(r#"\s+hiera3_backend:\s*['"]?{backend}(?:[^\w]|$)"#);
            let line = self.line_of(&pattern, 1)?;
            let text = format!(
                "Use \"data_hash: {backend}_data\" instead of \"hiera3_backend: {backend}\""
            );
            return Err(self.named(&text, line));
        }
        Ok(())
    }

    fn version_4(&self, mut root: Hash) -> Verdict {
        set_unless_there(&mut root, "datadir", Value::str("data"));
        let mut common = Hash::new();
        common.insert("name".into(), Value::str("common"));
        common.insert("backend".into(), Value::str("yaml"));
        let levels = Value::array(vec![Value::hash(common)]);
        set_unless_there(&mut root, "hierarchy", levels);
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
            if !matches!(backend, "yaml" | "json" | "hocon") {
                let line = self.line_of(&format!(r"[^\w]{backend}(?:[^\w]|$)"), 1)?;
                let text = format!("No data provider is registered for backend '{backend}'");
                return Err(self.late(&text, line, 4));
            }
        }
        Ok(())
    }

    fn version_3(&self, mut root: Hash) -> Verdict {
        set_unless_there(&mut root, "version", Value::Int(3));
        set_unless_there(
            &mut root,
            "backends",
            Value::array(vec![Value::str("yaml")]),
        );
        let levels = ["nodes/%{::trusted.certname}", "common"].map(Value::str);
        set_unless_there(&mut root, "hierarchy", Value::array(levels.to_vec()));
        set_unless_there(&mut root, "merge_behavior", Value::str("native"));
        set_unless_there(&mut root, "deep_merge_options", Value::hash(Hash::new()));
        let backends = flattened(root.get("backends"));
        self.check_type(with_backends(&backends)?.as_ref(), &root)?;
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

    /// Has a level before this one the same name?
    fn check_name<'l>(&self, seen: &mut Vec<&'l str>, level: &'l Hash, version: u8) -> Verdict {
        let name = level
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if seen.contains(&name) {
            // Puppet: the name is part of the pattern as it stands.
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

    fn check_type(&self, expected: Option<&Type>, root: &Hash) -> Verdict {
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

    /// The first line from `start` on in which the pattern matches before any comment.
    fn line_of(&self, pattern: &str, start: usize) -> Result<Option<usize>, Refusal> {
        let Ok(pattern) = RubyRegex::new(pattern) else {
            return Err(Refusal::unexpected());
        };
        let mut lines = self.source.split_inclusive('\n').enumerate();
        let found = lines.find(|(place, line)| {
            place + 1 >= start && pattern.is_match(without_comment(line)).unwrap_or(false)
        });
        Ok(found.map(|(place, _)| place + 1))
    }
}

/// A line up to what may be a comment. Puppet: a `#` in quotes counts too.
pub(super) fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default()
}

/// What Ruby's `to_i` makes of a version; `None` where it has none. Nothing is 3.
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

fn set_unless_there(root: &mut Hash, name: &str, value: Value) {
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

/// The type of version 3, in which every backend may have settings of its own.
fn with_backends(backends: &[Value]) -> Result<Option<Type>, Refusal> {
    let (Some(Type::Struct(settings)), Ok(value)) =
        (VERSION_3.as_ref(), Type::parse("Hash[String[1], Any]"))
    else {
        return Ok(None);
    };
    let mut elements = settings.to_vec();
    for backend in backends {
        let Value::Str(name) = backend else {
            return Err(Refusal::unexpected());
        };
        elements.retain(|element| element.name != *name);
        elements.push(StructElement {
            name: name.clone(),
            optional: true,
            value: value.clone(),
        });
    }
    Ok(Some(Type::Struct(elements.into())))
}
