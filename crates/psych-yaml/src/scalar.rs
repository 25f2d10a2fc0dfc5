//! The value of an untagged scalar.
//!
//! [`resolve`] follows Psych's scanner, a sequence of regular expressions in which the first match wins. All of them
//! except the one for words only match strings that start with a digit, a sign, a point or a colon, so the first byte
//! decides which rules apply, and for most strings none do.

mod number;
mod time;

pub(crate) use time::{is_representable_date, is_representable_time};

use num_bigint::BigInt;

use crate::error::NumberKind;

/// The value of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar<'a> {
    /// `~`, `null` or empty.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A larger integer.
    BigInteger(BigInt),
    /// A float.
    Float(f64),
    /// A string.
    String(&'a str),
    /// The content of `!!binary`, unless it is UTF-8.
    ///
    /// Puppet: Ruby marks UTF-8 as binary too, but nearly always treats it as any other string.
    Bytes(&'a [u8]),
    /// `:name`, without the colon.
    Symbol(&'a str),
}

/// The value of a scalar without a tag. Times and dates are classes of Ruby that are not allowed in data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolved<'a> {
    Scalar(Scalar<'a>),
    Time,
    Date,
}

/// A scalar that looks like a number but is not valid; Ruby raises an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unresolvable {
    Number { text: String, kind: NumberKind },
    TooLong,
}

/// The maximum length of an integer.
///
/// Puppet: Ruby reads longer ones, which takes quadratic time here.
pub(crate) const INTEGER_LENGTH: usize = 50_000;

/// Resolves a plain scalar.
pub(crate) fn resolve(text: &str) -> Result<Resolved<'_>, Unresolvable> {
    let bytes = text.as_bytes();
    let scalar = match bytes.first() {
        None => Scalar::Null,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => return number::resolve(text),
        Some(b':') => symbol(text),
        Some(b'y' | b't' | b'o' | b'n' | b'f' | b'Y' | b'T' | b'O' | b'N' | b'F' | b'~') => {
            word(text)
        }
        Some(_) => Scalar::String(text),
    };
    Ok(Resolved::Scalar(scalar))
}

/// `:name`, `:"name"` or `:'name'`.
fn symbol(text: &str) -> Scalar<'_> {
    let Some(name) = text.strip_prefix(':').filter(|name| !name.is_empty()) else {
        return Scalar::String(text);
    };
    if name.contains('\n') {
        return Scalar::String(text);
    }
    for quote in ['"', '\''] {
        // Psych drops what follows the last quote.
        if let Some((inside, _)) = name
            .strip_prefix(quote)
            .and_then(|rest| rest.rsplit_once(quote))
        {
            return Scalar::Symbol(inside.strip_prefix(':').unwrap_or(inside));
        }
    }
    Scalar::Symbol(name)
}

/// Resolves the words for null, true and false, in upper or lower case.
///
/// Psych's regular expressions match lines: a tagged block scalar `yes\n` is true. If there are several lines, each must
/// start with one of the letters, and one must be a word.
fn word(text: &str) -> Scalar<'_> {
    const MAX_LENGTH: usize = 5;
    // A character has at most four bytes.
    if text.len() > MAX_LENGTH * 4 || text.chars().count() > MAX_LENGTH {
        return Scalar::String(text);
    }
    let starts_well =
        |line: &str| line.starts_with(['y', 't', 'o', 'n', 'f', 'Y', 'T', 'O', 'N', 'F', '~']);
    // A line break at the end does not start another line.
    let lines = || text.strip_suffix('\n').unwrap_or(text).split('\n');
    let any_is = |words: &[&str]| lines().any(|line| words.iter().any(|word| is_word(line, word)));
    if !lines().all(starts_well) {
        Scalar::String(text)
    } else if text == "~" || any_is(&["null"]) {
        Scalar::Null
    } else if any_is(&["yes", "true", "on"]) {
        Scalar::Bool(true)
    } else if any_is(&["no", "false", "off"]) {
        Scalar::Bool(false)
    } else {
        Scalar::String(text)
    }
}

/// Compares by Unicode's case folding, as Ruby does: `ſ` equals `s`, and `ﬀ` equals `ff`.
fn is_word(line: &str, word: &str) -> bool {
    if line.is_ascii() {
        return line.eq_ignore_ascii_case(word);
    }
    let folded = line.replace('ſ', "s").replace('ﬀ', "ff");
    folded.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests;
