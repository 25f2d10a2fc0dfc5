//! The styles of strings, and floats.

use crate::Style;
use crate::ruby::float_to_s;
use crate::scalar::{Resolved, Scalar, is_representable_date, is_representable_time, resolve};
use crate::word::is_word;

/// The style that Psych requests. The emitter uses another one where this is impossible.
pub(super) fn style(text: &str) -> Style {
    if breaks_inside(text) {
        Style::Literal
    } else if text == "y" || text == "n" || starts_without_word(text) {
        Style::DoubleQuoted
    } else if !is_read_as_text(text) || is_failed_octal(text) {
        Style::SingleQuoted
    } else {
        Style::Plain
    }
}

/// Whether a line break is neither the last character nor before a line break that is.
fn breaks_inside(text: &str) -> bool {
    let end = text.strip_suffix('\n').unwrap_or(text);
    end.strip_suffix('\n').unwrap_or(end).contains('\n')
}

/// Whether a line starts with something other than a word character and has no double quote after it.
fn starts_without_word(text: &str) -> bool {
    let mut rest = text;
    loop {
        let mut characters = rest.chars();
        let Some(first) = characters.next() else {
            return false;
        };
        let after = characters.as_str();
        // On an empty line, the line break is that character, and the next line follows it.
        let line = after.split('\n').next().unwrap_or_default();
        if !is_word(first) && !line.contains('"') {
            return true;
        }
        match rest.split_once('\n') {
            Some((_, next)) => rest = next,
            None => return false,
        }
    }
}

/// Whether an unquoted string is read as the same string.
fn is_read_as_text(text: &str) -> bool {
    match resolve(text) {
        Ok(Resolved::Scalar(scalar)) => matches!(scalar, Scalar::String(_)),
        // Psych reads a day or an hour that does not exist as a string.
        Ok(Resolved::Date) => !is_representable_date(text),
        Ok(Resolved::Time) => !is_representable_time(text),
        // Puppet: Psych cannot write these, since it fails to read them.
        Err(_) => false,
    }
}

/// Whether a string starts like an octal number but is none: `08`.
fn is_failed_octal(text: &str) -> bool {
    text.starts_with('0')
        && text
            .trim_start_matches(|digit: char| ('0'..='7').contains(&digit))
            .starts_with(['8', '9'])
}

/// A float as Psych writes it.
pub(super) fn float(number: f64) -> String {
    match number {
        _ if number.is_nan() => ".nan".to_owned(),
        f64::INFINITY => ".inf".to_owned(),
        f64::NEG_INFINITY => "-.inf".to_owned(),
        finite => float_to_s(finite),
    }
}
