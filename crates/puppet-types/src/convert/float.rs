//! `Float` and `Numeric` from numbers, booleans, times and strings.

use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};
use psych_yaml::ruby::{inspect_bytes, integer_to_f, parse_float};
use puppet_values::Value;

use super::number::{is_true, named, parse_decimal, parse_integer, time, without_gap};
use super::{ConversionError, cannot_convert, pattern, unusable};
use crate::signature::Function;

fn float_function(name: &'static str, numbers: &str) -> Function {
    let convertible = format!(
        "Variant[{numbers}, Boolean, Pattern[/{}/], Timespan, Timestamp]",
        pattern::FLOAT
    );
    let named = "Struct[{from => Convertible, Optional[abs] => Boolean}]";
    Function::new(
        name,
        &[
            ("Convertible", convertible),
            ("NamedArgs", named.to_owned()),
        ],
        &[
            (
                false,
                &[("Convertible", "from", false), ("Boolean", "abs", true)],
            ),
            (false, &[("NamedArgs", "hash_args", false)]),
            (true, &[("Any", "from", false), ("Boolean", "abs", true)]),
        ],
    )
}

pub(super) static FLOAT: LazyLock<Function> =
    LazyLock::new(|| float_function("new_float", "Numeric"));

pub(super) static NUMERIC: LazyLock<Function> =
    LazyLock::new(|| float_function("new_numeric", "Integer, Float"));

/// The arguments `from` and `abs`, which both functions have.
fn float_arguments(
    function: &'static str,
    target: &str,
    signature: usize,
    arguments: &[Value],
) -> Result<(Value, bool), ConversionError> {
    match (signature, arguments) {
        (0, [from, rest @ ..]) => Ok((from.clone(), is_true(rest.first()))),
        (1, _) => Ok((
            named(arguments, "from").cloned().unwrap_or(Value::Null),
            is_true(named(arguments, "abs")),
        )),
        (_, [from, ..]) => Err(cannot_convert(function, from, target)),
        _ => Err(cannot_convert(function, &Value::Null, target)),
    }
}

pub(super) fn float(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let (from, abs) = float_arguments("new_float", "Float", signature, arguments)?;
    let number = match &from {
        Value::Int(number) => *number as f64,
        Value::BigInt(number) => integer_to_f(number),
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Str(text) => float_from_string(text)?,
        other => match time(other) {
            Some(time) => seconds(time),
            None => return Err(cannot_convert("new_float", other, "Float")),
        },
    };
    Ok(Value::Float(if abs { number.abs() } else { number }))
}

/// Nanoseconds as seconds, rounded once.
pub(super) fn seconds(time: i128) -> f64 {
    let whole = time / puppet_values::time::SECOND;
    let rest = time % puppet_values::time::SECOND;
    let sign = if time < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:09}", whole.abs(), rest.abs());
    text.parse().unwrap_or(f64::NAN)
}

fn float_from_string(text: &str) -> Result<f64, ConversionError> {
    let failed = || {
        let text = inspect_bytes(text.as_bytes());
        unusable(format!("invalid value for Float(): {text}"))
    };
    if text == "0" {
        // Puppet looks at the second character, which does not exist.
        return Err(unusable("undefined method `casecmp' for nil:NilClass"));
    }
    if text.starts_with("0b") || text.starts_with("0B") {
        return parse_integer(text, None)
            .map(|number| integer_to_f(&number))
            .ok_or_else(failed);
    }
    parse_float(text)
        .or_else(|| parse_float(&without_gap(text)?))
        .ok_or_else(failed)
}

pub(super) fn numeric(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let (from, abs) = float_arguments("new_numeric", "Numeric", signature, arguments)?;
    let number = match from {
        Value::Int(_) | Value::BigInt(_) | Value::Float(_) => from,
        Value::Bool(flag) => Value::Int(i64::from(flag)),
        Value::Str(ref text) => numeric_from_string(text),
        other => match time(&other) {
            Some(time) => Value::Float(seconds(time)),
            None => return Err(cannot_convert("new_numeric", &other, "Numeric")),
        },
    };
    if !abs {
        return Ok(number);
    }
    match number {
        Value::Int(number) => Ok(Value::integer(BigInt::from(number.unsigned_abs()))),
        Value::BigInt(number) => Ok(Value::integer(BigInt::from_biguint(
            Sign::Plus,
            number.magnitude().clone(),
        ))),
        Value::Float(number) => Ok(Value::Float(number.abs())),
        _ => Err(unusable("undefined method `abs' for nil:NilClass")),
    }
}

/// A number as in the Puppet language; null if it is none, since the pattern of the signature accepts more.
fn numeric_from_string(text: &str) -> Value {
    let second = text.strip_prefix('0').and_then(|rest| rest.chars().next());
    if matches!(second, Some('b' | 'B' | 'x' | 'X')) {
        return parse_integer(text, None).map_or(Value::Null, Value::integer);
    }
    let is_blank = [' ', '\t'];
    let text = text.trim_matches(is_blank);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches(is_blank);
    let is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    if !is_hex && digits.contains(['.', 'e', 'E']) {
        return match parse_decimal(digits) {
            Some(number) => Value::Float(if negative { -number } else { number }),
            None => Value::Null,
        };
    }
    let is_number = digits.starts_with(|char: char| char.is_ascii_digit());
    match parse_integer(digits, None)
        .filter(|_| is_number && !digits.starts_with("0b") && !digits.starts_with("0B"))
    {
        Some(number) => Value::integer(if negative { -number } else { number }),
        None => Value::Null,
    }
}
