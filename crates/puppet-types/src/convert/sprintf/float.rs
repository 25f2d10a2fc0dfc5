//! Floats: `%f`, `%e`, `%g` and `%a`.

use super::super::ConversionError;
use super::super::format::Format;
use super::{check_flags, pad, with_lines};

/// `%f`, `%e`, `%g` and `%a` of a float.
pub(in crate::convert) fn float(format: &Format, number: f64) -> Result<String, ConversionError> {
    check_flags(format)?;
    let sign = match (number.is_sign_negative() && !number.is_nan(), ()) {
        (true, ()) => "-",
        _ if format.has('+') => "+",
        _ if format.has(' ') => " ",
        _ => "",
    };
    let magnitude = number.abs();
    if !magnitude.is_finite() {
        let word = if number.is_nan() { "NaN" } else { "Inf" };
        return with_lines(format, &pad(format, &format!("{sign}{word}")));
    }
    let alternative = format.is_alternative();
    let is_upper = format.letter.is_ascii_uppercase();
    let (prefix, digits) = match format.letter.to_ascii_lowercase() {
        'e' => (
            "",
            exponential(magnitude, format.precision.unwrap_or(6), alternative),
        ),
        'g' => (
            "",
            general(magnitude, format.precision.unwrap_or(6), alternative),
        ),
        'a' => ("0x", hexadecimal(magnitude, format.precision, alternative)),
        _ => (
            "",
            fixed(magnitude, format.precision.unwrap_or(6), alternative),
        ),
    };
    let (prefix, digits) = if is_upper {
        (prefix.to_uppercase(), digits.to_uppercase())
    } else {
        (prefix.to_owned(), digits)
    };
    let missing = format
        .width
        .unwrap_or(0)
        .saturating_sub(sign.len() + prefix.len() + digits.len());
    if format.has('0') && !format.has('-') {
        let zeros = "0".repeat(missing);
        return with_lines(format, &format!("{sign}{prefix}{zeros}{digits}"));
    }
    with_lines(format, &pad(format, &format!("{sign}{prefix}{digits}")))
}

fn fixed(number: f64, precision: usize, alternative: bool) -> String {
    let dot = if alternative && precision == 0 {
        "."
    } else {
        ""
    };
    format!("{number:.precision$}{dot}")
}

fn exponential(number: f64, precision: usize, alternative: bool) -> String {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let dot = if alternative && precision == 0 {
        "."
    } else {
        ""
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{dot}e{sign}{:02}", exponent.abs())
}

fn general(number: f64, precision: usize, alternative: bool) -> String {
    let precision = precision.max(1);
    let text = format!("{number:.*e}", precision - 1);
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    let digits = i32::try_from(precision).unwrap_or(i32::MAX);
    let text = if (-4..digits).contains(&exponent) {
        fixed(
            number,
            usize::try_from(digits - 1 - exponent).unwrap_or(0),
            alternative,
        )
    } else {
        exponential(number, precision - 1, alternative)
    };
    if alternative || !text.contains('.') {
        return text;
    }
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
        None => (text.as_str(), String::new()),
    };
    let trimmed = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{trimmed}{exponent}")
}

/// The digits of `%a`, without the `0x`.
fn hexadecimal(number: f64, precision: Option<usize>, alternative: bool) -> String {
    if number == 0.0 {
        let zeros = "0".repeat(precision.unwrap_or(0));
        let dot = if alternative || !zeros.is_empty() {
            "."
        } else {
            ""
        };
        return format!("0{dot}{zeros}p+0");
    }
    let bits = number.to_bits();
    let mut mantissa = bits & ((1 << 52) - 1);
    let biased = i64::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    let mut exponent = biased - 1023;
    let mut lead = 1u64;
    if biased == 0 {
        // Ruby also writes subnormal numbers with a leading 1.
        let shift = mantissa.leading_zeros() - 11;
        mantissa = mantissa << shift & ((1 << 52) - 1);
        exponent = -1022 - i64::from(shift);
    }
    let mut digits = format!("{mantissa:013x}");
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) if precision < 13 => {
            let drop = 4 * (13 - u32::try_from(precision).unwrap_or(0));
            let whole = lead << 52 | mantissa;
            let half = 1u64 << (drop - 1);
            let rest = whole & ((1 << drop) - 1);
            let mut kept = whole >> drop;
            if rest > half || rest == half && kept & 1 == 1 {
                kept += 1;
            }
            let width = precision * 4;
            lead = kept >> width;
            if lead == 2 {
                lead = 1;
                exponent += 1;
            }
            let fraction = kept & ((1 << width) - 1);
            digits = if precision == 0 {
                String::new()
            } else {
                format!("{fraction:0precision$x}")
            };
        }
        Some(precision) => digits.push_str(&"0".repeat(precision - 13)),
    }
    let dot = if alternative || !digits.is_empty() {
        "."
    } else {
        ""
    };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{lead}{dot}{digits}p{sign}{}", exponent.abs())
}
