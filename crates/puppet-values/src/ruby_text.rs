//! Values as Ruby prints them: `to_s` inside interpolated text, `inspect` inside collections and explanations.

use std::fmt::Write as _;

use crate::value::Value;
use ruby_regex::is_printable;

/// What Ruby's `to_s` makes of a value: what it becomes inside a text.
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

/// What Ruby's `inspect` makes of a value.
pub fn inspect(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("nil"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::BigInt(number) => _ = write!(out, "{number}"),
        Value::Float(number) => float(*number, out),
        Value::Str(text) => quoted(text, out),
        Value::Template(template) => quoted(template.source(), out),
        Value::Bytes(bytes) => quoted_bytes(bytes, out),
        Value::Symbol(name) => symbol(name, out),
        Value::Array(array) => {
            out.push('[');
            for (place, item) in array.items().iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                inspect(item, out);
            }
            out.push(']');
        }
        Value::Hash(hash) => {
            out.push('{');
            for (place, (key, value)) in hash.iter().enumerate() {
                if place > 0 {
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

/// What Ruby's `to_s` makes of a float.
pub fn float(number: f64, out: &mut String) {
    match number {
        _ if number.is_nan() => out.push_str("NaN"),
        f64::INFINITY => out.push_str("Infinity"),
        f64::NEG_INFINITY => out.push_str("-Infinity"),
        finite => out.push_str(&psych_yaml::ruby::float_to_s(finite)),
    }
}

fn symbol(name: &str, out: &mut String) {
    let is_word = name.chars().enumerate().all(|(place, letter)| {
        letter == '_' || letter.is_alphabetic() || (place > 0 && letter.is_ascii_digit())
    });
    out.push(':');
    if is_word && !name.is_empty() {
        out.push_str(name);
    } else {
        quoted(name, out);
    }
}

/// A Ruby string literal.
pub fn quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if let Some(escape) = escape(letter, letters.peek().copied()) => out.push_str(escape),
            _ if is_printable(letter) => out.push(letter),
            _ if (letter as u32) > 0xffff => _ = write!(out, "\\u{{{:X}}}", letter as u32),
            _ => _ = write!(out, "\\u{:04X}", letter as u32),
        }
    }
    out.push('"');
}

fn quoted_bytes(bytes: &[u8], out: &mut String) {
    out.push('"');
    let mut letters = bytes.iter().copied().map(char::from).peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if let Some(escape) = escape(letter, letters.peek().copied()) => out.push_str(escape),
            ' '..='~' => out.push(letter),
            _ => _ = write!(out, "\\x{:02X}", letter as u32),
        }
    }
    out.push('"');
}

/// What stands for a letter that has a sign of its own, before this next one.
fn escape(letter: char, next: Option<char>) -> Option<&'static str> {
    Some(match letter {
        '"' => "\\\"",
        '\\' => "\\\\",
        // `#` is escaped where it would start an interpolation of Ruby's own.
        '#' if matches!(next, Some('{' | '$' | '@')) => "\\#",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\x0c' => "\\f",
        '\x0b' => "\\v",
        '\x08' => "\\b",
        '\x07' => "\\a",
        '\x1b' => "\\e",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_ruby_writes_them() {
        let shown = |number| {
            let mut out = String::new();
            float(number, &mut out);
            out
        };
        for (number, expected) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e-4, "0.0001"),
            (1e-5, "1.0e-05"),
            (1e15, "1.0e+15"),
            (1e16, "1.0e+16"),
            (1.5e20, "1.5e+20"),
            (1e-7, "1.0e-07"),
            (123456.789, "123456.789"),
            (1e100, "1.0e+100"),
        ] {
            assert_eq!(shown(number), expected);
        }
    }

    #[test]
    fn texts_are_escaped_as_ruby_escapes_them() {
        let mut out = String::new();
        quoted(
            "\0\u{1}\x7f\u{85}\u{a0}\u{ad}\u{301}\u{2028}\u{e000}\u{fffe}\u{1fae8}\u{10ffff}",
            &mut out,
        );
        let expected = "\"\\u0000\\u0001\\u007F\u{85}\u{a0}\u{ad}\u{301}\\u2028\u{e000}\\uFFFE\\u{1FAE8}\\u{10FFFF}\"";
        assert_eq!(out, expected);
    }

    #[test]
    fn collections_are_inspected() {
        let hash = [(
            "a".into(),
            Value::array(vec![Value::Null, Value::Int(1), "x\"#{y}\n".into()]),
        )];
        let mut out = String::new();
        to_s(&Value::hash(hash.into_iter().collect()), &mut out);
        assert_eq!(out, r#"{"a"=>[nil, 1, "x\"\#{y}\n"]}"#);
    }
}
