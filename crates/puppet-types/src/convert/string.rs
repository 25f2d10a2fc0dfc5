//! `String` from any value, with a format for each type in it.

use std::sync::LazyLock;

use psych_yaml::ruby::is_space;
use puppet_values::{Hash, Value};

use super::format::{self, Format, Formats};
use super::{ConversionError, pattern, unusable};
use crate::instance::is_default;
use crate::signature::Function;
use crate::{Type, infer_set};

mod indentation;
mod scalar;

use indentation::Indentation;
use scalar::scalar;

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
    // A string that is not UTF-8 is not changed.
    if let (Value::Bytes(_), None) = (value, formats) {
        return Ok(value.clone());
    }
    convert(value, formats).map(Value::str)
}

/// Puppet: the maximum depth of a value.
const MAX_DEPTH: u16 = 200;

static DEFAULTS: LazyLock<Formats> = LazyLock::new(format::defaults);

/// Converts a value to a string.
pub(super) fn convert(value: &Value, formats: Option<&Value>) -> Result<String, ConversionError> {
    if value.traits().depth > MAX_DEPTH {
        let limit = usize::from(MAX_DEPTH);
        return Err(ConversionError::TooLarge { limit });
    }
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

/// The format if no type fits.
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
    /// The formats for collections at any level.
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

    /// An element of a collection. Collections use the formats of the whole value, others those of the collection.
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
        let mut text = indentation.opened(open);
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
        let mut text = indentation.opened(open);
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

/// Does Ruby's `rstrip` remove it?
fn is_blank(char: char) -> bool {
    is_space(char) || char == '\0'
}

fn contained(format: &Format) -> Result<Formats, ConversionError> {
    match &format.contained {
        Some(contained) => Ok(contained.clone()),
        None => Ok(vec![(Type::Any, Format::parse("%p")?)]),
    }
}

/// The maximum width of consecutive elements that are not collections.
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
