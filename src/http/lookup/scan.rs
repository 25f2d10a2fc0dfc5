//! [`Scanner`]: goes over a request's JSON once and hands out where things lie, building nothing.
//!
//! A node sends some thousand facts of which a lookup needs a handful. `serde_json` takes 16 instructions for each byte
//! of them, this takes 7: most of a body is strings, and their ends are looked for 16 bytes at a time. What is accepted
//! is what `serde_json` accepts, which a test holds it to.

use std::borrow::Cow;

use crate::json::end_of_plain;

/// Goes over one JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    place: usize,
    max_nesting: usize,
    /// What closes each container that is open.
    open: Vec<u8>,
}

/// Why a text is no JSON, and where.
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

/// Errors are boxed so that what is not one is returned in registers.
pub(crate) type Scan<T> = Result<T, Box<ScanError>>;

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, max_nesting: usize) -> Self {
        Scanner {
            text,
            place: 0,
            max_nesting,
            open: Vec::with_capacity(32),
        }
    }

    /// An error at the place where the scanner is.
    #[cold]
    pub(crate) fn error(&self, problem: impl Into<Cow<'static, str>>) -> Box<ScanError> {
        let before = self.text.as_bytes().get(..self.place).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
        Box::new(ScanError {
            problem: problem.into(),
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: before.len() - line_start + 1,
        })
    }

    /// The next byte that is not white space, which stays there.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        match self.byte() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.peek_behind_space(),
        }
    }

    #[cold]
    fn peek_behind_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.place += 1;
        }
        self.byte()
    }

    /// Takes a `null`, if that is what comes.
    pub(crate) fn take_null(&mut self) -> Scan<bool> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.word("null").map(|()| true)
    }

    /// Goes through an object: `each` must take the value behind the name it is given.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Scan<()>,
    ) -> Scan<()> {
        self.enter(b'{', b'}', "an object")?;
        if self.leave() {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            each(self, name)?;
            if self.goes_on()? {
                continue;
            }
            return Ok(());
        }
    }

    /// Goes through a list: `each` must take one value.
    pub(crate) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Scan<()>) -> Scan<()> {
        self.enter(b'[', b']', "an array")?;
        if self.leave() {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.goes_on()? {
                continue;
            }
            return Ok(());
        }
    }

    /// Takes a string. It borrows from the text where it has no escapes.
    pub(crate) fn string(&mut self) -> Scan<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a string"));
        }
        let start = self.place;
        if !self.skip_string()? {
            let inner = self.text.get(start + 1..self.place - 1);
            return Ok(Cow::Borrowed(inner.unwrap_or_default()));
        }
        let raw = self.text.get(start..self.place).unwrap_or_default();
        match serde_json::from_str::<String>(raw) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(_) => Err(self.error("invalid hex escape in a string")),
        }
    }

    /// Takes any value, and gives its text.
    pub(crate) fn value(&mut self) -> Scan<&'a str> {
        self.peek();
        let start = self.place;
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
            // Where a value is complete, what it stands in may be too.
            while is_complete {
                if self.open.len() == outer {
                    return Ok(self.text.get(start..self.place).unwrap_or_default());
                }
                is_complete = !self.goes_on()?;
            }
            if self.open.last() == Some(&b'}') {
                self.check_name()?;
                self.skip_string()?;
                self.colon()?;
            }
        }
    }

    /// Nothing but white space may be left.
    pub(crate) fn end(&mut self) -> Scan<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("trailing characters")),
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    #[inline(always)]
    fn enter(&mut self, start: u8, end: u8, what: &'static str) -> Scan<()> {
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
        self.place += 1;
        self.open.push(end);
        Ok(())
    }

    /// Takes the end of the innermost container, if that is what comes.
    #[inline(always)]
    fn leave(&mut self) -> bool {
        let is_end = self.open.last().copied() == self.peek();
        if is_end {
            self.place += 1;
            self.open.pop();
        }
        is_end
    }

    /// Behind a value: takes the comma, or the end of the container. Says whether there is another value.
    #[inline(always)]
    fn goes_on(&mut self) -> Scan<bool> {
        match self.peek() {
            Some(b',') => {
                self.place += 1;
                Ok(true)
            }
            Some(_) if self.leave() => Ok(false),
            Some(_) => Err(self.error("expected `,` or the end")),
            None => Err(self.error("EOF while parsing a list or an object")),
        }
    }

    fn name(&mut self) -> Scan<Cow<'a, str>> {
        self.check_name()?;
        let name = self.string()?;
        self.colon()?;
        Ok(name)
    }

    #[inline]
    fn check_name(&mut self) -> Scan<()> {
        match self.peek() {
            Some(b'"') => Ok(()),
            Some(_) => Err(self.error("key must be a string")),
            None => Err(self.error("EOF while parsing an object")),
        }
    }

    #[inline]
    fn colon(&mut self) -> Scan<()> {
        match self.peek() {
            Some(b':') => {
                self.place += 1;
                Ok(())
            }
            Some(_) => Err(self.error("expected `:`")),
            None => Err(self.error("EOF while parsing an object")),
        }
    }

    /// Takes the string whose quote comes. Says whether it has escapes.
    ///
    /// Most strings are short, and a call would cost as much as they do.
    #[inline(always)]
    fn skip_string(&mut self) -> Scan<bool> {
        self.place = end_of_plain(self.text.as_bytes(), self.place + 1);
        if self.byte() == Some(b'"') {
            self.place += 1;
            return Ok(false);
        }
        self.skip_rest_of_string().map(|()| true)
    }

    #[cold]
    fn skip_rest_of_string(&mut self) -> Scan<()> {
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.place += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("EOF while parsing a string")),
            }
            self.place = end_of_plain(self.text.as_bytes(), self.place);
        }
    }

    fn escape(&mut self) -> Scan<()> {
        self.place += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.place += 1,
            Some(b'u') => {
                self.place += 1;
                for _ in 0..4 {
                    if !self.byte().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.error("invalid escape"));
                    }
                    self.place += 1;
                }
            }
            Some(_) => return Err(self.error("invalid escape")),
            None => return Err(self.error("EOF while parsing a string")),
        }
        Ok(())
    }

    fn number(&mut self) -> Scan<()> {
        if self.byte() == Some(b'-') {
            self.place += 1;
        }
        match self.byte() {
            Some(b'0') => self.place += 1,
            _ => self.digits()?,
        }
        if self.byte() == Some(b'.') {
            self.place += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.place += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.place += 1;
            }
            self.digits()?;
        }
        match self.byte() {
            Some(b'0'..=b'9') => Err(self.error("invalid number")),
            _ => Ok(()),
        }
    }

    /// At least one digit.
    fn digits(&mut self) -> Scan<()> {
        let start = self.place;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.place += 1;
        }
        match self.place > start {
            true => Ok(()),
            false => Err(self.error("invalid number")),
        }
    }

    fn word(&mut self, word: &'static str) -> Scan<()> {
        let rest = self.text.as_bytes().get(self.place..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.error(format!("expected `{word}`")));
        }
        self.place += word.len();
        Ok(())
    }
}

