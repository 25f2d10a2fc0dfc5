//! [`JsonScanner`]: goes over the JSON of a request once and returns slices of it, without building values.
//!
//! A node sends a few thousand facts and a lookup needs a handful. `serde_json` takes 16 instructions for each byte of
//! them, this scanner takes 7: most of a body is strings, and it searches for their ends 16 bytes at a time. It accepts
//! exactly what `serde_json` accepts; tests compare the two.

mod token;

use std::borrow::Cow;

/// Scans one JSON text.
pub(crate) struct JsonScanner<'a> {
    text: &'a str,
    /// Of the next byte.
    offset: usize,
    max_nesting: usize,
    /// The closing bracket of each open container, innermost last.
    open: Vec<u8>,
}

/// Why a text is not what was expected, and where.
#[derive(Debug)]
pub(crate) struct ScanError {
    pub(crate) problem: Cow<'static, str>,
    line: usize,
    column: usize,
}

impl std::fmt::Display for ScanError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ScanError {
            problem,
            line,
            column,
        } = self;
        write!(out, "{problem} at line {line} column {column}")
    }
}

/// Errors are boxed so that other results are returned in registers.
pub(crate) type ScanResult<T> = Result<T, Box<ScanError>>;

impl<'a> JsonScanner<'a> {
    pub(crate) fn new(text: &'a str, max_nesting: usize) -> Self {
        JsonScanner {
            text,
            offset: 0,
            max_nesting,
            open: Vec::with_capacity(32),
        }
    }

    /// An error at the current offset.
    #[cold]
    pub(crate) fn error(&self, problem: impl Into<Cow<'static, str>>) -> Box<ScanError> {
        let before = self.text.as_bytes().get(..self.offset).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        Box::new(ScanError {
            problem: problem.into(),
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: before.len() - line_start + 1,
        })
    }

    /// The next byte that is not white space, without taking it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        match self.byte() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.peek_after_space(),
        }
    }

    #[cold]
    fn peek_after_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.offset += 1;
        }
        self.byte()
    }

    /// Takes a `null`, if that comes next.
    pub(crate) fn take_null(&mut self) -> ScanResult<bool> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.word("null").map(|()| true)
    }

    /// Scans an object: `each` gets the name of a member and must take its value.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> ScanResult<()>,
    ) -> ScanResult<()> {
        self.enter(b'{', b'}', "an object")?;
        if self.leave() {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            each(self, name)?;
            if self.has_next()? {
                continue;
            }
            return Ok(());
        }
    }

    /// Scans an array: `each` must take one element.
    pub(crate) fn array(
        &mut self,
        mut each: impl FnMut(&mut Self) -> ScanResult<()>,
    ) -> ScanResult<()> {
        self.enter(b'[', b']', "an array")?;
        if self.leave() {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.has_next()? {
                continue;
            }
            return Ok(());
        }
    }

    /// Takes a string. It borrows from the text unless it has escapes.
    pub(crate) fn string(&mut self) -> ScanResult<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a string"));
        }
        let start = self.offset;
        if !self.skip_string()? {
            let inner = self.text.get(start + 1..self.offset - 1);
            return Ok(Cow::Borrowed(inner.unwrap_or_default()));
        }
        let raw = self.text.get(start..self.offset).unwrap_or_default();
        match serde_json::from_str::<String>(raw) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(_) => Err(self.error("invalid hex escape in a string")),
        }
    }

    /// Takes any value and returns its text.
    pub(crate) fn value(&mut self) -> ScanResult<&'a str> {
        self.peek();
        let start = self.offset;
        let outer = self.open.len();
        loop {
            let mut is_complete = true;
            match self.peek() {
                Some(b'"') => _ = self.skip_string()?,
                Some(b'{') => {
                    self.enter(b'{', b'}', "an object")?;
                    is_complete = self.leave();
                }
                Some(b'[') => {
                    self.enter(b'[', b']', "an array")?;
                    is_complete = self.leave();
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(_) => return Err(self.error("expected value")),
                None => return Err(self.error("EOF while parsing a value")),
            }
            // The end of a value may be the end of the containers around it.
            while is_complete {
                if self.open.len() == outer {
                    return Ok(self.text.get(start..self.offset).unwrap_or_default());
                }
                is_complete = !self.has_next()?;
            }
            if self.open.last() == Some(&b'}') {
                self.check_name()?;
                self.skip_string()?;
                self.colon()?;
            }
        }
    }

    /// Checks that nothing but white space is left.
    pub(crate) fn end(&mut self) -> ScanResult<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("trailing characters")),
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    #[inline(always)]
    fn enter(&mut self, start: u8, end: u8, what: &'static str) -> ScanResult<()> {
        if self.peek() != Some(start) {
            return Err(match self.byte() {
                None => self.error("EOF while parsing a value"),
                Some(_) => self.error(format!("expected {what}")),
            });
        }
        if self.open.len() >= self.max_nesting {
            let limit = self.max_nesting;
            return Err(self.error(format!("the body is nested more than {limit} deep")));
        }
        self.offset += 1;
        self.open.push(end);
        Ok(())
    }

    /// Takes the end of the innermost container, if that comes next.
    #[inline(always)]
    fn leave(&mut self) -> bool {
        let is_end = self.open.last().copied() == self.peek();
        if is_end {
            self.offset += 1;
            self.open.pop();
        }
        is_end
    }

    /// After a value: takes the comma or the end of the container. Returns whether another value follows.
    #[inline(always)]
    fn has_next(&mut self) -> ScanResult<bool> {
        match self.peek() {
            Some(b',') => {
                self.offset += 1;
                Ok(true)
            }
            Some(_) if self.leave() => Ok(false),
            Some(_) => Err(self.error("expected `,` or the end")),
            None => Err(self.error("EOF while parsing a list or an object")),
        }
    }

    fn name(&mut self) -> ScanResult<Cow<'a, str>> {
        self.check_name()?;
        let name = self.string()?;
        self.colon()?;
        Ok(name)
    }

    #[inline]
    fn check_name(&mut self) -> ScanResult<()> {
        match self.peek() {
            Some(b'"') => Ok(()),
            Some(_) => Err(self.error("key must be a string")),
            None => Err(self.error("EOF while parsing an object")),
        }
    }

    #[inline]
    fn colon(&mut self) -> ScanResult<()> {
        match self.peek() {
            Some(b':') => {
                self.offset += 1;
                Ok(())
            }
            Some(_) => Err(self.error("expected `:`")),
            None => Err(self.error("EOF while parsing an object")),
        }
    }
}

/// The text between the quotes of a string; `None` if it has escapes or is no string.
pub(crate) fn unescaped_text(raw: &str) -> Option<&str> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    memchr::memchr(b'\\', inner.as_bytes())
        .is_none()
        .then_some(inner)
}

#[cfg(test)]
mod tests;
