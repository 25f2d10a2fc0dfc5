//! Strings, numbers and words: the scanner's steps over what is not a container.

use super::{JsonScanner, ScanResult};
use crate::json::end_of_plain;

impl JsonScanner<'_> {
    /// Takes the string whose opening quote comes next. Returns whether it has escapes.
    ///
    /// Inlined: most strings are short, and a call would cost as much as they do.
    #[inline(always)]
    pub(super) fn skip_string(&mut self) -> ScanResult<bool> {
        self.offset = end_of_plain(self.text.as_bytes(), self.offset + 1);
        if self.byte() == Some(b'"') {
            self.offset += 1;
            return Ok(false);
        }
        self.skip_rest_of_string().map(|()| true)
    }

    #[cold]
    fn skip_rest_of_string(&mut self) -> ScanResult<()> {
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("EOF while parsing a string")),
            }
            self.offset = end_of_plain(self.text.as_bytes(), self.offset);
        }
    }

    fn escape(&mut self) -> ScanResult<()> {
        self.offset += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.offset += 1,
            Some(b'u') => {
                self.offset += 1;
                for _ in 0..4 {
                    if !self.byte().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.error("invalid escape"));
                    }
                    self.offset += 1;
                }
            }
            Some(_) => return Err(self.error("invalid escape")),
            None => return Err(self.error("EOF while parsing a string")),
        }
        Ok(())
    }

    pub(super) fn number(&mut self) -> ScanResult<()> {
        if self.byte() == Some(b'-') {
            self.offset += 1;
        }
        match self.byte() {
            Some(b'0') => self.offset += 1,
            _ => self.digits()?,
        }
        if self.byte() == Some(b'.') {
            self.offset += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.offset += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.offset += 1;
            }
            self.digits()?;
        }
        match self.byte() {
            Some(b'0'..=b'9') => Err(self.error("invalid number")),
            _ => Ok(()),
        }
    }

    /// Takes at least one digit.
    fn digits(&mut self) -> ScanResult<()> {
        let start = self.offset;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.offset += 1;
        }
        match self.offset > start {
            true => Ok(()),
            false => Err(self.error("invalid number")),
        }
    }

    pub(super) fn word(&mut self, word: &'static str) -> ScanResult<()> {
        let rest = self.text.as_bytes().get(self.offset..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.error(format!("expected `{word}`")));
        }
        self.offset += word.len();
        Ok(())
    }
}
