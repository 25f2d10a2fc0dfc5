//! The messages of Ruby's parser (json 2.6.1) for a text that it refuses.
//!
//! A message quotes the text from where the parser gave up, and that is rarely the mistake: an object that fails passes its
//! failure up without a message, and the parser of the enclosing value quotes all of it. The numbers in the messages are
//! line numbers of Ruby's own source.

use super::MAX_NESTING;
use super::string::{StringEnd, string_end, unescape};

const IN_DOCUMENT: u16 = 859;
const IN_ARRAY: u16 = 451;

/// The message for a text that cannot be parsed.
pub(super) fn message(text: &[u8]) -> String {
    match (Reader { text }).document() {
        Err(Refusal::Raised(message)) => message,
        // Not reached for what the parser refuses.
        Ok(()) | Err(Refusal::Silent) => quoted(IN_DOCUMENT, "unexpected token", text),
    }
}

enum Refusal {
    /// The enclosing value reports it.
    Silent,
    /// It has its message.
    Raised(String),
}

/// The position after what was read.
type Step = Result<usize, Refusal>;

struct Reader<'a> {
    text: &'a [u8],
}

impl Reader<'_> {
    fn document(&self) -> Result<(), Refusal> {
        let start = self.blanks(0).map_err(|at| self.token(IN_DOCUMENT, at))?;
        let end = self.element(start, 0, IN_DOCUMENT)?;
        let end = self.blanks(end).map_err(|at| self.token(IN_DOCUMENT, at))?;
        match self.peek(end) {
            None => Ok(()),
            Some(_) => Err(self.token(IN_DOCUMENT, end)),
        }
    }

    /// A value whose silent failure is reported here.
    fn element(&self, at: usize, depth: usize, line: u16) -> Step {
        self.value(at, depth).map_err(|refusal| match refusal {
            Refusal::Silent => self.token(line, at),
            raised => raised,
        })
    }

    fn value(&self, at: usize, depth: usize) -> Step {
        match self.peek(at) {
            Some(b'"') => self.string(at),
            Some(b'{') => self.object(at, depth + 1),
            Some(b'[') => self.array(at, depth + 1),
            Some(b'-' | b'0'..=b'9') => self.number(at),
            _ => self.word(at),
        }
    }

    fn word(&self, at: usize) -> Step {
        if self.rest(at).starts_with(b"NaN") {
            return Err(self.token(225, at));
        }
        if self.rest(at).starts_with(b"Infinity") {
            // Ruby steps back one too many; there is nothing to show before the text.
            return Err(match at.checked_sub(1) {
                Some(before) => self.token(232, before),
                None => self.token(232, self.text.len()),
            });
        }
        let known = ["null", "true", "false"];
        match known
            .iter()
            .find(|word| self.rest(at).starts_with(word.as_bytes()))
        {
            Some(word) => Ok(at + word.len()),
            None => Err(Refusal::Silent),
        }
    }

    fn array(&self, at: usize, depth: usize) -> Step {
        check_depth(depth)?;
        let stop = |at| self.token(IN_ARRAY, at);
        let mut at = self.blanks(at + 1).map_err(stop)?;
        if self.peek(at) == Some(b']') {
            return Ok(at + 1);
        }
        loop {
            at = self.element(at, depth, IN_ARRAY)?;
            at = self.blanks(at).map_err(stop)?;
            match self.peek(at) {
                Some(b']') => return Ok(at + 1),
                Some(b',') => at = self.blanks(at + 1).map_err(stop)?,
                _ => return Err(stop(at)),
            }
        }
    }

    fn object(&self, at: usize, depth: usize) -> Step {
        check_depth(depth)?;
        let silent = |_| Refusal::Silent;
        let mut at = self.blanks(at + 1).map_err(silent)?;
        if self.peek(at) == Some(b'}') {
            return Ok(at + 1);
        }
        loop {
            if self.peek(at) != Some(b'"') {
                return Err(Refusal::Silent);
            }
            at = self.blanks(self.string(at)?).map_err(silent)?;
            if self.peek(at) != Some(b':') {
                return Err(Refusal::Silent);
            }
            at = self.blanks(at + 1).map_err(silent)?;
            at = self.blanks(self.value(at, depth)?).map_err(silent)?;
            match self.peek(at) {
                Some(b'}') => return Ok(at + 1),
                Some(b',') => at = self.blanks(at + 1).map_err(silent)?,
                _ => return Err(Refusal::Silent),
            }
        }
    }

    fn string(&self, at: usize) -> Step {
        let StringEnd { written, end, .. } =
            string_end(self.text, at).map_err(|_| Refusal::Silent)?;
        match unescape(written, &mut Vec::new()) {
            Ok(()) => Ok(end),
            // The other problem of an escape has been seen by the search for the end.
            Err(bad) => {
                let rest = self.rest(at + 1 + bad.plain_start);
                Err(Refusal::Raised(quoted(
                    521,
                    "incomplete surrogate pair",
                    rest,
                )))
            }
        }
    }

    /// Tried as a float first, then as an integer; what follows that is unexpected.
    fn number(&self, at: usize) -> Step {
        if self.rest(at).starts_with(b"-Infinity") {
            return Err(self.token(249, at));
        }
        let start = at + usize::from(self.peek(at) == Some(b'-'));
        let whole = match self.peek(start) {
            Some(b'0') if self.digits(start + 1) == start + 1 => start + 1,
            Some(b'1'..=b'9') => self.digits(start),
            _ => return Err(Refusal::Silent),
        };
        Ok(self.fraction(whole).unwrap_or(whole))
    }

    /// The end of a float whose digits before the point end at `whole`.
    fn fraction(&self, whole: usize) -> Option<usize> {
        let mut end = whole;
        if self.peek(end) == Some(b'.') {
            end = self.some_digits(end + 1)?;
        }
        if matches!(self.peek(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(end + 1), Some(b'+' | b'-')));
            end = self.some_digits(end + 1 + sign)?;
        }
        let goes_on = matches!(self.peek(end), Some(b'e' | b'E' | b'.' | b'-'));
        (!goes_on).then_some(end)
    }

    fn some_digits(&self, at: usize) -> Option<usize> {
        Some(self.digits(at)).filter(|end| *end > at)
    }

    fn digits(&self, at: usize) -> usize {
        let digits = self
            .rest(at)
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        at + digits.count()
    }

    /// The position after white space and comments, or where they are malformed.
    fn blanks(&self, mut at: usize) -> Result<usize, usize> {
        loop {
            match self.peek(at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
                Some(b'/') => {
                    let length = match self.peek(at + 1) {
                        Some(b'/') => memchr::memchr(b'\n', self.rest(at)).map(|end| end + 1),
                        Some(b'*') => {
                            memchr::memmem::find(self.rest(at + 2), b"*/").map(|end| end + 4)
                        }
                        _ => return Err(at + 1),
                    };
                    at += length.ok_or(self.text.len())?;
                }
                _ => return Ok(at),
            }
        }
    }

    fn peek(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    fn token(&self, line: u16, at: usize) -> Refusal {
        Refusal::Raised(quoted(line, "unexpected token", self.rest(at)))
    }
}

fn check_depth(depth: usize) -> Result<(), Refusal> {
    if depth > MAX_NESTING {
        return Err(Refusal::Raised(format!("nesting of {depth} is too deep")));
    }
    Ok(())
}

/// The text is quoted to its end, or to a NUL, where a C string ends.
fn quoted(line: u16, what: &str, rest: &[u8]) -> String {
    let rest = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    format!("{line}: {what} at '{}'", String::from_utf8_lossy(rest))
}
