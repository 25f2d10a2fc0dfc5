//! `Regexp` from strings.

use std::sync::LazyLock;

use puppet_values::{Rich, Value};

use super::{ConversionError, compile_regexp};
use crate::signature::Function;

pub(super) static REGEXP: LazyLock<Function> = LazyLock::new(|| {
    // Puppet has this name, by mistake.
    Function::new(
        "new_float",
        &[],
        &[(
            false,
            &[("String", "pattern", false), ("Boolean", "escape", true)],
        )],
    )
});

pub(super) fn regexp(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let pattern = arguments
        .first()
        .and_then(Value::as_str)
        .unwrap_or_default();
    let regexp = match arguments.get(1) {
        Some(Value::Bool(true)) => compile_regexp(&escape(pattern))?,
        _ => compile_regexp(pattern)?,
    };
    Ok(Rich::Regexp(regexp).into())
}

/// Ruby's `Regexp.escape`.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            '\x0b' => escaped.push_str("\\v"),
            '\x0c' => escaped.push_str("\\f"),
            '[' | ']' | '{' | '}' | '(' | ')' | '|' | '-' | '*' | '.' | '\\' | '?' | '+' | '^'
            | '$' | ' ' | '#' => escaped.extend(['\\', char]),
            char => escaped.push(char),
        }
    }
    escaped
}
