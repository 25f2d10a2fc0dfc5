//! Ruby's `format` for one value, as far as the formats of `String` use it.

mod float;

use num_bigint::{BigInt, Sign};

use super::format::Format;
use super::number::whole_of;
use super::{ConversionError, unusable};

pub(super) use float::float;

/// Adds the lines around the format.
fn with_lines(format: &Format, text: &str) -> Result<String, ConversionError> {
    let (before, after) = &format.around;
    if before.contains('%') || after.contains('%') {
        return Err(unusable("too few arguments"));
    }
    Ok(format!("{before}{text}{after}"))
}

/// Refuses the flags that `String` has and Ruby does not.
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

/// `%s`: the string, cut to the precision and padded to the width.
pub(super) fn text(format: &Format, text: &str) -> Result<String, ConversionError> {
    check_flags(format)?;
    with_lines(format, &pad(format, &truncate(format, text)))
}

/// The string with the width, precision and `-` of a format, which is all that Puppet applies to words.
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

/// The digits of a negative number in two's complement, with one of its infinitely many leading sign digits.
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

/// The integer part of a float, for the formats of integers.
pub(super) fn whole(number: f64) -> Result<BigInt, ConversionError> {
    if number.is_finite() {
        return Ok(whole_of(number));
    }
    super::number::float_to_integer(number)
}
