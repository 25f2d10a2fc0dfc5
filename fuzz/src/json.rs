//! JSON data files, held against `serde_json`.
//!
//! Ruby takes more than JSON: comments, escapes of any character, half surrogate pairs, bytes that are not UTF-8, numbers
//! beyond a float. Whatever has none of these is read alike by both or by neither.

use crate::api::{Value, json, write_value};
use crate::expect::{any_in, is_same_json, json_depth, position_in};

/// Texts with a meaning in JSON.
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
    "\\u0000",
    "\\n",
    "\\/",
    "true",
    "false",
    "null",
    "NaN",
    "Infinity",
    "-Infinity",
    "-0",
    "0",
    "1e5",
    "-1.5E-3",
    "1e400",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "0.1",
    "/*",
    "*/",
    "//",
    "\n",
    "{\"a\":1}",
    "[1,2]",
    "\"\"",
    "\u{feff}",
    "%{x}",
    "ü",
    "\u{7f}",
];

/// Levels of nesting that Ruby reads.
const MAX_NESTING: usize = 100;

/// Checks one text.
pub fn check(text: &[u8]) {
    let read = json::parse(text, &mut |text| Value::str(text));
    let judged = serde_json::from_slice::<serde_json::Value>(text);
    match (&read, &judged) {
        (Ok(value), Ok(judge)) => {
            assert!(is_same_json(value, judge), "{value:?} is not {judge:?}");
        }
        (Ok(value), Err(refusal)) => {
            let is_more_than_json = |value: &Value| match value {
                Value::Float(number) => number.is_infinite(),
                Value::BigInt(_) | Value::Bytes(_) => true,
                _ => false,
            };
            let is_excused =
                text.contains(&b'/') || text.contains(&b'\\') || any_in(value, &is_more_than_json);
            assert!(is_excused, "{value:?} is refused by the judge: {refusal}");
        }
        (Err(error), Ok(judge)) => {
            let is_too_deep = json_depth(text) > MAX_NESTING;
            assert!(is_too_deep, "{judge:?} is refused: {error}");
        }
        (Err(_), Err(_)) => {}
    }
    match &read {
        Ok(value) => check_answer(value),
        Err(error) => {
            position_in(text, error.line, error.column);
            assert!(!error.ruby_message.is_empty());
        }
    }
}

/// What is written as an answer is JSON, and is read as the same value.
fn check_answer(value: &Value) {
    let mut written = Vec::new();
    write_value(value, &mut written);
    let judged = serde_json::from_slice::<serde_json::Value>(&written);
    let has_no_json = |value: &Value| match value {
        Value::Float(number) => !number.is_finite(),
        Value::Bytes(_) => true,
        _ => false,
    };
    if any_in(value, &has_no_json) {
        return;
    }
    let again = json::parse(&written, &mut |text| Value::str(text));
    assert_eq!(again.as_ref(), Ok(value));
    // Integers beyond a float are fine as JSON, but not for this judge.
    let is_huge = |value: &Value| matches!(value, Value::BigInt(_));
    assert!(judged.is_ok() || any_in(value, &is_huge), "{judged:?}");
}
