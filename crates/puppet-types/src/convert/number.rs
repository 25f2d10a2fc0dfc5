//! `Integer` from numbers, booleans, times and strings.

use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};
use psych_yaml::ruby::{float_to_s, is_space};
use puppet_values::{Hash, Rich, Value};

use super::quote::ruby_inspect;
use super::{ConversionError, cannot_convert, pattern, unusable};
use crate::assert_instance;
use crate::instance::is_default;
use crate::signature::Function;

const RADIX: &str = "Variant[Default, Integer[2,2], Integer[8,8], Integer[10,10], Integer[16,16]]";

pub(super) static INTEGER: LazyLock<Function> = LazyLock::new(|| {
    let convertible = format!(
        "Variant[Numeric, Boolean, Pattern[/{}/], Timespan, Timestamp]",
        pattern::INTEGER
    );
    let named = "Struct[{from => Convertible, Optional[radix] => Radix, Optional[abs] => Boolean}]";
    Function::new(
        "new",
        &[
            ("Radix", RADIX.to_owned()),
            ("Convertible", convertible),
            ("NamedArgs", named.to_owned()),
        ],
        &[
            (
                false,
                &[
                    ("Convertible", "from", false),
                    ("Radix", "radix", true),
                    ("Boolean", "abs", true),
                ],
            ),
            (false, &[("NamedArgs", "hash_args", false)]),
            (true, &[("Hash", "hash_args", false)]),
            (
                true,
                &[
                    ("Any", "from", false),
                    ("Integer", "radix", true),
                    ("Boolean", "abs", true),
                ],
            ),
        ],
    )
});

/// A named argument, if the only argument is a hash.
pub(super) fn named<'a>(arguments: &'a [Value], name: &str) -> Option<&'a Value> {
    match arguments {
        [Value::Hash(hash)] => hash.get(name),
        _ => None,
    }
}

pub(super) fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

pub(super) fn integer(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let (from, radix, abs) = match (signature, arguments) {
        (0, [from, rest @ ..]) => (from, rest.first(), is_true(rest.get(1))),
        (1, _) => (
            named(arguments, "from").unwrap_or(&Value::Null),
            named(arguments, "radix"),
            is_true(named(arguments, "abs")),
        ),
        (2, [Value::Hash(hash)]) => return Err(integer_hash_error(hash)),
        (_, [from, rest @ ..]) => {
            check_radix(rest.first())?;
            return Err(cannot_convert("new", from, "Integer"));
        }
        _ => return Err(cannot_convert("new", &Value::Null, "Integer")),
    };
    let radix = match radix {
        Some(Value::Int(radix)) => u32::try_from(*radix).ok(),
        _ => None,
    };
    let number = match from {
        Value::Int(number) => BigInt::from(*number),
        Value::BigInt(number) => (**number).clone(),
        Value::Float(number) => float_to_integer(*number)?,
        Value::Bool(flag) => BigInt::from(u8::from(*flag)),
        Value::Str(text) => integer_from_string(text, radix)?,
        other => match time(other) {
            Some(time) => BigInt::from(time.div_euclid(puppet_values::time::SECOND)),
            None => return Err(cannot_convert("new", other, "Integer")),
        },
    };
    let negative = number.sign() == Sign::Minus;
    Ok(Value::integer(if abs && negative {
        -number
    } else {
        number
    }))
}

pub(super) fn time(value: &Value) -> Option<i128> {
    match value {
        Value::Rich(rich) => match **rich {
            Rich::Timestamp(time) | Rich::Timespan(time) => Some(time),
            _ => None,
        },
        _ => None,
    }
}

fn check_radix(radix: Option<&Value>) -> Result<(), ConversionError> {
    match radix {
        None | Some(Value::Null | Value::Int(2 | 8 | 10 | 16)) => Ok(()),
        Some(radix) if is_default(radix) => Ok(()),
        Some(radix) => {
            let radix = super::stringify(radix);
            Err(unusable(format!(
                "Illegal radix: {radix}, expected 2, 8, 10, 16, or default"
            )))
        }
    }
}

