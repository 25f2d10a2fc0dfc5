//! Which value a scalar's text stands for.
//!
//! [`resolve`] follows Psych's scanner, a cascade of regular expressions in which the first match wins. Every
//! expression but the one for words can only match a text that starts with a digit, a sign, a point or a colon, so the
//! first byte decides which way a text goes, and most texts go no further.

mod float;
mod number;
mod time;

pub(crate) use float::parse_float;
pub(crate) use time::{is_representable_date, is_representable_time};

use num_bigint::BigInt;

use crate::error::NumberKind;

/// What a scalar stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar<'a> {
    /// `~`, `null` or nothing.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer that takes more.
    BigInteger(BigInt),
    /// A float.
    Float(f64),
    /// A text.
    String(&'a str),
    /// What `!!binary` contains, unless it is text.
    ///
    /// Puppet: Ruby keeps text apart as well, but nearly always treats it as any other.
    Bytes(&'a [u8]),
    /// `:name`, without the colon.
    Symbol(&'a str),
}

/// What a text without a tag stands for. Ruby has classes for the last two; data may not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolved<'a> {
    Scalar(Scalar<'a>),
    Time,
    Date,
}

/// A text that matches the form of a number and is none; Ruby raises there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unresolvable {
    Number { text: String, kind: NumberKind },
    TooLong,
}

/// An integer of more characters is refused.
///
/// Puppet: Ruby reads it, but here that takes quadratic time.
pub(crate) const INTEGER_LENGTH: usize = 50_000;

/// Resolves a plain text.
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
        // Psych ends at the last quote and drops what follows it.
        if let Some((inside, _)) = name
            .strip_prefix(quote)
            .and_then(|rest| rest.rsplit_once(quote))
        {
            return Scalar::Symbol(inside.strip_prefix(':').unwrap_or(inside));
        }
    }
    Scalar::Symbol(name)
}

/// The words for null, true and false, in any case.
///
/// Psych's expressions look at lines: a tagged block scalar `yes\n` is true, and of several lines all must start with
/// one of the letters and one must be a word.
fn word(text: &str) -> Scalar<'_> {
    const LONGEST: usize = 5;
    // A character has at most four bytes.
    if text.len() > LONGEST * 4 || text.chars().count() > LONGEST {
        return Scalar::String(text);
    }
    let starts_well =
        |line: &str| line.starts_with(['y', 't', 'o', 'n', 'f', 'Y', 'T', 'O', 'N', 'F', '~']);
    // A line that ends the text is none.
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

/// Compares as Ruby does, by Unicode's case folding, in which `ſ` is an `s` and `ﬀ` is `ff`.
fn is_word(line: &str, word: &str) -> bool {
    if line.is_ascii() {
        return line.eq_ignore_ascii_case(word);
    }
    let folded = line.replace('ſ', "s").replace('ﬀ', "ff");
    folded.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests;
