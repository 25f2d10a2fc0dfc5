//! Text in quotes: as Puppet writes it in its language, and as Ruby's `inspect` shows it.

/// The text in single quotes, or in double quotes where it has control characters.
pub(crate) fn puppet_quote(text: &str) -> String {
    if text.chars().any(|char| char < ' ') {
        return puppet_double_quote(text);
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    let mut escaped = false;
    for char in text.chars() {
        if escaped {
            // Whatever follows a backslash keeps it, a second backslash too.
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

/// The text in double quotes.
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
    let mut quoted = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0c' => quoted.push_str("\\f"),
            '\x0b' => quoted.push_str("\\v"),
            '\x08' => quoted.push_str("\\b"),
            '\x07' => quoted.push_str("\\a"),
            '\x1b' => quoted.push_str("\\e"),
            '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => quoted.push_str("\\#"),
            char if char < ' ' || char == '\x7f' => {
                quoted.push_str(&format!("\\x{:02X}", u32::from(char)));
            }
            char if char.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// Ruby's `inspect` of bytes.
pub(super) fn inspect_bytes(bytes: &[u8]) -> String {
    let mut quoted = String::new();
    for chunk in bytes.utf8_chunks() {
        let text = ruby_inspect(chunk.valid());
        for char in text.trim_start_matches('"').chars() {
            if char.is_ascii() {
                quoted.push(char);
            } else {
                for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                    quoted.push_str(&format!("\\x{byte:02X}"));
                }
            }
        }
        quoted.pop();
        for byte in chunk.invalid() {
            quoted.push_str(&format!("\\x{byte:02X}"));
        }
    }
    format!("\"{quoted}\"")
}
