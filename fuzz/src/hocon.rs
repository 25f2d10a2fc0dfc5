//! HOCON: every text ends in a value or in an error with a position; objects of JSON are read as JSON.

use crate::api::{Value, hocon, write_value};
use crate::expect::{any_in, position_in};

/// Texts with a meaning in HOCON.
pub const DICTIONARY: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "+=",
    "\n",
    "\"",
    "\"\"\"",
    "\\",
    "\\u",
    "\\u005f",
    "\\ud83d\\ude00",
    "\\ud800",
    "${",
    "${?",
    "${a}",
    "${?a.b}",
    "${a}${a}",
    "a",
    "a.b",
    "a.\"b.c\"",
    "a = ",
    "a : {",
    "a = ${a} ",
    "a += 1\n",
    "#",
    "//",
    "include \"x\"",
    "include file(\"x\")",
    "true",
    "false",
    "null",
    "yes",
    "0",
    "1.0",
    "-1",
    "1e400",
    "9223372036854775808",
    "0.1",
    "..",
    "$",
    "^",
    "@",
    "`",
    "?",
    "!",
    "&",
    "*",
    "+",
    "\t",
    "\r\n",
    "\u{a0}",
    "\u{feff}",
    "ü",
    "%{x}",
];

/// Checks one text.
pub fn check(text: &[u8]) {
    match read(text) {
        Ok(value) => {
            assert!(value.as_hash().is_some(), "the root is {value:?}");
            check_as_json(&value);
        }
        Err(error) => {
            position_in(text, error.line, error.column);
            assert!(!error.problem.to_string().is_empty());
        }
    }
}

fn read(text: &[u8]) -> Result<Value, hocon::HoconError> {
    hocon::parse(text, &mut |text| Value::str(text))
}

/// A value that was read, written as JSON, is read as the same value: JSON is HOCON.
fn check_as_json(value: &Value) {
    let has_no_json = |value: &Value| match value {
        Value::Float(number) => !number.is_finite(),
        Value::Bytes(_) => true,
        // The library asks for escapes of these characters, and JSON does not.
        Value::Str(text) => text.contains(|letter: char| letter.is_control() && letter >= '\u{7f}'),
        _ => false,
    };
    if any_in(value, &has_no_json) {
        return;
    }
    let mut written = Vec::new();
    write_value(value, &mut written);
    let again = read(&written);
    assert_eq!(
        again.as_ref(),
        Ok(value),
        "{}",
        String::from_utf8_lossy(&written)
    );
}
