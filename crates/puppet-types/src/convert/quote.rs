//! Strings in quotes, as in the Puppet language and as Ruby's `inspect` prints them.

use puppet_values::ruby_text;

/// The string in single quotes, or in double quotes if it has control characters.
pub(crate) fn puppet_quote(text: &str) -> String {
    if text.chars().any(|char| char < ' ') {
        return puppet_double_quote(text);
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    let mut escaped = false;
    for char in text.chars() {
        if escaped {
            // A backslash stays before any character, also before a second backslash.
            quoted.extend(['\\', char]);
            escaped = false;
        } else {
            match char {
                '\'' => quoted.push_str("\\'"),
                '\\' => escaped = true,
                char => quoted.push(char),
            }
        }
    }
    if escaped {
        quoted.push('\\');
    }
    quoted.push('\'');
    quoted
}

/// The string in double quotes.
pub(super) fn puppet_double_quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '"' => quoted.push_str("\\\""),
            '$' => quoted.push_str("\\$"),
            '\\' => quoted.push_str("\\\\"),
            char if char < ' ' => quoted.push_str(&format!("\\u{{{:X}}}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// Ruby's `String#inspect`.
pub(super) fn ruby_inspect(text: &str) -> String {
    let mut inspected = String::new();
    ruby_text::quoted(text, &mut inspected);
    inspected
}
