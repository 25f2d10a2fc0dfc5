//! Scalars to strings: the meaning of each format for each type.

use std::sync::Arc;

use num_bigint::BigInt;
use psych_yaml::base64;
use psych_yaml::ruby::{float_to_s, inspect_bytes, integer_to_f};
use puppet_values::{Rich, Value};

use super::super::format::Format;
use super::super::quote::{puppet_double_quote, puppet_quote, ruby_inspect};
use super::super::{ConversionError, sprintf, text_case, unusable};
use super::{illegal, is_blank};

pub(super) fn scalar(value: &Value, format: &Format) -> Result<String, ConversionError> {
    match value {
        Value::Null => undef(format),
        Value::Bool(flag) => boolean(*flag, format),
        Value::Int(number) => integer(&BigInt::from(*number), format),
        Value::BigInt(number) => integer(number, format),
        Value::Float(number) => float(*number, format),
        Value::Str(text) => string(text, format),
        Value::Bytes(bytes) => string(&String::from_utf8_lossy(bytes), format),
        Value::Template(template) => string(template.source(), format),
        Value::Symbol(name) => match name.as_str() {
            "default" => default(format),
            "undef" => undef(format),
            name => match format.letter {
                's' => Ok(name.to_owned()),
                'p' => Ok(puppet_quote(name)),
                'q' => Ok(format!(":{name}")),
                letter => Err(illegal("Runtime", letter, "spq")),
            },
        },
        Value::Sensitive(_) => any(
            format,
            "Sensitive [value redacted]",
            "#<Sensitive [value redacted]>",
            None,
        ),
        Value::Array(_) | Value::Hash(_) => Ok(String::new()),
        Value::Rich(rich) => rich_value(rich, format),
    }
}

/// The result of Ruby's `format`, for values that Puppet has no rules for.
fn any(
    format: &Format,
    text: &str,
    inspected: &str,
    seconds: Option<i128>,
) -> Result<String, ConversionError> {
    sprintf::check_flags(format)?;
    match (format.letter, seconds) {
        ('s', _) => sprintf::text(format, text),
        ('p', _) => sprintf::text(format, inspected),
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B', Some(time)) => sprintf::integer(
            format,
            &BigInt::from(time.div_euclid(puppet_values::time::SECOND)),
        ),
        ('e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A', Some(time)) => {
            sprintf::float(format, super::super::float::seconds(time))
        }
        (letter, _) => Err(unusable(format!("malformed format string - %{letter}"))),
    }
}

fn rich_value(rich: &Arc<Rich>, format: &Format) -> Result<String, ConversionError> {
    let alternative = format.is_alternative();
    match &**rich {
        Rich::Default => default(format),
        Rich::Regexp(regexp) => match format.letter {
            'p' => sprintf::text(format, &regexp.to_string()),
            's' if alternative => sprintf::text(format, &puppet_quote(&regexp.text())),
            's' => sprintf::text(format, &regexp.text()),
            letter => Err(illegal("Regexp", letter, "sp")),
        },
        Rich::Timestamp(time) => {
            let shown = puppet_values::time::format_timestamp(*time);
            any(format, &shown, &shown, Some(*time))
        }
        Rich::Timespan(time) => {
            let shown = puppet_values::time::format_timespan(*time);
            any(format, &shown, &shown, Some(*time))
        }
        Rich::SemVer(version) => {
            let shown = version.to_string();
            any(format, &shown, &shown, None)
        }
        Rich::SemVerRange(range) => any(format, &range.to_string(), &range.inspect(), None),
        Rich::Binary(bytes) => binary(bytes, format),
        Rich::Uri(uri) => {
            let text = uri.to_string();
            match format.letter {
                'p' => Ok(format!("URI({})", puppet_quote(&text))),
                's' if alternative => sprintf::text(format, &puppet_quote(&text)),
                's' => sprintf::text(format, &text),
                letter => Err(illegal("URI", letter, "sp")),
            }
        }
        Rich::Type(ty) => match format.letter {
            's' if alternative => sprintf::text(format, &format!("\"{ty}\"")),
            's' | 'p' => sprintf::text(format, &ty.to_string()),
            letter => Err(illegal("Type", letter, "sp")),
        },
    }
}

fn default(format: &Format) -> Result<String, ConversionError> {
    let word = match format.letter {
        'd' | 's' | 'p' => "default",
        'D' => "Default",
        letter => return Err(illegal("Default", letter, "dDsp")),
    };
    let quoted = if format.is_alternative() {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    };
    Ok(sprintf::word(format, &quoted))
}

