//! `Timespan` from seconds, fields and strings.

use std::sync::LazyLock;

use num_bigint::BigInt;
use puppet_values::time::SECOND;
use puppet_values::{Hash, Rich, Value};

use super::timespan_format::TimespanFormat;
use super::{ConversionError, number, unusable};
use crate::signature::Function;

/// The default formats, in the order in which they are tried.
const FORMATS: [&str; 8] = [
    "%D-%H:%M:%S.%-N",
    "%H:%M:%S.%-N",
    "%M:%S.%-N",
    "%S.%-N",
    "%D-%H:%M:%S",
    "%H:%M:%S",
    "%D-%H:%M",
    "%S",
];

pub(super) static TIMESPAN: LazyLock<Function> = LazyLock::new(|| {
    let string_hash = "Struct[{string => String[1], Optional[format] => Formats}]";
    let fields_hash = "Struct[{Optional[negative] => Boolean, Optional[days] => Integer, \
                       Optional[hours] => Integer, Optional[minutes] => Integer, \
                       Optional[seconds] => Integer, Optional[milliseconds] => Integer, \
                       Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}]";
    Function::new(
        "new_timespan",
        &[(
            "Formats",
            "Variant[String[2],Array[String[2], 1]]".to_owned(),
        )],
        &[
            (false, &[("Variant[Integer,Float]", "seconds", false)]),
            (
                false,
                &[("String[1]", "string", false), ("Formats", "format", true)],
            ),
            (
                false,
                &[
                    ("Integer", "days", false),
                    ("Integer", "hours", false),
                    ("Integer", "minutes", false),
                    ("Integer", "seconds", false),
                    ("Integer", "milliseconds", true),
                    ("Integer", "microseconds", true),
                    ("Integer", "nanoseconds", true),
                ],
            ),
            (false, &[(string_hash, "hash_arg", false)]),
            (false, &[(fields_hash, "hash_arg", false)]),
        ],
    )
});

pub(super) fn timespan(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let time = match (signature, arguments) {
        (0, [seconds]) => from_seconds(seconds)?,
        (1, [Value::Str(text), rest @ ..]) => parse(text, rest.first())?,
        (2, fields) => from_fields(&[fields])?,
        (_, [Value::Hash(hash)]) => from_hash(hash)?,
        _ => return Err(unusable("")),
    };
    Ok(Rich::Timespan(time).into())
}

fn too_long() -> ConversionError {
    // Puppet: times are unbounded there.
    unusable("the time is out of range")
}

/// Seconds as nanoseconds.
pub(super) fn from_seconds(seconds: &Value) -> Result<i128, ConversionError> {
    let nanoseconds = match seconds {
        Value::Int(seconds) => return Ok(i128::from(*seconds) * SECOND),
        Value::BigInt(seconds) => (**seconds).clone() * SECOND,
        Value::Float(seconds) => number::float_to_integer(*seconds * 1e9)?,
        _ => BigInt::ZERO,
    };
    i128::try_from(nanoseconds).map_err(|_| too_long())
}

/// The fields with their length in nanoseconds.
const FIELDS: [(&str, i128); 7] = [
    ("days", 86400 * SECOND),
    ("hours", 3600 * SECOND),
    ("minutes", 60 * SECOND),
    ("seconds", SECOND),
    ("milliseconds", 1_000_000),
    ("microseconds", 1_000),
    ("nanoseconds", 1),
];

fn from_fields(fields: &[&[Value]]) -> Result<i128, ConversionError> {
    let mut sum = BigInt::ZERO;
    for (value, (_, weight)) in fields.iter().flat_map(|fields| *fields).zip(FIELDS) {
        sum += match value {
            Value::Int(number) => BigInt::from(*number) * weight,
            Value::BigInt(number) => (**number).clone() * weight,
            _ => BigInt::ZERO,
        };
    }
    i128::try_from(sum).map_err(|_| too_long())
}

fn from_hash(hash: &Hash) -> Result<i128, ConversionError> {
    if let Some(Value::Str(text)) = hash.get("string") {
        return parse(text, hash.get("format"));
    }
    let fields = FIELDS.map(|(name, _)| hash.get(name).cloned().unwrap_or(Value::Null));
    let time = from_fields(&[&fields])?;
    let negative = hash.get("negative") == Some(&Value::Bool(true));
    Ok(if negative { -time } else { time })
}

/// Parses a string by one format, or by the first of several that fits.
fn parse(text: &str, format: Option<&Value>) -> Result<i128, ConversionError> {
    let formats: Vec<&str> = match format {
        Some(Value::Str(format)) => return TimespanFormat::parse(format)?.read(text),
        Some(Value::Array(formats)) => formats.items().iter().filter_map(Value::as_str).collect(),
        _ => FORMATS.to_vec(),
    };
    for format in &formats {
        if let Ok(time) = TimespanFormat::parse(format)?.read(text) {
            return Ok(time);
        }
    }
    let formats = formats.join(", ");
    Err(unusable(format!(
        "Unable to parse '{text}' using any of the formats {formats}"
    )))
}

/// A bound of a `Timespan` range; `None` if it is open.
pub(crate) fn bound(value: &Value) -> Result<Option<i128>, ConversionError> {
    time_bound(value, "Timespan", &|value| match value {
        Value::Rich(rich) => match **rich {
            Rich::Timespan(time) => Some(Ok(time)),
            _ => None,
        },
        Value::Str(text) => Some(parse(text, None)),
        Value::Hash(hash) => Some(from_hash(hash)),
        _ => None,
    })
}

/// A bound of a range of times. `convert` converts values that are neither numbers nor open, if it can.
pub(super) fn time_bound(
    value: &Value,
    name: &str,
    convert: &dyn Fn(&Value) -> Option<Result<i128, ConversionError>>,
) -> Result<Option<i128>, ConversionError> {
    match value {
        Value::Null => Ok(None),
        Value::Rich(rich) if **rich == Rich::Default => Ok(None),
        Value::Int(_) | Value::BigInt(_) | Value::Float(_) => from_seconds(value).map(Some),
        value => match convert(value) {
            Some(time) => time.map(Some),
            None => {
                let class = value.ruby_class();
                Err(unusable(format!(
                    "Unable to create a Puppet::Pops::Time::{name} from a {class}"
                )))
            }
        },
    }
}
