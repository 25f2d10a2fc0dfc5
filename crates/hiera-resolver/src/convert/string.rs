//! `String` from any value, with a format for each type in it.

use std::sync::{Arc, LazyLock};

use num_bigint::BigInt;

use super::format::{self, Format, Formats};
use super::number::{big_to_float, float_text};
use super::quote::{inspect_bytes, puppet_double_quote, puppet_quote, ruby_inspect};
use super::{ConversionError, base64, pattern, sprintf, text_case, timespan, timestamp, unusable};
use crate::hash::Hash;
use crate::rich::Rich;
use crate::types::instance::is_default;
use crate::types::signature::Function;
use crate::types::{Type, infer_set};
use crate::value::Value;

pub(super) static STRING: LazyLock<Function> = LazyLock::new(|| {
    let container = "Struct[{Optional[format] => Format, Optional[separator] => String, \
                     Optional[separator2] => String, \
                     Optional[string_formats] => Hash[Type, Format]}]";
    Function::new(
        "new_string",
        &[
            ("Format", format!("Pattern[/{}/]", pattern::FORMAT)),
            ("ContainerFormat", container.to_owned()),
            (
                "TypeMap",
                "Hash[Type, Variant[Format, ContainerFormat]]".to_owned(),
            ),
            ("Convertible", "Any".to_owned()),
            ("Formats", "Variant[Default, String[1], TypeMap]".to_owned()),
        ],
        &[(
            false,
            &[
                ("Convertible", "from", false),
                ("Formats", "string_formats", true),
            ],
        )],
    )
});

pub(super) fn string(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let value = arguments.first().unwrap_or(&Value::Null);
    let formats = arguments.get(1).filter(|formats| !is_default(formats));
    // The bytes of a text that is not UTF-8 stay what they are.
    if let (Value::Bytes(_), None) = (value, formats) {
        return Ok(value.clone());
    }
    convert(value, formats).map(Value::str)
}

static DEFAULTS: LazyLock<Formats> = LazyLock::new(format::defaults);

/// A value as text.
pub(super) fn convert(value: &Value, formats: Option<&Value>) -> Result<String, ConversionError> {
    let merged;
    let formats = match formats {
        None => LazyLock::force(&DEFAULTS),
        Some(Value::Str(text)) => {
            let format = Format::parse(text)?;
            let ty = infer_set(value);
            let [array, hash] = [
                Type::array(Type::Any, None),
                Type::hash(Type::Any, Type::Any, None),
            ];
            let key = if array.accepts(&ty) {
                array
            } else if hash.accepts(&ty) {
                hash
            } else {
                ty
            };
            merged = format::merge(&DEFAULTS, &vec![(key, format)]);
            &merged
        }
        Some(map) => {
            merged = format::merge(&DEFAULTS, &format::parse_map(map)?);
            &merged
        }
    };
    let mut converter = Converter { top: formats };
    converter.value(value, formats, Indentation::default())
}

/// How far a collection stands from the left.
#[derive(Clone, Copy, Debug)]
struct Indentation {
    level: usize,
    is_first: bool,
    is_indenting: bool,
}

impl Default for Indentation {
    fn default() -> Self {
        Indentation {
            level: 0,
            is_first: true,
            is_indenting: false,
        }
    }
}

impl Indentation {
    fn indenting(self, is_indenting: bool) -> Self {
        Indentation {
            is_indenting,
            ..self
        }
    }

    fn increase(self, is_indenting: bool) -> Self {
        Indentation {
            level: self.level + 1,
            is_first: true,
            is_indenting,
        }
    }

    fn breaks(self) -> bool {
        self.is_indenting && self.level > 0 && !self.is_first
    }

    fn padding(self) -> String {
        " ".repeat(2 * self.level)
    }
}

/// The format where no type fits.
fn plain() -> Result<Format, ConversionError> {
    Format::parse("%s")
}

fn illegal(kind: &str, letter: char, expected: &str) -> ConversionError {
    unusable(format!(
        "Illegal format '{letter}' specified for value of {kind} type - expected one of the \
         characters '{expected}'"
    ))
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Hash(_))
}

struct Converter<'a> {
    /// The formats for collections, wherever they stand.
    top: &'a Formats,
}