/// The error about a hash of arguments.
fn integer_hash_error(hash: &Hash) -> ConversionError {
    let named_type = |name: &str| {
        let function = LazyLock::force(&INTEGER);
        function.parameter_type(if name == "from" { 0 } else { 1 })
    };
    if let Some(from) = hash.get("from")
        && !named_type("from").is_instance(from)
    {
        return cannot_convert("new", from, "Integer");
    }
    if let Err(error) = check_radix(hash.get("radix")) {
        return error;
    }
    let value = Value::hash(hash.clone());
    match assert_instance("Integer.new", named_type("all"), &value) {
        Err(mismatch) => ConversionError::OutOfBounds(mismatch),
        Ok(()) => cannot_convert("new", &value, "Integer"),
    }
}

/// Ruby's `Float#to_i`.
pub(super) fn float_to_integer(number: f64) -> Result<BigInt, ConversionError> {
    if number.is_nan() {
        return Err(unusable("NaN"));
    }
    if number.is_infinite() {
        return Err(unusable(float_to_s(number)));
    }
    Ok(whole_of(number))
}

/// The whole part of a finite float.
pub(super) fn whole_of(number: f64) -> BigInt {
    let bits = number.to_bits();
    let exponent = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0) - 1075;
    let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let magnitude = match u32::try_from(exponent) {
        Ok(shift) => mantissa << shift,
        Err(_) if exponent < -52 => BigInt::ZERO,
        Err(_) => mantissa >> exponent.unsigned_abs(),
    };
    if number < 0.0 { -magnitude } else { magnitude }
}

/// A number without the spaces and tabs after its sign, for Puppet's second attempt; `None` if there are none.
pub(super) fn without_gap(text: &str) -> Option<String> {
    let sign = text.chars().next().filter(|char| "+-".contains(*char))?;
    let rest = text.get(1..)?;
    let digits = rest.trim_start_matches([' ', '\t']);
    let has_gap = digits.len() < rest.len() && !digits.contains('\n');
    has_gap.then(|| format!("{sign}{digits}"))
}

fn integer_from_string(text: &str, radix: Option<u32>) -> Result<BigInt, ConversionError> {
    parse_integer(text, radix)
        .or_else(|| parse_integer(&without_gap(text)?, radix))
        .ok_or_else(|| {
            let text = ruby_inspect(text);
            unusable(format!("invalid value for Integer(): {text}"))
        })
}

/// Ruby's `Integer(text, radix)`, for strings that the pattern of the signature accepts: there are no underscores.
pub(super) fn parse_integer(text: &str, radix: Option<u32>) -> Option<BigInt> {
    let text = text.trim_matches(is_space);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefix = |letters: [char; 2]| {
        digits
            .strip_prefix('0')
            .and_then(|digits| digits.strip_prefix(letters))
    };
    let (digits, radix) = match radix {
        None => {
            if let Some(hex) = prefix(['x', 'X']) {
                (hex, 16)
            } else if let Some(binary) = prefix(['b', 'B']) {
                (binary, 2)
            } else if let Some(octal) = digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
                (octal, 8)
            } else {
                (digits, 10)
            }
        }
        Some(16) => (prefix(['x', 'X']).unwrap_or(digits), 16),
        Some(2) => (prefix(['b', 'B']).unwrap_or(digits), 2),
        Some(radix) => (digits, radix),
    };
    let is_number = digits
        .chars()
        .next()
        .is_some_and(|char| char.is_digit(radix))
        && digits.chars().all(|char| char.is_digit(radix));
    let number = BigInt::parse_bytes(digits.as_bytes(), radix).filter(|_| is_number)?;
    Some(if negative { -number } else { number })
}

/// A decimal number with a fraction or an exponent, as in the Puppet language, which refuses a zero with an exponent.
pub(crate) fn parse_decimal(digits: &str) -> Option<f64> {
    let is_zero_with_exponent = digits
        .split_once(['e', 'E'])
        .is_some_and(|(mantissa, _)| mantissa.chars().all(|char| "0.".contains(char)));
    let number: f64 = digits.parse().ok()?;
    (number.is_finite() && !is_zero_with_exponent).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_part_of_a_float_is_exact() {
        for (number, whole) in [
            (0.9, "0"),
            (-1.5, "-1"),
            (1e30, "1000000000000000019884624838656"),
            (2251799813685249.5, "2251799813685249"),
        ] {
            assert_eq!(whole_of(number).to_string(), whole);
        }
    }
}
