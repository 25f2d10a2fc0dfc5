//! The two ways in which Ruby makes a float of a text.

/// Ruby's `to_f` of digits, underscores and a point.
pub(super) fn prefix_float(text: &str) -> f64 {
    let mut number = String::new();
    let mut rest = text.chars().peekable();
    number.extend(rest.next_if(|sign| matches!(sign, '+' | '-')));
    while let Some(next) = rest.next() {
        let digit_follows = rest.peek().is_some_and(char::is_ascii_digit);
        match next {
            '0'..='9' => number.push(next),
            '_' if digit_follows => {}
            '.' if digit_follows => number.push(next),
            _ => break,
        }
    }
    number.parse().unwrap_or_default()
}

/// Ruby's `Float()` of a text: white space around it, underscores between digits, hexadecimal.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let body = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if let Some(hexadecimal) = body.strip_prefix("0x").or(body.strip_prefix("0X")) {
        let number = parse_hexadecimal(hexadecimal)?;
        return Some(if trimmed.starts_with('-') {
            -number
        } else {
            number
        });
    }
    // An underscore stands between digits, and so does the point; Rust is laxer, and knows `inf` and `nan`.
    let surrounded = |index: usize| {
        let digit = |index: Option<usize>| {
            index
                .and_then(|index| body.as_bytes().get(index))
                .is_some_and(u8::is_ascii_digit)
        };
        digit(index.checked_sub(1)) && digit(index.checked_add(1))
    };
    let well_formed = body.bytes().enumerate().all(|(index, byte)| match byte {
        b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' => true,
        b'.' => surrounded(index) || index == 0,
        b'_' => surrounded(index),
        _ => false,
    });
    if !well_formed || body.ends_with('.') || body.starts_with(['+', '-']) {
        return None;
    }
    trimmed.replace('_', "").parse().ok()
}

/// `1A`, `1.8`, `1p3`, without the `0x`.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (mantissa, ""),
    };
    if whole.is_empty() {
        return None;
    }
    let mut number = 0.0;
    for digit in whole.chars() {
        number = number * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let mut weight = 1.0 / 16.0;
    for digit in fraction.chars() {
        number += weight * f64::from(digit.to_digit(16)?);
        weight /= 16.0;
    }
    Some(number * f64::from(exponent).exp2())
}
