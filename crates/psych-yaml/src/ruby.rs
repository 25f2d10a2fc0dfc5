//! Strings and numbers as Ruby's core classes read and print them.
//!
//! YAML needs them for floats and error messages. They are public for crates that print other values as Ruby does.

use std::fmt::Write as _;

use num_bigint::BigInt;

/// Whether Ruby's `\s` and `strip` treat a character as white space.
pub fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// `Float#to_s`: the shortest digits that read back, with an exponent if the number is very large or very small.
///
/// ```
/// use psych_yaml::ruby::float_to_s;
///
/// assert_eq!(float_to_s(100.0), "100.0");
/// assert_eq!(float_to_s(1e16), "1.0e+16");
/// assert_eq!(float_to_s(f64::NAN), "NaN");
/// ```
pub fn float_to_s(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        finite => finite_to_s(finite),
    }
}

fn finite_to_s(number: f64) -> String {
    let (digits, exponent) = shortest(number);
    let count = digits.chars().filter(char::is_ascii_digit).count();
    // A whole number has up to fifteen digits before it gets an exponent, one with a fraction any number of digits.
    let is_whole = usize::try_from(exponent).is_ok_and(|exponent| count <= exponent + 1);
    if exponent < -4 || (is_whole && exponent >= 15) {
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

/// The shortest digits that read back, with a point after the first of several, and the exponent.
fn shortest(number: f64) -> (String, i32) {
    let split = |text: String| {
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        (digits.to_owned(), exponent.parse().unwrap_or(0))
    };
    let (digits, exponent) = split(format!("{number:e}"));
    // If two candidates are equally near, Ruby takes the even one, as rounding to that many digits does. Rust takes the
    // larger one.
    let count = digits.chars().filter(char::is_ascii_digit).count();
    let rounded = format!("{number:.precision$e}", precision = count - 1);
    if rounded.parse() == Ok(number) {
        return split(rounded);
    }
    (digits, exponent)
}

/// `Kernel#Float` of a string; `None` if Ruby raises.
///
/// ```
/// use psych_yaml::ruby::parse_float;
///
/// assert_eq!(parse_float(" 1_000e3 "), Some(1_000_000.0));
/// assert_eq!(parse_float("0x1.8p1"), Some(3.0));
/// assert_eq!(parse_float("inf"), None);
/// ```
pub fn parse_float(text: &str) -> Option<f64> {
    let trimmed = text.trim_matches(is_space);
    let unsigned = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if let Some(hexadecimal) = unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X")) {
        let number = parse_hexadecimal(hexadecimal)?;
        let is_negative = trimmed.starts_with('-');
        return Some(if is_negative { -number } else { number });
    }
    // An underscore needs a digit on both sides, and so does the point. Rust is laxer, and accepts `inf` and `nan`.
    let is_between_digits = |index: usize| {
        let is_digit = |index: Option<usize>| {
            index
                .and_then(|index| unsigned.as_bytes().get(index))
                .is_some_and(u8::is_ascii_digit)
        };
        is_digit(index.checked_sub(1)) && is_digit(index.checked_add(1))
    };
    let is_well_formed = unsigned
        .bytes()
        .enumerate()
        .all(|(index, byte)| match byte {
            b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' => true,
            b'.' => is_between_digits(index) || index == 0,
            b'_' => is_between_digits(index),
            _ => false,
        });
    if !is_well_formed || unsigned.ends_with('.') || unsigned.starts_with(['+', '-']) {
        return None;
    }
    trimmed.replace('_', "").parse().ok()
}

/// `1A`, `1p3` or `1.8p3`, without the `0x`. A fraction needs an exponent.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((_, fraction)) if fraction.is_empty() || exponent.is_none() => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    let mut number = 0.0;
    for digit in without_underscores(whole)?.chars() {
        // Rounds at every digit, as Ruby does.
        number = number * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let mut weight = 1.0 / 16.0;
    for digit in fraction.chars() {
        number += weight * f64::from(digit.to_digit(16)?);
        weight /= 16.0;
    }
    let Some(exponent) = exponent else {
        return Some(number);
    };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let digits = without_underscores(digits)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Beyond this every number is zero or infinite.
    const MAX_EXPONENT: i32 = 100_000;
    let size = digits
        .parse()
        .unwrap_or(MAX_EXPONENT)
        .clamp(0, MAX_EXPONENT);
    let exponent = if exponent.starts_with('-') {
        -size
    } else {
        size
    };
    // In two steps, since the power alone may be out of range where the product is not.
    let half = exponent / 2;
    Some(number * f64::from(half).exp2() * f64::from(exponent - half).exp2())
}

/// Digits without the underscores between them; `None` if an underscore is not between two, or nothing is left.
fn without_underscores(digits: &str) -> Option<String> {
    let is_separated = digits.split('_').all(|part| !part.is_empty());
    is_separated.then(|| digits.replace('_', ""))
}

/// `Integer#to_f` of an integer of any size.
pub fn integer_to_f(number: &BigInt) -> f64 {
    // Decimal digits are read to the nearest float, as Ruby rounds.
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// `String#inspect` of a binary string.
///
/// ```
/// assert_eq!(psych_yaml::ruby::inspect_bytes(b"a\n#{\xFF"), "\"a\\n\\#{\\xFF\"");
/// ```
pub fn inspect_bytes(bytes: &[u8]) -> String {
    let mut inspected = String::with_capacity(bytes.len() + 2);
    inspected.push('"');
    let mut chars = bytes.iter().copied().map(char::from).peekable();
    while let Some(char) = chars.next() {
        match char {
            _ if let Some(escape) = escape(char, chars.peek().copied()) => {
                inspected.push_str(escape);
            }
            ' '..='~' => inspected.push(char),
            // Writing to a string does not fail.
            _ => _ = write!(inspected, "\\x{:02X}", u32::from(char)),
        }
    }
    inspected.push('"');
    inspected
}

/// The escape that `String#inspect` has for a character which `next` follows, if it is a special one.
pub fn escape(char: char, next: Option<char>) -> Option<&'static str> {
    Some(match char {
        '"' => "\\\"",
        '\\' => "\\\\",
        // Where it would start an interpolation.
        '#' if matches!(next, Some('{' | '$' | '@')) => "\\#",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\x0c' => "\\f",
        '\x0b' => "\\v",
        '\x08' => "\\b",
        '\x07' => "\\a",
        '\x1b' => "\\e",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_ruby() {
        for (number, expected) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
            (1e-4, "0.0001"),
            (1e-5, "1.0e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1.0e+15"),
            (1e16, "1.0e+16"),
            (1.5e20, "1.5e+20"),
            (123456.789, "123456.789"),
            (-2.5e100, "-2.5e+100"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(float_to_s(number), expected);
        }
    }

    #[test]
    fn strings_are_parsed_as_by_kernel_float() {
        for (text, number) in [
            (" 1_000e3 ", Some(1_000_000.0)),
            ("1_000e1_0", Some(1e13)),
            ("1.5e3", Some(1500.0)),
            (".5", Some(0.5)),
            ("0_1", Some(1.0)),
            ("0x1p3", Some(8.0)),
            ("-0x1.8p1", Some(-3.0)),
            ("0x1_0p1", Some(32.0)),
            ("0x1p1_0", Some(1024.0)),
            ("0x1p99999999999", Some(f64::INFINITY)),
            ("0x1p-1080", Some(0.0)),
            ("0x1000000000000000000p-1100", Some(2f64.powi(-1028))),
            // Not the nearest float: Ruby rounds at every digit.
            ("0x6f7cedf9549a52e", Some(502_097_343_152_760_060.0)),
            ("-0x1.8", None),
            ("0x1.p0", None),
            ("0x.8p0", None),
            ("0x1.8_0p1", None),
            ("0x1__0", None),
            ("0x_1", None),
            ("0x", None),
            ("0x1p", None),
            ("1__0", None),
            ("1._5", None),
            ("1.", None),
            ("1.e3", None),
            ("inf", None),
            ("+-1", None),
            ("", None),
        ] {
            assert_eq!(parse_float(text), number, "{text:?}");
        }
    }
}
