//! JSON strings: from the opening quote to a value.

use std::sync::Arc;

use puppet_values::Value;

use super::{JsonProblem, Parser};
use crate::data::characters::push_code_point;

impl Parser<'_> {
    /// Reads a string, whose opening quote comes next.
    pub(super) fn string(&mut self) -> Result<Value, JsonProblem> {
        let start = self.position + 1;
        let found = string_end(self.text, self.position).map_err(|(at, problem)| {
            self.position = at;
            problem
        })?;
        if found.has_escapes {
            self.buffer.clear();
            if let Err(bad) = unescape(found.written, &mut self.buffer) {
                self.position = start + bad.at;
                return Err(bad.problem);
            }
        }
        self.position = found.end;
        let bytes = if found.has_escapes {
            &self.buffer
        } else {
            found.written
        };
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => (self.text_of)(text),
            Err(_) => Value::Bytes(Arc::new(bytes.to_vec())),
        })
    }
}

/// A string up to its closing quote.
pub(super) struct StringEnd<'a> {
    /// What is between the quotes.
    pub(super) written: &'a [u8],
    pub(super) has_escapes: bool,
    /// The position after the closing quote.
    pub(super) end: usize,
}

/// Looks for the end of the string whose opening quote is at `open`. An error has its position.
pub(super) fn string_end(text: &[u8], open: usize) -> Result<StringEnd<'_>, (usize, JsonProblem)> {
    let start = open + 1;
    let mut has_escapes = false;
    let mut end = start;
    loop {
        match text.get(end) {
            None => return Err((open, JsonProblem::OpenString)),
            Some(b'"') => break,
            Some(b'\\') => {
                has_escapes = true;
                end += escape_length(text, open, end)?;
            }
            Some(&byte) if byte < 0x20 => return Err((end, control_character(byte))),
            Some(_) => end += 1,
        }
    }
    Ok(StringEnd {
        written: text.get(start..end).unwrap_or_default(),
        has_escapes,
        end: end + 1,
    })
}

/// The length of the escape at `at`, as far as it matters to find the closing quote.
fn escape_length(text: &[u8], open: usize, at: usize) -> Result<usize, (usize, JsonProblem)> {
    match text.get(at + 1) {
        None => Err((open, JsonProblem::OpenString)),
        Some(b'u') => {
            let digits = text.get(at + 2..at + 6).unwrap_or_default();
            if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                return Err((at, JsonProblem::UnicodeEscape));
            }
            Ok(6)
        }
        Some(&byte) if byte < 0x20 => Err((at + 1, control_character(byte))),
        Some(_) => Ok(2),
    }
}

fn control_character(byte: u8) -> JsonProblem {
    JsonProblem::ControlCharacter(byte.into())
}

/// An escape that cannot be resolved.
pub(super) struct BadEscape {
    /// Its offset in the string as written.
    pub(super) at: usize,
    /// Where the plain text before it begins.
    pub(super) plain_start: usize,
    problem: JsonProblem,
}

/// Resolves the escapes of a string's inside.
pub(super) fn unescape(written: &[u8], out: &mut Vec<u8>) -> Result<(), BadEscape> {
    let (mut at, mut plain_start) = (0, 0);
    while let Some(&byte) = written.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        match written.get(at + 1) {
            Some(b'u') => {
                let length = unescape_unicode(written, at, out);
                at += length.map_err(|problem| BadEscape {
                    at,
                    plain_start,
                    problem,
                })?;
                plain_start = at;
            }
            Some(&escaped) => {
                out.push(match escaped {
                    b'b' => 0x08,
                    b'f' => 0x0C,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    // `\x` is an x, and `\` before a longer character is dropped as well.
                    other => other,
                });
                at += 2;
                let is_known = matches!(escaped, b'b' | b'f' | b'n' | b'r' | b't' | b'"' | b'\\');
                plain_start = if is_known { at } else { at - 1 };
            }
            // Left over when half a surrogate pair ate the backslash before: it escapes the closing quote.
            None => {
                out.push(b'"');
                at += 1;
            }
        }
    }
    Ok(())
}

/// Resolves a `\u` escape, with its second half if it is a surrogate; returns the bytes it took.
fn unescape_unicode(written: &[u8], at: usize, out: &mut Vec<u8>) -> Result<usize, JsonProblem> {
    let unit = hexadecimal(written, at + 2).ok_or(JsonProblem::UnicodeEscape)?;
    if unit & 0xFC00 != 0xD800 {
        push_code_point(out, unit);
        return Ok(6);
    }
    let Some(following) = written.get(at + 6..at + 12) else {
        return Err(JsonProblem::SurrogatePair);
    };
    if !following.starts_with(b"\\u") {
        // Ruby writes a question mark and drops the next byte, even a backslash.
        out.push(b'?');
        return Ok(7);
    }
    // Ruby accepts any second half as a low surrogate.
    let low = hexadecimal(written, at + 8).ok_or(JsonProblem::SurrogatePair)?;
    push_code_point(out, 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF));
    Ok(12)
}

/// Four hexadecimal digits. The search for the closing quote has checked them, except after a byte that half a surrogate
/// pair consumed: there Ruby reads other text, of three characters or more, as U+FFFD.
fn hexadecimal(written: &[u8], at: usize) -> Option<u32> {
    let digits = written.get(at..).filter(|rest| rest.len() >= 3)?;
    let mut code = 0;
    for index in 0..4 {
        let digit = digits
            .get(index)
            .and_then(|&digit| char::from(digit).to_digit(16));
        match digit {
            Some(digit) => code = code * 16 + digit,
            None => return Some(0xFFFD),
        }
    }
    Some(code)
}