impl Converter<'_> {
    fn value(
        &mut self,
        value: &Value,
        formats: &Formats,
        indentation: Indentation,
    ) -> Result<String, ConversionError> {
        let format = match format::find(formats, &infer_set(value)) {
            Some(format) => format,
            None => &plain()?,
        };
        match value {
            Value::Array(array) => self.array(array.items(), format, indentation),
            Value::Hash(hash) => self.hash(hash, format, indentation),
            value => scalar(value, format),
        }
    }

    /// A value in a collection: a collection by the formats of the whole, any other by the inner ones.
    fn inner(
        &mut self,
        value: &Value,
        contained: &Formats,
        indentation: Indentation,
    ) -> Result<String, ConversionError> {
        let formats = if is_collection(value) {
            self.top
        } else {
            contained
        };
        self.value(value, formats, indentation)
    }

    fn array(
        &mut self,
        items: &[Value],
        format: &Format,
        indentation: Indentation,
    ) -> Result<String, ConversionError> {
        if !"asp".contains(format.letter) {
            return Err(illegal("Array", format.letter, "asp"));
        }
        let alternative = format.is_alternative();
        let separator = format.separator.as_deref().unwrap_or(", ");
        let contained = contained(format)?;
        let (open, close) = format.delimiters(("[", "]"));
        let indentation = indentation.indenting(alternative || indentation.is_indenting);
        let mut text = String::new();
        if indentation.breaks() {
            text.push('\n');
            text.push_str(&indentation.padding());
        }
        text.push_str(open);
        let children = Indentation {
            is_first: false,
            ..indentation.increase(alternative)
        };
        let shown: Vec<String> = items
            .iter()
            .map(|item| self.inner(item, &contained, children))
            .collect::<Result<_, _>>()?;
        let too_wide = alternative
            && format
                .width
                .is_some_and(|width| widest(items, &shown) > width);
        let mut previous: Option<&Value> = None;
        for (item, shown) in items.iter().zip(&shown) {
            let breaks_here = too_wide && !is_collection(item);
            match previous {
                None if breaks_here => text.push(' '),
                None => {}
                Some(previous) => {
                    text.push_str(separator);
                    let after_collection =
                        alternative && is_collection(previous) && !is_collection(item);
                    if breaks_here || after_collection {
                        if !text.ends_with('\n') {
                            text.truncate(text.trim_end_matches(is_blank).len());
                        }
                        text.push('\n');
                        text.push_str(&children.padding());
                    }
                }
            }
            if text.ends_with(' ') && shown.starts_with('\n') {
                text.truncate(text.trim_end_matches(is_blank).len());
            }
            text.push_str(shown);
            previous = Some(item);
        }
        text.push_str(close);
        Ok(text)
    }

    fn hash(
        &mut self,
        hash: &Hash,
        format: &Format,
        indentation: Indentation,
    ) -> Result<String, ConversionError> {
        if format.letter == 'a' {
            let pairs = hash
                .iter()
                .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]));
            return self.value(&Value::array(pairs.collect()), self.top, indentation);
        }
        if !"hsp".contains(format.letter) {
            return Err(illegal("Hash", format.letter, "hasp"));
        }
        let alternative = format.is_alternative();
        let mut separator = format.separator.clone().unwrap_or_else(|| ", ".to_owned());
        if alternative {
            if !separator.ends_with('\n') {
                separator.truncate(separator.trim_end_matches(is_blank).len());
            }
            separator.push('\n');
        }
        let arrow = format.separator2.as_deref().unwrap_or(" => ");
        let contained = contained(format)?;
        let (open, close) = format.delimiters(("{", "}"));
        let indentation = indentation.indenting(alternative || indentation.is_indenting);
        let children = indentation.increase(false);
        let mut text = String::new();
        if indentation.breaks() {
            text.push('\n');
            text.push_str(&indentation.padding());
        }
        text.push_str(open);
        let padding = if alternative {
            children.padding()
        } else {
            String::new()
        };
        if alternative {
            text.push('\n');
        }
        for (index, (key, value)) in hash.iter().enumerate() {
            if index > 0 {
                text.push_str(&separator);
            }
            text.push_str(&padding);
            text.push_str(&self.inner(key, &contained, children)?);
            text.push_str(arrow);
            text.push_str(&self.inner(value, &contained, children)?);
        }
        if alternative {
            text.push('\n');
            text.push_str(&indentation.padding());
        }
        text.push_str(close);
        Ok(text)
    }
}

/// What Ruby's `rstrip` drops.
fn is_blank(char: char) -> bool {
    pattern::is_space(char) || char == '\0'
}

fn contained(format: &Format) -> Result<Formats, ConversionError> {
    match &format.contained {
        Some(contained) => Ok(contained.clone()),
        None => Ok(vec![(Type::Any, Format::parse("%p")?)]),
    }
}

/// The longest run of values between collections.
fn widest(items: &[Value], shown: &[String]) -> usize {
    let mut widest = 0;
    let mut width = 0;
    for (item, shown) in items.iter().zip(shown) {
        if is_collection(item) {
            width = 0;
        } else {
            width += shown.chars().count();
            widest = widest.max(width);
        }
    }
    widest
}

fn scalar(value: &Value, format: &Format) -> Result<String, ConversionError> {
    match value {
        Value::Null => undef(format),
        Value::Bool(flag) => boolean(*flag, format),
        Value::Int(number) => integer(&BigInt::from(*number), format),
        Value::BigInt(number) => integer(number, format),
        Value::Float(number) => float(*number, format),
        Value::Str(text) => text_value(text, format),
        Value::Bytes(bytes) => text_value(&String::from_utf8_lossy(bytes), format),
        Value::Template(template) => text_value(template.source(), format),
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

/// What Ruby makes of a value that Puppet has no rule for.
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
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B', Some(time)) => {
            sprintf::integer(format, &BigInt::from(time.div_euclid(timespan::SECOND)))
        }
        ('e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A', Some(time)) => {
            sprintf::float(format, super::number::seconds(time))
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
            's' if alternative => sprintf::text(format, &puppet_quote(regexp.source())),
            's' => sprintf::text(format, regexp.source()),
            letter => Err(illegal("Regexp", letter, "sp")),
        },
        Rich::Timestamp(time) => {
            let shown = timestamp::show(*time);
            any(format, &shown, &shown, Some(*time))
        }
        Rich::Timespan(time) => {
            let shown = timespan::show(*time);
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
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => sprintf::float(format, big_to_float(number)),
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
            sprintf::text(format, &format!("\"{}\"", float_text(number)))
        }
        'p' | 's' => sprintf::text(format, &float_text(number)),
        letter => Err(illegal("Float", letter, "dxXobBeEfgGaAsp")),
    }
}

fn text_value(text: &str, format: &Format) -> Result<String, ConversionError> {
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
