//! Scalars that start with a digit, a sign or a point.
//!
//! These are YAML 1.1 numbers as Psych reads them, with `,` and `_` as separators and base 60. `Integer()` and `Float()`
//! have other rules; see [`ruby`](crate::ruby).

use num_bigint::BigInt;

use super::{INTEGER_LENGTH, Resolved, Scalar, Unresolvable, time};
use crate::error::NumberKind;

/// Resolves a scalar that starts with a digit, a sign or a point.
pub(super) fn resolve(text: &str) -> Result<Resolved<'_>, Unresolvable> {
    let bytes = text.as_bytes();
    let digits = unsigned(bytes);
    let string = Resolved::Scalar(Scalar::String(text));
    match digits.first() {
        Some(b'0'..=b'9') => {}
        Some(b'.') => {
            return match special_float(text) {
                Some(special) => Ok(Resolved::Scalar(special)),
                None => float(text),
            };
        }
        _ => return Ok(string),
    }
    if let [year @ .., b'-'] = digits.get(..5).unwrap_or_default()
        && year.iter().all(u8::is_ascii_digit)
    {
        if time::is_time(bytes) {
            return Ok(Resolved::Time);
        }
        if time::is_date(bytes) {
            return Ok(Resolved::Date);
        }
        return Ok(string);
    }
    let end = digits
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'_' | b','));
    match end.and_then(|end| digits.get(end)) {
        Some(b'.') => float(text),
        Some(b':') => Ok(sexagesimal(text)?.map_or(string, Resolved::Scalar)),
        None | Some(b'x' | b'b') => integer(text),
        Some(_) => Ok(string),
    }
}

/// The rest after an optional sign.
fn unsigned(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    }
}

/// `.inf`, `-.inf` and `.nan` in upper or lower case. `.nan` with a sign is a string.
fn special_float(text: &str) -> Option<Scalar<'static>> {
    let is = |form: &str| text.eq_ignore_ascii_case(form);
    if is(".inf") || is("+.inf") {
        Some(Scalar::Float(f64::INFINITY))
    } else if is("-.inf") {
        Some(Scalar::Float(f64::NEG_INFINITY))
    } else if is(".nan") {
        Some(Scalar::Float(f64::NAN))
    } else {
        None
    }
}

/// `[-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][-+][0-9]+)?`
fn float(text: &str) -> Result<Resolved<'_>, Unresolvable> {
    let string = Ok(Resolved::Scalar(Scalar::String(text)));
    let Some((whole, rest)) = text.split_once('.') else {
        return string;
    };
    let whole_digits = unsigned(whole.as_bytes());
    if !whole_digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b','))
    {
        return string;
    }
    let (fraction, exponent) = match rest.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent.as_bytes())),
        None => (rest, None),
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return string;
    }
    match exponent {
        None | Some([b'+' | b'-', b'0'..=b'9', ..]) => {}
        Some(_) => return string,
    }
    if !exponent
        .and_then(|exponent| exponent.get(1..))
        .is_none_or(|digits| digits.iter().all(u8::is_ascii_digit))
    {
        return string;
    }
    if whole_digits.is_empty() && fraction.is_empty() {
        // A point alone is a string. With an exponent, Psych passes it to `Float()`, which refuses it.
        return match exponent {
            None => string,
            Some(_) => Err(Unresolvable::Number {
                text: text.replace('.', ""),
                kind: NumberKind::Float,
            }),
        };
    }
    let number = if whole_digits.contains(&b',') || whole_digits.contains(&b'_') {
        text.replace([',', '_'], "").parse()
    } else {
        text.parse()
    };
    // Neither can fail: only a sign, digits, a point, digits and an exponent are left.
    Ok(Resolved::Scalar(
        number.map_or(Scalar::String(text), Scalar::Float),
    ))
}