/// The text of a string as it stands between its quotes; `None` where there are escapes, or no string.
pub(crate) fn plain_text(raw: &str) -> Option<&str> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    memchr::memchr(b'\\', inner.as_bytes())
        .is_none()
        .then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    /// Both take it and find the same text, or both refuse it.
    fn check(text: &str) {
        let mut scanner = Scanner::new(text, 100);
        let scanned = scanner.value().and_then(|raw| scanner.end().map(|()| raw));
        let read = serde_json::from_str::<&RawValue>(text);
        assert_eq!(
            scanned.as_ref().ok().copied(),
            read.as_ref().ok().map(|raw| raw.get()),
            "{text}: {scanned:?} {read:?}"
        );
    }

    const GOOD: &[&str] = &[
        "{}",
        "[]",
        "0",
        "-0",
        "-1.5e+10",
        "1E5",
        "1e-2",
        "12345678901234567890",
        "true",
        "false",
        "null",
        r#""""#,
        r#""a""#,
        r#""12345678""#,
        r#""1234567\n89ü\u00fc\\""#,
        r#""\"\\\/\b\f\n\r\t""#,
        r#"{"a":1,"b":[1,2,{"c":null}],"d":{}}"#,
        " [ 1 , 2 ] ",
        "\t{ \"a\" :\n[ ] }\r\n",
        r#"[[[]],[[]]]"#,
        r#"{"":""}"#,
        r#""\ud800""#,
        // Longer than what is looked at together.
        r#"{"0123456789abcdef":"0123456789abcdef0","ü23456789abcdef":["0123456789\u00fcabcdef and\\more than that"]}"#,
    ];

    #[test]
    fn it_takes_what_serde_json_takes() {
        for text in GOOD {
            check(text);
        }
        for text in [
            "",
            " ",
            "{",
            "[",
            "]",
            "}",
            "{]",
            "[}",
            "{,}",
            "[,]",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{\"a\" 1}",
            "{a:1}",
            "{1:1}",
            "[1 2]",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "00",
            "-01",
            "tru",
            "nul",
            "truex",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "\"a\u{1}\"",
            "1 1",
            "[]]",
            "NaN",
            "'a'",
            "{\"a\":}",
            "{\"a\"::1}",
            "nulll",
            "\u{feff}1",
            "\u{a0}1",
            "[1\u{b}]",
        ] {
            check(text);
        }
    }

    #[test]
    fn it_agrees_with_serde_json_on_texts_with_a_byte_changed() {
        let letters = b"{}[]\",:\\ue0-+.1 tn\n\x1f\x7f";
        for text in GOOD {
            for place in 0..text.len() {
                for letter in letters {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes[place] = *letter;
                    if let Ok(changed) = std::str::from_utf8(&bytes) {
                        check(changed);
                    }
                    bytes.remove(place);
                    if let Ok(changed) = std::str::from_utf8(&bytes) {
                        check(changed);
                    }
                }
            }
        }
    }

    #[test]
    fn errors_name_the_place_and_nesting_has_a_bound() {
        let problem = |text| Scanner::new(text, 3).value().unwrap_err().to_string();
        assert_eq!(
            problem("{\n \"a\": x}"),
            "expected value at line 2 column 7"
        );
        assert_eq!(
            problem("[[[["),
            "the body is nested more than 3 deep at line 1 column 4"
        );
        assert!(Scanner::new("[[[]]]", 3).value().is_ok());
    }
}
