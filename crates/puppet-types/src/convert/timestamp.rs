//! `Timestamp` from seconds and strings.

use std::sync::LazyLock;

use puppet_values::time::{SECOND, days_to_month};
use puppet_values::{Hash, Rich, Value};

use super::strptime::{DateFields, strptime};
use super::timespan::{from_seconds, time_bound};
use super::{ConversionError, unusable, zone};
use crate::instance::is_default;
use crate::signature::Function;

/// The default formats, in the order in which they are tried. The first five have a time zone.
const FORMATS: [&str; 10] = [
    "%FT%T.%N %Z",
    "%FT%T %Z",
    "%F %T.%N %Z",
    "%F %T %Z",
    "%F %Z",
    "%FT%T.%N",
    "%FT%T",
    "%F %T.%N",
    "%F %T",
    "%F",
];

pub(super) static TIMESTAMP: LazyLock<Function> = LazyLock::new(|| {
    let hash = "Struct[{string => String[1], Optional[format] => Formats, \
                Optional[timezone] => String[1]}]";
    Function::new(
        "new_timestamp",
        &[(
            "Formats",
            "Variant[String[2],Array[String[2], 1]]".to_owned(),
        )],
        &[
            (false, &[]),
            (false, &[("Variant[Integer,Float]", "seconds", false)]),
            (
                false,
                &[
                    ("String[1]", "string", false),
                    ("Formats", "format", true),
                    ("String[1]", "timezone", true),
                ],
            ),
            (false, &[(hash, "hash_arg", false)]),
        ],
    )
});

pub(super) fn timestamp(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let time = match (signature, arguments) {
        (1, [seconds]) => from_seconds(seconds)?,
        (2, [Value::Str(text), rest @ ..]) => parse(text, rest.first(), rest.get(1))?,
        (3, [Value::Hash(hash)]) => from_hash(hash)?,
        // Puppet: the current time; a lookup here does not depend on the clock.
        _ => return Err(unusable("the current time is not available in a lookup")),
    };
    Ok(Rich::Timestamp(time).into())
}

fn from_hash(hash: &Hash) -> Result<i128, ConversionError> {
    let text = hash
        .get("string")
        .and_then(Value::as_str)
        .unwrap_or_default();
    parse(text, hash.get("format"), hash.get("timezone"))
}

fn parse(
    text: &str,
    format: Option<&Value>,
    zone: Option<&Value>,
) -> Result<i128, ConversionError> {
    let zone = zone.and_then(Value::as_str).filter(|zone| !zone.is_empty());
    let parsed = match format.filter(|format| !is_default(format)) {
        Some(Value::Str(format)) => {
            let parsed = strptime(text, format).filter(|parsed| !parsed.has_leftover);
            let parsed = parsed.ok_or_else(|| {
                unusable(format!("Unable to parse '{text}' using format '{format}'"))
            })?;
            if zone.is_some() && parsed.zone.is_some() {
                return Err(unusable(
                    "Using a Timezone designator in format specification is mutually exclusive \
                     to providing an explicit timezone argument",
                ));
            }
            parsed
        }
        formats => {
            let formats: Vec<&str> = match formats {
                Some(Value::Array(formats)) => {
                    formats.items().iter().filter_map(Value::as_str).collect()
                }
                _ if zone.is_some() => FORMATS.iter().skip(5).copied().collect(),
                _ => FORMATS.to_vec(),
            };
            let fits = |parsed: &DateFields| {
                !parsed.has_leftover && (zone.is_none() || parsed.zone.is_none())
            };
            let parsed = formats
                .iter()
                .find_map(|format| strptime(text, format).filter(fits));
            parsed.ok_or_else(|| {
                let formats = formats.join(", ");
                unusable(format!(
                    "Unable to parse '{text}' using any of the formats {formats}"
                ))
            })?
        }
    };
    let time = utc(&parsed)?;
    match zone.or(parsed.zone.as_deref()) {
        Some(zone) => Ok(time - utc_offset(zone)?),
        None => Ok(time),
    }
}

/// The offset of a zone in nanoseconds.
fn utc_offset(zone: &str) -> Result<i128, ConversionError> {
    if zone.eq_ignore_ascii_case("current") {
        // Puppet: the time zone of the server; here it is always UTC.
        return Ok(0);
    }
    zone::find(zone)
        .and_then(|(_, offset)| offset)
        .ok_or_else(|| unusable(format!("Illegal timezone '{zone}'")))
}

/// Ruby's `Time.utc` of the fields. A day that does not exist in a month is in the next month.
fn utc(parsed: &DateFields) -> Result<i128, ConversionError> {
    let out_of_range = || unusable("argument out of range");
    let Some(year) = parsed.year else {
        return Err(unusable("no implicit conversion of nil into Integer"));
    };
    if parsed.fraction < 0 {
        return Err(unusable("subsecx out of range"));
    }
    let (hour, minute) = (parsed.hour.unwrap_or(0), parsed.minute.unwrap_or(0));
    let second = parsed.second.unwrap_or(0);
    if hour == 24 && (minute, second) != (0, 0) {
        let field = if minute > 0 { "min" } else { "sec" };
        return Err(unusable(format!("{field} out of range")));
    }
    let month = parsed.month.unwrap_or(1);
    let days = days_to_month(year, month) + i128::from(parsed.day.unwrap_or(1)) - 1;
    let seconds =
        days * 86400 + i128::from(hour) * 3600 + i128::from(minute) * 60 + i128::from(second);
    seconds
        .checked_mul(SECOND)
        .and_then(|time| time.checked_add(parsed.fraction))
        .ok_or_else(out_of_range)
}

/// A bound of a `Timestamp` range; `None` if it is open.
pub(crate) fn bound(value: &Value) -> Result<Option<i128>, ConversionError> {
    time_bound(value, "Timestamp", &|value| match value {
        Value::Rich(rich) => match **rich {
            Rich::Timestamp(time) => Some(Ok(time)),
            _ => None,
        },
        Value::Str(text) => Some(parse(text, None, None)),
        Value::Hash(hash) => Some(from_hash(hash)),
        _ => None,
    })
}