/// `[-+]?0b[0-1_,]+`, `[-+]?0[0-7_,]+`, `[-+]?0x[0-9a-fA-F_,]+`, `[-+]?(0|[1-9]([0-9]|,[0-9]|_[0-9])*)`
fn integer(text: &str) -> Result<Resolved<'_>, Unresolvable> {
    let body = unsigned(text.as_bytes());
    let (radix, digits) = match body {
        [b'0', b'b', digits @ ..] if !digits.is_empty() => (2, digits),
        [b'0', b'x', digits @ ..] if !digits.is_empty() => (16, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, digits),
        _ => (10, body),
    };
    let separator = |byte: u8| byte == b',' || byte == b'_';
    let fits = digits
        .iter()
        .all(|&byte| separator(byte) || char::from(byte).is_digit(radix));
    // The separators of a decimal number must be between digits.
    let separated = radix != 10
        || digits.last().is_some_and(u8::is_ascii_digit)
            && !digits
                .windows(2)
                .any(|pair| pair.iter().all(|&byte| separator(byte)));
    if !fits || !separated {
        return Ok(Resolved::Scalar(Scalar::String(text)));
    }
    let negative = text.starts_with('-');
    let values = digits
        .iter()
        .filter_map(|&byte| char::from(byte).to_digit(radix));
    let small = values.clone().try_fold(0_i64, |number, digit| {
        let shifted = number.checked_mul(i64::from(radix))?;
        if negative {
            shifted.checked_sub(i64::from(digit))
        } else {
            shifted.checked_add(i64::from(digit))
        }
    });
    if matches!(radix, 2 | 16) && values.clone().next().is_none() {
        return Err(Unresolvable::Number {
            text: text.replace([',', '_'], ""),
            kind: NumberKind::Integer,
        });
    }
    let scalar = match small {
        Some(number) => Scalar::Integer(number),
        None => normalized(big(values, radix, negative)?),
    };
    Ok(Resolved::Scalar(scalar))
}

fn big(
    digits: impl Iterator<Item = u32>,
    radix: u32,
    negative: bool,
) -> Result<BigInt, Unresolvable> {
    let mut text = String::new();
    if negative {
        text.push('-');
    }
    text.extend(digits.filter_map(|digit| char::from_digit(digit, radix)));
    if text.len() > INTEGER_LENGTH {
        return Err(Unresolvable::TooLong);
    }
    Ok(BigInt::parse_bytes(text.as_bytes(), radix).unwrap_or_default())
}

fn normalized(number: BigInt) -> Scalar<'static> {
    i64::try_from(&number).map_or(Scalar::BigInteger(number), Scalar::Integer)
}

/// `[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){1,2}`, and the same with `\.[0-9_]*`.
///
/// The first part is always hours to Psych, so `1:30` is an hour and a half in seconds. A sign only applies to the first
/// part.
fn sexagesimal(text: &str) -> Result<Option<Scalar<'static>>, Unresolvable> {
    let mut parts = text.split(':');
    let head = parts.next().unwrap_or_default();
    if head.contains(',') {
        return Ok(None);
    }
    let (second, third) = (parts.next().unwrap_or_default(), parts.next());
    if parts.next().is_some() {
        return Ok(None);
    }
    let (middle, last) = match third {
        Some(third) => (Some(second), third),
        None => (None, second),
    };
    let (last, fraction) = match last.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (last, None),
    };
    let under_sixty =
        |part: &str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    if !middle.is_none_or(under_sixty) || !under_sixty(last) {
        return Ok(None);
    }
    let whole = |part: &str| part.parse::<i64>().unwrap_or_default();
    let Some(fraction) = fraction else {
        let hours = big(prefix_digits(head), 10, head.starts_with('-'))?;
        let rest = match middle {
            Some(minutes) => whole(minutes) * 60 + whole(last),
            None => whole(last) * 60,
        };
        return Ok(Some(normalized(hours * 3600 + rest)));
    };
    if !fraction
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'_')
    {
        return Ok(None);
    }
    let last = prefix_float(&format!("{last}.{fraction}"));
    let hours = prefix_float(head) * 3600.0;
    let sum = match middle {
        Some(minutes) => hours + prefix_float(minutes) * 60.0 + last,
        None => hours + last * 60.0,
    };
    Ok(Some(Scalar::Float(sum)))
}

/// The digits that `String#to_i` reads: it skips single underscores between them, anything else ends the number.
fn prefix_digits(text: &str) -> impl Iterator<Item = u32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = digits.find("__").unwrap_or(digits.len());
    digits
        .chars()
        .take(end)
        .filter_map(|digit| digit.to_digit(10))
}

/// `String#to_f` of digits, underscores and a point: the number that the string starts with.
fn prefix_float(text: &str) -> f64 {
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
