//! Quoted strings, with escapes, and triple-quoted ones, without.

use super::token::{Scanner, next_character};
use super::{Failure, HoconProblem, fail};
use crate::data::characters::push_code_point;

impl Scanner<'_> {
    /// Reads a string, whose opening quote is read already.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, Failure> {
        let start = self.position - 1;
        let mut out = Vec::new();
        loop {
            match self.character()? {
                None => return fail(start, HoconProblem::OpenString),
                Some('"') => {
                    self.position += 1;
                    break;
                }
                Some('\\') => self.escape(start, &mut out)?,
                Some(control) if control.is_control() => {
                    return fail(self.position, HoconProblem::ControlCharacter(control));
                }
                Some(character) => {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    self.position += character.len_utf8();
                }
            }
        }
        if out.is_empty() && self.peek() == Some(b'"') {
            self.position += 1;
            return self.triple_quoted(start);
        }
        Ok(out)
    }

    /// The rest of a string in triple quotes: any bytes up to three quotes that no fourth one follows.
    fn triple_quoted(&mut self, start: usize) -> Result<Vec<u8>, Failure> {
        let rest = self.rest();
        let Some(quotes) = memchr::memmem::find(rest, b"\"\"\"") else {
            return fail(start, HoconProblem::OpenString);
        };
        let more = rest.iter().skip(quotes).take_while(|&&b| b == b'"').count();
        let end = quotes + more;
        self.position += end;
        Ok(rest.get(..end - 3).unwrap_or_default().to_vec())
    }

    /// Resolves an escape, whose backslash comes next.
    fn escape(&mut self, start: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        let at = self.position;
        let Some(&escaped) = self.text.get(at + 1) else {
            return fail(start, HoconProblem::OpenString);
        };
        self.position += 2;
        out.push(match escaped {
            b'"' | b'\\' | b'/' => escaped,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode_escape(at, out),
            _ => return fail(at, HoconProblem::Escape),
        });
        Ok(())
    }

    /// Resolves `\u`, which takes the next four characters, whatever they are.
    fn unicode_escape(&mut self, at: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        let digits_start = self.position;
        for _ in 0..4 {
            self.position += match next_character(self.rest()) {
                None => return fail(at, HoconProblem::OpenString),
                Some(Ok(character)) => character.len_utf8(),
                Some(Err(_)) => 1,
            };
        }
        let digits = self.text.get(digits_start..self.position);
        // Ruby compares with an underscore where it means "not a number".
        match lenient_hexadecimal(digits.unwrap_or_default()) {
            None | Some(0x5F) => fail(at, HoconProblem::UnicodeEscape),
            Some(code) => {
                push_code_point(out, code);
                Ok(())
            }
        }
    }
}

/// Ruby's `String#hex`, for up to four characters: the longest prefix that is a number, or 0. `None` for a number below
/// 0, which is not a character.
fn lenient_hexadecimal(text: &[u8]) -> Option<u32> {
    let mut rest = text.trim_ascii_start();
    // Ruby has one more white space character.
    while let Some(after) = rest.strip_prefix(b"\x0B") {
        rest = after.trim_ascii_start();
    }
    let is_negative = rest.starts_with(b"-");
    rest = rest
        .strip_prefix(b"-")
        .or_else(|| rest.strip_prefix(b"+"))
        .unwrap_or(rest);
    rest = rest
        .strip_prefix(b"0x")
        .or_else(|| rest.strip_prefix(b"0X"))
        .unwrap_or(rest);
    let mut code = 0;
    let mut after_digit = false;
    for &byte in rest {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                code = code * 16 + digit;
                after_digit = true;
            }
            None if byte == b'_' && after_digit => after_digit = false,
            None => break,
        }
    }
    (!is_negative || code == 0).then_some(code)
}
