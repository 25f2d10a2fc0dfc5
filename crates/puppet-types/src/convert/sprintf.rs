//! Ruby's `format` for one value, as far as formats of `String` reach.

use num_bigint::{BigInt, Sign};

use super::format::Format;
use super::number::whole_of;
use super::{ConversionError, unusable};

/// Puts the lines around a format back.
fn with_lines(format: &Format, text: &str) -> Result<String, ConversionError> {
    let (before, after) = &format.around;
    if before.contains('%') || after.contains('%') {
        return Err(unusable("too few arguments"));
    }
    Ok(format!("{before}{text}{after}"))
}

/// Refuses the flags that `String` knows and Ruby does not.
pub(super) fn check_flags(format: &Format) -> Result<(), ConversionError> {
    let foreign = format.flags.chars().find(|flag| !" +#0-".contains(*flag));
    match foreign {
        None => Ok(()),
        Some('{' | '<') => Err(unusable("malformed name - unmatched parenthesis")),
        Some(flag) => Err(unusable(format!("malformed format string - %{flag}"))),
    }
}

fn pad(format: &Format, text: &str) -> String {
    let missing = format
        .width
        .unwrap_or(0)
        .saturating_sub(text.chars().count());
    let spaces = " ".repeat(missing);
    if format.has('-') {
        format!("{text}{spaces}")
    } else {
        format!("{spaces}{text}")
    }
}

fn truncate(format: &Format, text: &str) -> String {
    match format.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    }
}

/// `%s`: the text, cut to the precision and padded to the width.
pub(super) fn text(format: &Format, text: &str) -> Result<String, ConversionError> {
    check_flags(format)?;
    with_lines(format, &pad(format, &truncate(format, text)))
}

/// The width, precision and `-` of a format alone, as Puppet applies them to words.
pub(super) fn word(format: &Format, text: &str) -> String {
    pad(format, &truncate(format, text))
}

/// `%d`, `%x`, `%o` and `%b` of an integer.
pub(super) fn integer(format: &Format, number: &BigInt) -> Result<String, ConversionError> {
    check_flags(format)?;
    let (radix, prefix) = match format.letter {
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        'o' => (8, "0"),
        'b' => (2, "0b"),
        'B' => (2, "0B"),
        _ => (10, ""),
    };
    let is_signed = radix == 10 || format.has('+') || format.has(' ');
    let is_negative = number.sign() == Sign::Minus;
    let complement = is_negative && !is_signed;
    let mut digits = if complement {
        twos_complement(number, radix)
    } else {
        number.magnitude().to_str_radix(radix)
    };
    if format.letter == 'X' {
        digits = digits.to_uppercase();
    }
    let sign = match (is_negative, complement) {
        (true, false) => "-",
        (false, _) if format.has('+') => "+",
        (false, _) if format.has(' ') => " ",
        _ => "",
    };
    let mut prefix = if format.is_alternative() { prefix } else { "" };
    let mut precision = format.precision;
    if prefix == "0" {
        if complement {
            prefix = "";
        } else if digits == "0" {
            digits.clear();
            precision = precision.map(|precision| precision.saturating_sub(1));
        } else if precision.is_some_and(|precision| precision > digits.len()) {
            prefix = "";
        }
    } else if digits == "0" {
        prefix = "";
    }
    let dots = if complement { ".." } else { "" };
    if complement {
        precision = precision.map(|precision| precision.saturating_sub(2));
    }
    let fixed = sign.len() + prefix.len() + dots.len();
    let mut width = format.width.unwrap_or(0).saturating_sub(fixed);
    let zero_padded = format.has('0') && !format.has('-') && precision.is_none();
    let fill = if complement {
        sign_digit(format.letter)
    } else {
        '0'
    };
    let wanted = if zero_padded {
        std::mem::take(&mut width)
    } else {
        precision.unwrap_or(0)
    };
    if wanted < digits.len() && precision == Some(0) && digits == "0" && prefix.is_empty() {
        digits.clear();
    }
    let filled = wanted.saturating_sub(digits.len());
    let fills: String = std::iter::repeat_n(fill, filled).collect();
    let spaces = " ".repeat(width.saturating_sub(filled + digits.len()));
    let shown = format!("{sign}{prefix}{dots}{fills}{digits}");
    let padded = if format.has('-') {
        format!("{shown}{spaces}")
    } else {
        format!("{spaces}{shown}")
    };
    with_lines(format, &padded)
}

fn sign_digit(letter: char) -> char {
    match letter {
        'x' => 'f',
        'X' => 'F',
        'o' => '7',
        _ => '1',
    }
}

/// The digits of a negative number with endless leading sign digits, of which one is left.
fn twos_complement(number: &BigInt, radix: u32) -> String {
    let top = match radix {
        16 => 'f',
        8 => '7',
        _ => '1',
    };
    let length = number.magnitude().to_str_radix(radix).len() + 1;
    let modulus = BigInt::from(radix).pow(u32::try_from(length).unwrap_or(u32::MAX));
    let digits = (modulus + number).to_str_radix(radix);
    let trimmed = digits.trim_start_matches(top);
    format!("{top}{trimmed}")
}

/// `%f`, `%e`, `%g` and `%a` of a float.
pub(super) fn float(format: &Format, number: f64) -> Result<String, ConversionError> {
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
    let places = i32::try_from(precision).unwrap_or(i32::MAX);
    let text = if (-4..places).contains(&exponent) {
        fixed(
            number,
            usize::try_from(places - 1 - exponent).unwrap_or(0),
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

/// Without its `0x`.
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
        // Ruby writes a subnormal number with a leading 1 as well.
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

/// The whole part of a float, for the letters of integers.
pub(super) fn whole(number: f64) -> Result<BigInt, ConversionError> {
    if number.is_finite() {
        return Ok(whole_of(number));
    }
    super::number::float_to_integer(number)
}
