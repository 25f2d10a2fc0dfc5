//! [`Format`]: a format of `String` such as `%#010x`, and [`Formats`], a format for each type.

use std::cmp::Ordering;

use psych_yaml::ruby::is_space;
use puppet_values::Value;

use super::{ConversionError, MAX_SIZE, unusable};
use crate::Type;

/// A format with its flags.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Format {
    /// The format as written.
    original: String,
    /// The lines before the format, and those after it.
    pub(super) around: (String, String),
    /// The flags as written.
    pub(super) flags: String,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) letter: char,
    pub(super) separator: Option<String>,
    pub(super) separator2: Option<String>,
    /// The formats of the elements of a collection that are not collections.
    pub(super) contained: Option<Formats>,
}

/// Formats by type.
pub(super) type Formats = Vec<(Type, Format)>;

/// Is the line a format?
pub(super) fn is_format_line(line: &str) -> bool {
    split_line(line).is_some()
}

/// The flags, width, precision and letter of a line.
fn split_line(line: &str) -> Option<(&str, &str, Option<&str>, char)> {
    let rest = line.strip_prefix('%')?;
    let is_flag = |char: char| is_space(char) || "[+#0{<(|-".contains(char);
    let flags_end = rest.find(|char| !is_flag(char)).unwrap_or(rest.len());
    let (flags, rest) = rest.split_at_checked(flags_end)?;
    let digits = |text: &str| {
        text.find(|char: char| !char.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let (width, rest) = rest.split_at_checked(digits(rest))?;
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (precision, rest) = rest.split_at_checked(digits(rest))?;
            (Some(precision), rest)
        }
        None => (None, rest),
    };
    let mut letters = rest.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    let is_whole = letters.next().is_none() && precision != Some("");
    is_whole.then_some((flags, width, precision, letter))
}

impl Format {
    /// Parses a format.
    pub(super) fn parse(text: &str) -> Result<Self, ConversionError> {
        let invalid = || {
            unusable(format!(
                "The format '{text}' is not a valid format on the form \
                 '%<flags><width>.<prec><format>'"
            ))
        };
        // Ruby's `^` and `$` match at every line, so there can be other lines.
        let mut start = 0;
        let mut found = None;
        for line in text.split('\n') {
            if let Some(parts) = split_line(line) {
                found = Some((start, start + line.len(), parts));
                break;
            }
            start += line.len() + 1;
        }
        let (start, end, (flags, width, precision, letter)) = found.ok_or_else(invalid)?;
        for (index, flag) in flags.char_indices() {
            if flags
                .get(..index)
                .is_some_and(|before| before.contains(flag))
            {
                return Err(unusable(format!(
                    "The same flag can only be used once, got '{text}'"
                )));
            }
        }
        if flags.chars().filter(|flag| "[{(<|".contains(*flag)).count() > 1 {
            return Err(unusable(format!(
                "Only one of the delimiters [ {{ ( < | can be given in the format flags, got '{text}'"
            )));
        }
        let number = |digits: &str| match digits {
            "" => Ok(None),
            digits => match digits.parse() {
                Ok(number) if number <= MAX_SIZE => Ok(Some(number)),
                _ => Err(ConversionError::TooLarge { limit: MAX_SIZE }),
            },
        };
        let around = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
        Ok(Format {
            original: text.to_owned(),
            around: (around(0..start), around(end..text.len())),
            flags: flags.to_owned(),
            width: number(width)?,
            precision: precision.map_or(Ok(None), number)?,
            letter,
            separator: None,
            separator2: None,
            contained: None,
        })
    }

    pub(super) fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Is it the alternative form?
    pub(super) fn is_alternative(&self) -> bool {
        self.has('#')
    }

    /// The delimiters of a collection.
    pub(super) fn delimiters(
        &self,
        default: (&'static str, &'static str),
    ) -> (&'static str, &'static str) {
        match self.flags.chars().find(|flag| "[{(<|".contains(*flag)) {
            Some('[') => ("[", "]"),
            Some('{') => ("{", "}"),
            Some('(') => ("(", ")"),
            Some('<') => ("<", ">"),
            Some(_) => ("|", "|"),
            None if self.has(' ') => ("", ""),
            None => default,
        }
    }

