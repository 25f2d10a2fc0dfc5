//! `Float` and `Numeric` from numbers, booleans, times and text.

use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};
use puppet_values::Value;

use super::number::{big_to_float, close_up, is_true, named, ruby_integer, time};
use super::pattern::{self, is_space};
use super::quote::ruby_inspect;
use super::{ConversionError, cannot_convert, unusable};
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

/// What both kinds of floating functions start with.
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
        Value::BigInt(number) => big_to_float(number),
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Str(text) => float_from_text(text)?,
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

fn float_from_text(text: &str) -> Result<f64, ConversionError> {
    let failed = || {
        let text = ruby_inspect(text);
        unusable(format!("invalid value for Float(): {text}"))
    };
    if text == "0" {
        // Puppet looks at the second letter, which is not there.
        return Err(unusable("undefined method `casecmp' for nil:NilClass"));
    }
    if text.starts_with("0b") || text.starts_with("0B") {
        return ruby_integer(text, None)
            .map(|number| big_to_float(&number))
            .ok_or_else(failed);
    }
    ruby_float(text)
        .or_else(|| close_up(text).and_then(|text| ruby_float(&text)))
        .ok_or_else(failed)
}

/// Ruby's `Float(text)` for text that the pattern has let through.
fn ruby_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.starts_with("0x") || digits.starts_with("0X") {
        return ruby_integer(text, None).map(|number| big_to_float(&number));
    }
    let is_number = digits.starts_with(|char: char| char.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

pub(super) fn numeric(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let (from, abs) = float_arguments("new_numeric", "Numeric", signature, arguments)?;
    let number = match from {
        Value::Int(_) | Value::BigInt(_) | Value::Float(_) => from,
        Value::Bool(flag) => Value::Int(i64::from(flag)),
        Value::Str(ref text) => numeric_from_text(text),
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

/// Null where Puppet's reading of numbers, stricter than the pattern, gives up.
fn numeric_from_text(text: &str) -> Value {
    let second = text.strip_prefix('0').and_then(|rest| rest.chars().next());
    if matches!(second, Some('b' | 'B' | 'x' | 'X')) {
        return ruby_integer(text, None).map_or(Value::Null, Value::integer);
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
        let is_zero_power = digits
            .split_once(['e', 'E'])
            .is_some_and(|(mantissa, _)| mantissa.chars().all(|char| "0.".contains(char)));
        return match digits.parse::<f64>() {
            Ok(number) if number.is_finite() && !is_zero_power => {
                Value::Float(if negative { -number } else { number })
            }
            _ => Value::Null,
        };
    }
    let is_number = digits.starts_with(|char: char| char.is_ascii_digit());
    match ruby_integer(digits, None)
        .filter(|_| is_number && !digits.starts_with("0b") && !digits.starts_with("0B"))
    {
        Some(number) => Value::integer(if negative { -number } else { number }),
        None => Value::Null,
    }
}
