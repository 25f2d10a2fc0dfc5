//! Values as Ruby prints them: `to_s` in interpolated strings, `inspect` in collections and explanations.
//!
//! The functions append to a buffer, since a lookup prints many values into one string.

use std::fmt::Write as _;

use psych_yaml::ruby::{escape, float_to_s, inspect_bytes};
use ruby_regex::is_printable;

use crate::value::Value;

/// Appends Ruby's `to_s` of a value.
pub fn to_s(value: &Value, out: &mut String) {
    match value {
        Value::Null => {}
        Value::Str(text) => out.push_str(text),
        Value::Template(template) => out.push_str(template.source()),
        Value::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Value::Symbol(name) => out.push_str(name),
        other => inspect(other, out),
    }
}

/// Appends Ruby's `inspect` of a value.
pub fn inspect(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("nil"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::BigInt(number) => _ = write!(out, "{number}"),
        Value::Float(number) => out.push_str(&float_to_s(*number)),
        Value::Str(text) => quoted(text, out),
        Value::Template(template) => quoted(template.source(), out),
        Value::Bytes(bytes) => out.push_str(&inspect_bytes(bytes)),
        Value::Symbol(name) => symbol(name, out),
        Value::Array(array) => {
            out.push('[');
            for (index, item) in array.items().iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                inspect(item, out);
            }
            out.push(']');
        }
        Value::Hash(hash) => {
            out.push('{');
            for (index, (key, value)) in hash.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                inspect(key, out);
                out.push_str("=>");
                inspect(value, out);
            }
            out.push('}');
        }
        Value::Sensitive(_) => out.push_str("Sensitive [value redacted]"),
        Value::Rich(rich) => _ = write!(out, "{rich}"),
    }
}

fn symbol(name: &str, out: &mut String) {
    let is_word = name.chars().enumerate().all(|(index, char)| {
        char == '_' || char.is_alphabetic() || (index > 0 && char.is_ascii_digit())
    });
    out.push(':');
    if is_word && !name.is_empty() {
        out.push_str(name);
    } else {
        quoted(name, out);
    }
}

/// Appends Ruby's `inspect` of a string.
pub fn quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            _ if let Some(escape) = escape(char, chars.peek().copied()) => out.push_str(escape),
            _ if is_printable(char) => out.push(char),
            _ if u32::from(char) > 0xffff => _ = write!(out, "\\u{{{:X}}}", u32::from(char)),
            _ => _ = write!(out, "\\u{:04X}", u32::from(char)),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_in_ruby() {
        let mut out = String::new();
        quoted(
            "\0\u{1}\x7f\u{85}\u{a0}\u{ad}\u{301}\u{2028}\u{e000}\u{fffe}\u{1fae8}\u{10ffff}",
            &mut out,
        );
        let expected = "\"\\u0000\\u0001\\u007F\u{85}\u{a0}\u{ad}\u{301}\\u2028\u{e000}\\uFFFE\\u{1FAE8}\\u{10FFFF}\"";
        assert_eq!(out, expected);
    }

    #[test]
    fn collections_print_their_elements_with_inspect() {
        let hash = [(
            "a".into(),
            Value::array(vec![Value::Null, Value::Int(1), "x\"#{y}\n".into()]),
        )];
        let mut out = String::new();
        to_s(&Value::hash(hash.into_iter().collect()), &mut out);
        assert_eq!(out, r#"{"a"=>[nil, 1, "x\"\#{y}\n"]}"#);
    }
}
