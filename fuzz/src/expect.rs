//! What several targets expect: positions inside of the text, and values that are those of `serde_json`.

use crate::api::Value;

/// Asserts that a position, both numbers counted from 1, is one of a character of the text or of its end.
#[track_caller]
pub(crate) fn position_in(text: &[u8], line: usize, column: usize) {
    assert!(
        line > 0 && column > 0,
        "positions count from 1: {line}:{column}"
    );
    let content = text.split(|byte| *byte == b'\n').nth(line - 1);
    assert!(content.is_some(), "there is no line {line}");
    let content = content.unwrap_or_default();
    let characters = String::from_utf8_lossy(content).chars().count();
    // Bytes that are not UTF-8 count one by one in some places and together in others.
    let longest = characters.max(content.len());
    assert!(column <= longest + 1, "line {line} has no column {column}");
}

/// Asserts a position in a YAML text, which has more line breaks than one.
#[track_caller]
pub(crate) fn yaml_position_in(text: &[u8], line: u32, column: u32) {
    let text = String::from_utf8_lossy(text);
    let is_break =
        |letter: char| matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let lines = text.split(is_break).count();
    // The reader of characters, which finds bytes that are not UTF-8, knows `\n` alone.
    let longest = text.split('\n').map(|line| line.chars().count()).max();
    let (line, column) = (line as usize, column as usize);
    assert!(line > 0 && line <= lines + 1, "there is no line {line}");
    assert!(
        column > 0 && column <= longest.unwrap_or_default() + 1,
        "no line has a column {column}"
    );
}

/// Levels of arrays and objects in a JSON text. It need not be one for this to be right where it matters.
pub(crate) fn json_depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string) = (0_usize, 0, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => _ = bytes.next(),
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Is a value the one that `serde_json` reads? It has no integers beyond 64 bits and takes them for floats.
pub(crate) fn is_same_json(value: &Value, judge: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (value, judge) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(value), Json::Bool(judge)) => value == judge,
        (Value::Int(number), Json::Number(judge)) => {
            // `-0` is an integer to Ruby.
            judge.as_i64() == Some(*number) || *number == 0 && judge.as_f64() == Some(0.0)
        }
        (Value::BigInt(number), Json::Number(judge)) => {
            let number = number.to_string();
            judge.to_string() == number || judge.as_f64() == number.parse().ok()
        }
        (Value::Float(number), Json::Number(judge)) => {
            judge.as_f64().map(f64::to_bits) == Some(number.to_bits())
        }
        (Value::Str(text), Json::String(judge)) => text == judge,
        (Value::Array(array), Json::Array(judge)) => {
            let items = array.items();
            items.len() == judge.len()
                && items
                    .iter()
                    .zip(judge)
                    .all(|(value, judge)| is_same_json(value, judge))
        }
        (Value::Hash(hash), Json::Object(judge)) => {
            // The order of keys is part of the answer.
            let is_same = |((key, value), (name, judge)): ((&Value, &Value), (&String, &Json))| {
                key.as_str() == Some(name) && is_same_json(value, judge)
            };
            hash.len() == judge.len() && hash.iter().zip(judge).all(is_same)
        }
        _ => false,
    }
}

/// Does a predicate hold for a value or anything in it?
pub(crate) fn any_in(value: &Value, holds: &dyn Fn(&Value) -> bool) -> bool {
    holds(value)
        || match value {
            Value::Array(array) => array.items().iter().any(|item| any_in(item, holds)),
            Value::Hash(hash) => {
                let mut entries = hash.iter();
                entries.any(|(key, value)| any_in(key, holds) || any_in(value, holds))
            }
            _ => false,
        }
}