    /// This format, with what it does not set from a lower one.
    fn merged_over(&self, lower: &Format) -> Format {
        Format {
            separator: self.separator.clone().or_else(|| lower.separator.clone()),
            separator2: self.separator2.clone().or_else(|| lower.separator2.clone()),
            contained: match (&lower.contained, &self.contained) {
                (Some(lower), Some(higher)) => Some(merge(lower, higher)),
                (lower, higher) => higher.clone().or_else(|| lower.clone()),
            },
            ..self.clone()
        }
    }
}

/// The default formats.
pub(super) fn defaults() -> Formats {
    let format = |letter: char| Format {
        original: format!("%{letter}"),
        around: (String::new(), String::new()),
        flags: String::new(),
        width: None,
        precision: None,
        letter,
        separator: None,
        separator2: None,
        contained: None,
    };
    let collection = |letter, separator2: &str| Format {
        separator: Some(", ".to_owned()),
        separator2: Some(separator2.to_owned()),
        contained: Some(vec![(Type::Any, format('p'))]),
        ..format(letter)
    };
    vec![
        (Type::Object(None), format('p')),
        (Type::float(), format('f')),
        (Type::Numeric, format('d')),
        (Type::array(Type::Any, None), collection('a', ", ")),
        (
            Type::hash(Type::Any, Type::Any, None),
            collection('h', " => "),
        ),
        (Type::Binary, format('B')),
        (Type::Any, format('s')),
    ]
}

/// Parses a hash of types and formats.
pub(super) fn parse_map(map: &Value) -> Result<Formats, ConversionError> {
    let Value::Hash(map) = map else {
        return Err(unusable("expected a hash with type to format mappings"));
    };
    let mut formats = Vec::new();
    for (key, value) in map.iter() {
        let Some(ty) = Type::from_value(key) else {
            return Err(unusable(
                "top level keys in the format hash must be data types",
            ));
        };
        let format = match value {
            Value::Hash(parts) => {
                let text = |name: &str| parts.get(name).and_then(Value::as_str).map(str::to_owned);
                let letters = text("format")
                    .ok_or_else(|| unusable("no implicit conversion of nil into String"))?;
                Format {
                    separator: text("separator"),
                    separator2: text("separator2"),
                    contained: parts.get("string_formats").map(parse_map).transpose()?,
                    ..Format::parse(&letters)?
                }
            }
            value => Format::parse(value.as_str().unwrap_or_default())?,
        };
        formats.push((ty.clone(), format));
    }
    Ok(formats)
}

/// The lower formats, overridden by the higher ones.
pub(super) fn merge(lower: &Formats, higher: &Formats) -> Formats {
    let is_hidden = |ty: &Type| {
        higher
            .iter()
            .any(|(other, _)| other != ty && other.accepts(ty))
    };
    let mut merged: Formats = Vec::new();
    for (ty, format) in lower.iter().filter(|(ty, _)| !is_hidden(ty)) {
        let over = higher.iter().find(|(other, _)| other == ty);
        let format = over.map_or_else(|| format.clone(), |(_, over)| over.merged_over(format));
        merged.push((ty.clone(), format));
    }
    for (ty, format) in higher {
        if !merged.iter().any(|(other, _)| other == ty) {
            merged.push((ty.clone(), format.clone()));
        }
    }
    merged
}

/// The format for a type: that of the most specific type that accepts it.
///
/// Puppet sorts the types by an order in which some pairs are undefined, and uses the first.
pub(super) fn find<'a>(formats: &'a Formats, ty: &Type) -> Option<&'a Format> {
    let accepting = formats.iter().filter(|(key, _)| key.accepts(ty));
    let best = accepting.reduce(|best, next| match compare(&next.0, &best.0) {
        Ordering::Less => next,
        _ => best,
    });
    best.map(|(_, format)| format)
}

/// Sorts more specific types first. A type that accepts another one comes after it.
fn compare(left: &Type, right: &Type) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    match (right.accepts(left), left.accepts(right)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => match (rank(left), rank(right)) {
            (0, _) | (_, 0) => left.to_string().cmp(&right.to_string()),
            (left, right) => left.cmp(&right),
        },
    }
}

fn rank(ty: &Type) -> u8 {
    match ty {
        Type::Struct(_) => 1,
        Type::Hash(_) => 2,
        Type::Tuple(_) => 3,
        Type::Array(_) => 4,
        Type::Pattern(_) => 10,
        Type::Enum(_) => 11,
        Type::String(_) => 12,
        _ => 0,
    }
}
