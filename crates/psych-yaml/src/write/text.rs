//! Which style a text is written in, and how a float looks.

use crate::Style;
use crate::scalar::{Resolved, Scalar, is_representable_date, is_representable_time, resolve};
use crate::word::is_word;

/// The style that Psych asks for. The emitter has the last word, and takes another where this one is impossible.
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

/// A line break that is neither the last character nor the one before a last line break.
fn breaks_inside(text: &str) -> bool {
    let end = text.strip_suffix('\n').unwrap_or(text);
    end.strip_suffix('\n').unwrap_or(end).contains('\n')
}

/// A line that starts with something else than a letter or digit and has no double quote after it.
fn starts_without_word(text: &str) -> bool {
    let mut rest = text;
    loop {
        let mut characters = rest.chars();
        let Some(first) = characters.next() else {
            return false;
        };
        let after = characters.as_str();
        // An empty line is itself the something else, and the next line is what follows.
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

/// Whether the text means itself when it stands without quotes.
fn is_read_as_text(text: &str) -> bool {
    match resolve(text) {
        Ok(Resolved::Scalar(scalar)) => matches!(scalar, Scalar::String(_)),
        // Psych reads a day or an hour that does not exist as a text.
        Ok(Resolved::Date) => !is_representable_date(text),
        Ok(Resolved::Time) => !is_representable_time(text),
        // Puppet: Psych cannot write these at all, since it fails to read them.
        Err(_) => false,
    }
}

/// Digits that start as an octal number does and are none: `08`.
fn is_failed_octal(text: &str) -> bool {
    text.starts_with('0')
        && text
            .trim_start_matches(|digit: char| ('0'..='7').contains(&digit))
            .starts_with(['8', '9'])
}

/// A float as Ruby's `to_s` shows it: the shortest digits that stand for it, with an exponent when it is very large or
/// very small.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    float_text(number)
}

/// A finite float as Ruby's `to_s` writes it: the shortest text that reads back, with an exponent where that is long.
pub fn float_text(number: f64) -> String {
    let (digits, exponent) = shortest(number);
    let places = digits.chars().filter(char::is_ascii_digit).count();
    // A whole number has up to fifteen digits before it gets an exponent, one with a fraction as many as there are.
    let whole = usize::try_from(exponent).is_ok_and(|exponent| places <= exponent + 1);
    if exponent < -4 || (whole && exponent >= 15) {
        let point = if digits.contains('.') { "" } else { ".0" };
        return format!("{digits}{point}e{exponent:+03}");
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let digits = digits.replace(['-', '.'], "");
    match usize::try_from(exponent) {
        Ok(exponent) => {
            let digits = format!("{digits:0<width$}", width = exponent + 2);
            let (whole, fraction) = digits
                .split_at_checked(exponent + 1)
                .unwrap_or((&digits, "0"));
            format!("{sign}{whole}.{fraction}")
        }
        Err(_) => {
            let zeros = "0".repeat(usize::try_from(-1 - exponent).unwrap_or(0));
            format!("{sign}0.{zeros}{digits}")
        }
    }
}

/// The shortest digits that stand for a number, with a point after the first of several, and the exponent.
fn shortest(number: f64) -> (String, i32) {
    let split = |text: String| {
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        (digits.to_owned(), exponent.parse().unwrap_or(0))
    };
    let (digits, exponent) = split(format!("{number:e}"));
    // Of two equally near Ruby takes the even one, as rounding to that many digits does, and Rust the larger one.
    let places = digits.chars().filter(char::is_ascii_digit).count();
    let rounded = format!("{number:.precision$e}", precision = places - 1);
    if rounded.parse() == Ok(number) {
        return split(rounded);
    }
    (digits, exponent)
}
