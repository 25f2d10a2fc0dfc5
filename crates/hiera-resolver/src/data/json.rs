//! JSON data files → [`Value`], read as Ruby's `JSON.parse` (json 2.6.1) reads them.
//!
//! That is JSON, plus comments, plus escapes of characters that need none; numbers keep their exact value
//! when they are integers. The text is read once, from front to back, straight into values.

mod refusal;
mod string;

use num_bigint::BigInt;
use puppet_values::{Hash, Value};

use super::characters::line_and_column;

/// Levels of arrays and objects that Ruby accepts.
const MAX_NESTING: usize = 100;

/// A text that Ruby's parser refuses, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct JsonError {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: JsonProblem,
    /// Ruby's message.
    pub ruby_message: String,
}

/// What can be wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// The text ends where a value, a comma or a bracket should follow.
    #[error("unexpected end of the text, expected {expected}")]
    UnexpectedEnd {
        /// What should follow.
        expected: &'static str,
    },
    /// A character that is not allowed here.
    #[error("unexpected character `{}`, expected {expected}", found.escape_debug())]
    UnexpectedCharacter {
        /// The character that is there.
        found: char,
        /// What should be there.
        expected: &'static str,
    },
    /// A number that JSON does not have.
    #[error("`{0}` is not a number in JSON")]
    NotFinite(&'static str),
    /// `/* ...` or `// ...` that reaches the end of the text.
    #[error("comment without an end")]
    OpenComment,
    /// A string without its closing quote.
    #[error("string without an end")]
    OpenString,
    /// A line break, tab or other control character inside a string.
    #[error("control character `{}` in a string, write it as an escape", .0.escape_debug())]
    ControlCharacter(char),
    /// `\u` without four hexadecimal digits.
    #[error("`\\u` without four hexadecimal digits")]
    UnicodeEscape,
    /// The first half of a surrogate pair with too little text after it.
    #[error("incomplete surrogate pair")]
    SurrogatePair,
    /// Arrays and objects nested deeper than Ruby accepts.
    #[error("nesting of {MAX_NESTING} levels exceeded")]
    TooDeep,
}

/// Reads a JSON document. `text_of` makes the value of each string and of each key.
///
/// A string that is not UTF-8 becomes [`Value::Bytes`] and does not reach `text_of`, since Ruby reads on too:
/// only a lookup of that very value fails.
pub fn parse(text: &[u8], text_of: &mut dyn FnMut(&str) -> Value) -> Result<Value, JsonError> {
    let mut parser = Parser {
        text,
        position: 0,
        text_of,
        buffer: Vec::new(),
    };
    parser.document().map_err(|problem| {
        let (line, column) = line_and_column(text, parser.position);
        JsonError {
            line,
            column,
            problem,
            ruby_message: refusal::message(text),
        }
    })
}

struct Parser<'a> {
    text: &'a [u8],
    /// After a failure, the position of what caused it.
    position: usize,
    text_of: &'a mut dyn FnMut(&str) -> Value,
    /// A buffer for strings with escapes, reused for each.
    buffer: Vec<u8>,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<Value, JsonProblem> {
        self.skip_blanks()?;
        let value = self.value(0)?;
        self.skip_blanks()?;
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.unexpected("the end of the text")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonProblem> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.take_word("null") => Ok(Value::Null),
            _ if self.take_word("true") => Ok(Value::Bool(true)),
            _ if self.take_word("false") => Ok(Value::Bool(false)),
            _ if self.rest().starts_with(b"NaN") => Err(JsonProblem::NotFinite("NaN")),
            _ if self.rest().starts_with(b"Infinity") => Err(JsonProblem::NotFinite("Infinity")),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonProblem> {
        check_depth(depth)?;
        self.position += 1;
        let mut hash = Hash::new();
        self.skip_blanks()?;
        if self.take(b'}') {
            return Ok(Value::hash(hash));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_blanks()?;
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.skip_blanks()?;
            let value = self.value(depth)?;
            hash.insert(key, value);
            self.skip_blanks()?;
            if self.take(b'}') {
                return Ok(Value::hash(hash));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
            self.skip_blanks()?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonProblem> {
        check_depth(depth)?;
        self.position += 1;
        let mut items = Vec::new();
        self.skip_blanks()?;
        if self.take(b']') {
            return Ok(Value::array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_blanks()?;
            if self.take(b']') {
                return Ok(Value::array(items));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
            self.skip_blanks()?;
        }
    }

    fn number(&mut self) -> Result<Value, JsonProblem> {
        let start = self.position;
        if self.take(b'-') && self.rest().starts_with(b"Infinity") {
            self.position = start;
            return Err(JsonProblem::NotFinite("-Infinity"));
        }
        // A number that starts with 0 ends there, so that `01` fails at its second digit.
        if !self.take(b'0') {
            self.digits()?;
        }
        let mut is_integer = true;
        if self.take(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits()?;
        }
        let written = self.text.get(start..self.position).unwrap_or_default();
        // Digits, signs and `.eE` are ASCII.
        let written = std::str::from_utf8(written).unwrap_or_default();
        let number = if is_integer {
            match written.parse() {
                Ok(number) => Some(Value::Int(number)),
                Err(_) => written.parse::<BigInt>().ok().map(Value::integer),
            }
        } else {
            // Numbers that are too large become infinite, in Ruby as in Rust.
            written.parse().ok().map(Value::Float)
        };
        number.ok_or(JsonProblem::UnexpectedEnd {
            expected: "a digit",
        })
    }

    fn digits(&mut self) -> Result<(), JsonProblem> {
        let count = self
            .rest()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        if count == 0 {
            return Err(self.unexpected("a digit"));
        }
        self.position += count;
        Ok(())
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) -> Result<(), JsonProblem> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.position += 1,
                Some(b'/') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), JsonProblem> {
        let rest = self.rest();
        let length = match rest.get(1) {
            // Ruby requires the line break: a file must not end in such a comment without one.
            Some(b'/') => memchr::memchr(b'\n', rest).map(|newline| newline + 1),
            Some(b'*') => {
                let body = rest.get(2..).unwrap_or_default();
                memchr::memmem::find(body, b"*/").map(|end| end + 4)
            }
            _ => return Err(self.unexpected("a value or a comment")),
        };
        self.position += length.ok_or(JsonProblem::OpenComment)?;
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.position += usize::from(is_there);
        is_there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.rest().starts_with(word.as_bytes());
        self.position += if is_there { word.len() } else { 0 };
        is_there
    }

    fn unexpected(&self, expected: &'static str) -> JsonProblem {
        let chunk = self.rest().utf8_chunks().next();
        match chunk.map(|chunk| chunk.valid().chars().next()) {
            None => JsonProblem::UnexpectedEnd { expected },
            Some(found) => JsonProblem::UnexpectedCharacter {
                found: found.unwrap_or(char::REPLACEMENT_CHARACTER),
                expected,
            },
        }
    }
}

fn check_depth(depth: usize) -> Result<(), JsonProblem> {
    if depth > MAX_NESTING {
        return Err(JsonProblem::TooDeep);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
