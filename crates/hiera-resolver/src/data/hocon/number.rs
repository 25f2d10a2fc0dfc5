//! Numbers as Ruby's `Integer()` and `Float()` understand them.

use num_bigint::BigInt;
use puppet_values::Value;

/// Digits of an integer.
const MAX_DIGITS: usize = 50_000;

/// What a run of digits, signs, points and `e` turns out to be.
#[derive(Debug)]
pub(super) enum Number {
    Is(Value),
    /// Text after all, such as `1.2.3`.
    IsNot,
    OutOfRange,
}

/// Reads a number. A leading zero makes an integer octal, and a whole float is an integer.
pub(super) fn parse(written: &[u8]) -> Number {
    // Only ASCII comes here.
    let text = std::str::from_utf8(written).unwrap_or_default();
    if written
        .iter()
        .any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    {
        return float(text);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let radix = if digits.starts_with('0') { 8 } else { 10 };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Number::IsNot;
    }
    // Reading digits takes quadratic time.
    if digits.len() > MAX_DIGITS {
        return Number::OutOfRange;
    }
    match BigInt::parse_bytes(written, radix) {
        Some(number) => Number::Is(Value::integer(number)),
        None => Number::IsNot,
    }
}

fn float(text: &str) -> Number {
    if !is_float(text) {
        return Number::IsNot;
    }
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() => Number::OutOfRange,
        Ok(number) if number.fract() == 0.0 => Number::Is(Value::integer(whole(number))),
        Ok(number) => Number::Is(Value::Float(number)),
        Err(_) => Number::IsNot,
    }
}

/// `-? digits (. digits)? (e sign? digits)?`, where the digits before the point may be missing.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((before, after)) => (before.is_empty() || is_digits(before)) && is_digits(after),
        None => is_digits(mantissa),
    };
    let exponent_fits = exponent
        .is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    mantissa_fits && exponent_fits
}

/// A float without a fraction, exactly.
fn whole(number: f64) -> BigInt {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32 - 1075;
    let mantissa = BigInt::from(bits & ((1 << 52) - 1) | 1 << 52);
    let magnitude = if number == 0.0 {
        BigInt::ZERO
    } else if exponent >= 0 {
        mantissa << exponent
    } else {
        mantissa >> -exponent
    };
    if number < 0.0 { -magnitude } else { magnitude }
}
