//! JSON strings: from the opening quote to a value.

use std::sync::Arc;

use super::{JsonProblem, Parser};
use crate::value::Value;

impl Parser<'_> {
    /// Reads a string, whose opening quote comes next.
    pub(super) fn string(&mut self) -> Result<Value, JsonProblem> {
        let start = self.position + 1;
        let mut has_escapes = false;
        let mut end = start;
        loop {
            match self.text.get(end) {
                None => return Err(JsonProblem::OpenString),
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    end += self.escape_length(end)?;
                }
                Some(&byte) if byte < 0x20 => return Err(self.control_character(end)),
                Some(_) => end += 1,
            }
        }
        let written = self.text.get(start..end).unwrap_or_default();
        if has_escapes {
            self.buffer.clear();
            if let Err((at, problem)) = unescape(written, &mut self.buffer) {
                self.position = start + at;
                return Err(problem);
            }
        }
        self.position = end + 1;
        let bytes = if has_escapes { &self.buffer } else { written };
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => (self.text_of)(text),
            Err(_) => Value::Bytes(Arc::new(bytes.to_vec())),
        })
    }

    /// The length of the escape at `at`, as far as it matters to find the closing quote.
    fn escape_length(&mut self, at: usize) -> Result<usize, JsonProblem> {
        match self.text.get(at + 1) {
            None => Err(JsonProblem::OpenString),
            Some(b'u') => {
                let digits = self.text.get(at + 2..at + 6).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    self.position = at;
                    return Err(JsonProblem::UnicodeEscape);
                }
                Ok(6)
            }
            Some(&byte) if byte < 0x20 => Err(self.control_character(at + 1)),
            Some(_) => Ok(2),
        }
    }

    fn control_character(&mut self, at: usize) -> JsonProblem {
        self.position = at;
        JsonProblem::ControlCharacter(self.text.get(at).map_or('\0', |&byte| byte.into()))
    }
}

/// Resolves the escapes of a string's inside. An error comes with its place in `written`.
fn unescape(written: &[u8], out: &mut Vec<u8>) -> Result<(), (usize, JsonProblem)> {
    let mut at = 0;
    while let Some(&byte) = written.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        match written.get(at + 1) {
            Some(b'u') => at += unescape_unicode(written, at, out)?,
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

/// Resolves a `\u` escape, with its second half where it is a surrogate; returns the bytes it took.
fn unescape_unicode(
    written: &[u8],
    at: usize,
    out: &mut Vec<u8>,
) -> Result<usize, (usize, JsonProblem)> {
    let unit = hexadecimal(written, at + 2).ok_or((at, JsonProblem::UnicodeEscape))?;
    if unit & 0xFC00 != 0xD800 {
        push_code(out, unit);
        return Ok(6);
    }
    let Some(following) = written.get(at + 6..at + 12) else {
        return Err((at, JsonProblem::SurrogatePair));
    };
    if !following.starts_with(b"\\u") {
        // Ruby writes a question mark and loses the next byte, be it a backslash.
        out.push(b'?');
        return Ok(7);
    }
    // Ruby takes any second half for a low surrogate.
    let low = hexadecimal(written, at + 8).ok_or((at, JsonProblem::SurrogatePair))?;
    push_code(out, 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF));
    Ok(12)
}

/// Four hexadecimal digits. The search for the closing quote has seen them already, except after a byte
/// that half a surrogate pair ate: there Ruby takes other text, of three characters or more, for U+FFFD.
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

/// Writes a code point as UTF-8; a lone surrogate too, which leaves the string broken, as in Ruby.
fn push_code(out: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(character) => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        None => out.extend([
            0xE0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3F) as u8,
            0x80 | (code & 0x3F) as u8,
        ]),
    }
}
