//! Reads every recorded document and compares the result with Puppet's.

use psych_yaml::{Yaml, parse};
use serde_json::Value;

use crate::support;

#[test]
fn documents_are_read_like_puppet() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../cases/yaml_cases.json")).unwrap();
    assert_eq!(cases.len(), 543);
    let mut wrong = Vec::new();
    for case in &cases {
        let text = match (&case["yaml"], &case["yaml_base64"]) {
            (Value::String(text), _) => text.as_bytes().to_vec(),
            (_, Value::String(base64)) => support::base64(base64),
            _ => panic!("{case} has no document"),
        };
        let expected = match &case["error"] {
            Value::String(message) => Err(message.clone()),
            _ => Ok(support::value(&case["result"])),
        };
        let read = parse(&text).map(as_data).map_err(|e| puppet_error(&e));
        // As strings, since equality ignores the order of keys.
        let (read, expected) = (format!("{read:?}"), format!("{expected:?}"));
        if read != expected {
            wrong.push(format!("{}: expected {expected}, got {read}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The message of the lookup function.
fn puppet_error(error: &psych_yaml::ReadError) -> String {
    let message = error.puppet_message("PATH");
    // The lookup function does not catch this error.
    if message == "stack level too deep" {
        return message;
    }
    format!("Unable to parse {message}")
}

/// The result of `yaml_data` for a document: a mapping without symbols as keys.
fn as_data(document: Option<Yaml>) -> Yaml {
    match document {
        Some(mapping @ Yaml::Mapping(_)) => without_symbol_keys(mapping),
        _ => Yaml::Mapping(Vec::new()),
    }
}

fn without_symbol_keys(value: Yaml) -> Yaml {
    match value {
        Yaml::Mapping(entries) => {
            let mut kept: Vec<(Yaml, Yaml)> = Vec::new();
            for (key, value) in entries {
                let key = match key {
                    Yaml::Symbol(name) => Yaml::String(name),
                    key => key,
                };
                let value = without_symbol_keys(value);
                match kept.iter_mut().find(|(other, _)| *other == key) {
                    Some(entry) => entry.1 = value,
                    None => kept.push((key, value)),
                }
            }
            Yaml::Mapping(kept)
        }
        Yaml::Sequence(elements) => {
            Yaml::Sequence(elements.into_iter().map(without_symbol_keys).collect())
        }
        value => value,
    }
}
