//! Bodies of `POST /lookup`: the scanner and the scope made of what it finds, held against `serde_json`.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::api::request::{self, Question};
use crate::api::{Scope, Segment, Value, split_segments};
use crate::expect::{is_same_json, json_depth};

/// Texts with a meaning in a body.
pub const DICTIONARY: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\udc00",
    "\\u0061",
    "\\n",
    "true",
    "false",
    "null",
    "-0",
    "0",
    "1e5",
    "-1.5E-3",
    "1e400",
    "9223372036854775808",
    "0.1",
    "\n",
    "\u{feff}",
    "ü",
    "\u{7f}",
    "\"key\":",
    "\"keys\":",
    "\"environment\":",
    "\"facts\":",
    "\"trusted\":",
    "\"node\":",
    "\"variables\":",
    "\"merge\":",
    "\"default\":",
    "\"default_values\":",
    "\"override\":",
    "\"type\":",
    "\"explain\":",
    "\"certname\":",
    "\"a\":",
    "\"\"",
    "{\"a\":{\"b\":[null]}}",
    "0123456789abcdef0123456789abcdef",
];

/// Checks one body.
pub fn check(body: &[u8]) {
    let Ok(text) = std::str::from_utf8(body) else {
        assert!(request::with_request(body, |_, _| ()).is_err());
        return;
    };
    check_value(text);
    check_members(text);
    let checked = request::with_request(body, |question, scope| {
        if let Ok(judge) = serde_json::from_str::<Json>(text) {
            check_question(question, &judge);
            check_scope(scope, &judge);
        }
    });
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    assert!(is_json || checked.is_err());
}

/// The scanner takes what `serde_json` takes, up to the nesting that it is told.
fn check_value(text: &str) {
    let judged = serde_json::from_str::<&RawValue>(text).ok();
    let judged = judged.map(RawValue::get);
    assert_eq!(request::scan_value(text, usize::MAX).ok(), judged);
    let depth = json_depth(text.as_bytes());
    for max_nesting in [0, 1, 3, 128] {
        let scanned = request::scan_value(text, max_nesting).ok();
        assert_eq!(
            scanned,
            judged.filter(|_| depth <= max_nesting),
            "{max_nesting}"
        );
    }
}

/// All members of an object, in order, each one with its text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Self;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(member) = map.next_entry()? {
            self.0.push(member);
        }
        Ok(self)
    }
}

/// The scanner finds the members that `serde_json` finds, duplicates and escaped names included.
fn check_members(text: &str) {
    let scanned = request::scan_members(text, usize::MAX).ok();
    let judged = serde_json::from_str::<Members<'_>>(text).ok();
    let judged = judged.map(|Members(members)| {
        let member = |(name, value): (String, &'_ RawValue)| (name, value.get().to_owned());
        members.into_iter().map(member).collect::<Vec<_>>()
    });
    let scanned = scanned.map(|members| {
        let member = |(name, value): (String, &str)| (name, value.to_owned());
        members.into_iter().map(member).collect::<Vec<_>>()
    });
    assert_eq!(scanned, judged);
}

fn check_question(question: &Question, judge: &Json) {
    let field = |name| judge.get(name).unwrap_or(&Json::Null);
    let keys = match field("key") {
        Json::String(key) => vec![key.as_str()],
        Json::Array(keys) => keys.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    let batch = field("keys").as_array();
    let batch = batch.map(|keys| keys.iter().filter_map(Json::as_str).collect());
    assert_eq!(question.is_batch, batch.is_some());
    assert_eq!(question.keys, batch.unwrap_or(keys));
    let environment = field("environment").as_str();
    assert_eq!(question.environment, environment.unwrap_or("production"));
    match (&question.default, judge.get("default")) {
        (Some(value), Some(judge)) => assert!(is_same_json(value, judge), "{value:?}"),
        (value, judge) => assert_eq!(value.is_some(), judge.is_some()),
    }
    for (hash, name) in [
        (&question.default_values, "default_values"),
        (&question.overrides, "override"),
    ] {
        let value = hash.clone().map_or(Value::Null, Value::hash);
        assert!(is_same_json(&value, field(name)), "{name}: {value:?}");
    }
}

/// The scope reads facts and variables as they are asked for. What it finds is what the body has.
fn check_scope(scope: &dyn Scope, judge: &Json) {
    let empty = Json::Object(serde_json::Map::new());
    let field = |name| judge.get(name).filter(|it| !it.is_null()).unwrap_or(&empty);
    let facts = without_nulls(field("facts"));
    let all = scope.variable("facts").unwrap_or_default();
    assert!(is_same_json(&all, &facts), "facts: {all:?}");
    check_members_of(scope, "facts", &mut Vec::new(), &facts);
    if judge.get("node").is_none_or(Json::is_null) {
        check_members_of(scope, "trusted", &mut Vec::new(), field("trusted"));
    }
    let variables = field("variables").as_object();
    for (name, judge) in variables.into_iter().flatten() {
        if name.starts_with("::") || matches!(name.as_str(), "trusted" | "environment") {
            continue;
        }
        let value = scope.variable(name).unwrap_or_default();
        assert!(is_same_json(&value, judge), "{name}: {value:?}");
        assert!(scope.is_set(name));
        if let Some(text) = scope.text(name, &[]) {
            assert_eq!(Some(text), judge.as_str());
        }
    }
}

/// Digs for everything in an object that can be named by keys.
fn check_members_of(scope: &dyn Scope, variable: &str, path: &mut Vec<Segment>, judge: &Json) {
    for (name, member) in judge.as_object().into_iter().flatten() {
        let Some(segment) = key_segment(name) else {
            continue;
        };
        path.push(segment);
        let found = scope.dig(variable, path, "the key");
        let is_same = matches!(&found, Ok(Some(value)) if is_same_json(value, member));
        assert!(is_same, "{variable} {path:?}: {found:?}");
        if let Some(text) = scope.text(variable, path) {
            assert_eq!(Some(text), member.as_str());
        }
        check_members_of(scope, variable, path, member);
        path.pop();
    }
}

/// The segment that names a member, where a key can name it.
fn key_segment(name: &str) -> Option<Segment> {
    let quoted = [format!("\"{name}\""), format!("'{name}'")];
    let parsed = quoted.iter().filter_map(|text| split_segments(text).ok());
    let only = parsed.filter_map(|segments| <[Segment; 1]>::try_from(segments).ok());
    only.map(|[segment]| segment)
        .find(|segment| segment.to_string() == name)
}

/// A fact that is null is an empty text to Puppet.
fn without_nulls(judge: &Json) -> Json {
    match judge {
        Json::Null => Json::String(String::new()),
        Json::Array(items) => items.iter().map(without_nulls).collect(),
        Json::Object(members) => {
            let member = |(name, value): (&String, &Json)| (name.clone(), without_nulls(value));
            members.iter().map(member).collect()
        }
        other => other.clone(),
    }
}