fn undef(format: &Format) -> Result<String, ConversionError> {
    let word = match (format.letter, format.is_alternative()) {
        ('n', true) => "null",
        ('n', false) => "nil",
        ('u', true) => "undefined",
        ('u', false) | ('p', false) => "undef",
        ('p', true) => "\"undef\"",
        ('v', _) => "n/a",
        ('V', _) => "N/A",
        ('s', true) => "\"\"",
        ('s', false) => "",
        (letter, _) if "dxXobBeEfgGaA".contains(letter) => "NaN",
        (letter, _) => return Err(illegal("Undef", letter, "nudxXobBeEfgGaAvVsp")),
    };
    Ok(sprintf::word(format, word))
}

fn boolean(flag: bool, format: &Format) -> Result<String, ConversionError> {
    let word = match (format.letter, flag) {
        ('t' | 's' | 'p', true) => "true",
        ('t' | 's' | 'p', false) => "false",
        ('T', true) => "True",
        ('T', false) => "False",
        ('y', true) => "yes",
        ('y', false) => "no",
        ('Y', true) => "Yes",
        ('Y', false) => "No",
        (letter, flag) if "dxXobB".contains(letter) => {
            return integer(&BigInt::from(u8::from(flag)), format);
        }
        (letter, flag) if "eEfgGaA".contains(letter) => {
            return float(f64::from(u8::from(flag)), format);
        }
        (letter, _) => return Err(illegal("Boolean", letter, "tTyYdxXobBeEfgGaAsp")),
    };
    let is_short = format.is_alternative() && "tTyY".contains(format.letter);
    let word = if is_short {
        word.get(..1).unwrap_or(word)
    } else {
        word
    };
    Ok(sprintf::word(format, word))
}

fn integer(number: &BigInt, format: &Format) -> Result<String, ConversionError> {
    match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => sprintf::integer(format, number),
        'p' => sprintf::text(format, &number.to_string()),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => sprintf::float(format, integer_to_f(number)),
        'c' => {
            let char = u32::try_from(number).ok().and_then(char::from_u32);
            let char = char.ok_or_else(|| unusable("pack(U): value out of range"))?;
            let quoted = if format.is_alternative() {
                format!("\"{char}\"")
            } else {
                char.to_string()
            };
            sprintf::text(format, &quoted)
        }
        's' if format.is_alternative() => sprintf::text(format, &format!("\"{number}\"")),
        's' => sprintf::text(format, &number.to_string()),
        letter => Err(illegal("Integer", letter, "dxXobBeEfgGaAspc")),
    }
}

fn float(number: f64, format: &Format) -> Result<String, ConversionError> {
    match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => sprintf::integer(format, &sprintf::whole(number)?),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => sprintf::float(format, number),
        's' if format.is_alternative() => {
            sprintf::text(format, &format!("\"{}\"", float_to_s(number)))
        }
        'p' | 's' => sprintf::text(format, &float_to_s(number)),
        letter => Err(illegal("Float", letter, "dxXobBeEfgGaAsp")),
    }
}

fn string(text: &str, format: &Format) -> Result<String, ConversionError> {
    let alternative = format.is_alternative();
    let changed = match format.letter {
        's' => return sprintf::text(format, text),
        'p' if alternative => return Ok(sprintf::word(format, &puppet_double_quote(text))),
        'p' => return Ok(sprintf::word(format, &puppet_quote(text))),
        'c' => text_case::capitalize(text),
        'C' => text_case::capitalize_segments(text),
        'u' => text.to_uppercase(),
        'd' => text.to_lowercase(),
        't' => text
            .trim_end_matches(is_blank)
            .trim_start_matches(is_blank)
            .to_owned(),
        letter => return Err(illegal("String", letter, "cCudspt")),
    };
    if alternative {
        return Ok(sprintf::word(format, &puppet_quote(&changed)));
    }
    sprintf::text(format, &changed)
}

fn binary(bytes: &[u8], format: &Format) -> Result<String, ConversionError> {
    let encoded = match format.letter {
        's' if format.is_alternative() => {
            return sprintf::text(format, &inspect_bytes(bytes));
        }
        's' => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(error) => {
                let byte = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
                return Err(unusable(format!(
                    "\"\\x{byte:02X}\" from ASCII-8BIT to UTF-8"
                )));
            }
        },
        'p' => {
            let text = sprintf::text(format, &base64::encode(bytes))?;
            return Ok(format!("Binary(\"{text}\")"));
        }
        'b' => base64::encode_lines(bytes),
        'B' => base64::encode(bytes),
        'u' => base64::encode_urlsafe(bytes),
        't' => "Binary".to_owned(),
        'T' => "BINARY".to_owned(),
        letter => return Err(illegal("Binary", letter, "bButTsp")),
    };
    if format.is_alternative() {
        return sprintf::text(format, &ruby_inspect(&encoded));
    }
    sprintf::text(format, &encoded)
}
