//! The parameters of scalar types.

use std::sync::Arc;

use num_bigint::BigInt;
use psych_yaml::ruby::{float_to_s, integer_to_f};
use puppet_values::semver::VersionRange;
use puppet_values::{Regexp, Rich, Value};

use super::super::parse::{TypeParseError, parse};
use super::super::{FloatRange, IntegerRange, TimeRange, Type, UriType, uri_type};
use super::access::TypeBuilder;
use super::{is_default, problem, resource};
use crate::convert::{ConversionError, compile_regexp, text_case};

impl TypeBuilder<'_> {
    pub(super) fn integers(
        &self,
        from: &Value,
        to: &Value,
    ) -> Result<IntegerRange, TypeParseError> {
        let bound = |value: &Value| match value {
            Value::Int(number) => Ok(Some(BigInt::from(*number))),
            Value::BigInt(number) => Ok(Some((**number).clone())),
            Value::Null => Ok(None),
            value if is_default(value) => Ok(None),
            _ => Err(problem("the bounds of a range must be integers")),
        };
        let to = if to.as_str() == Some("default") {
            &Value::Null
        } else {
            to
        };
        let range = IntegerRange {
            from: bound(from)?,
            to: bound(to)?,
        };
        if let (Some(from), Some(to)) = (&range.from, &range.to)
            && from > to
        {
            let text = format!("'from' must be less or equal to 'to'. Got ({from}, {to}");
            return Err(problem(text));
        }
        Ok(range)
    }

    pub(super) fn floats(&self, from: &Value, to: &Value) -> Result<Type, TypeParseError> {
        let bound = |value: &Value, open: f64| match value {
            Value::Int(number) => Ok(*number as f64),
            Value::BigInt(number) => Ok(integer_to_f(number)),
            Value::Float(number) => Ok(*number),
            Value::Null => Ok(open),
            Value::Str(text) => text
                .parse()
                .map_err(|_| problem(format!("invalid value for Float(): \"{text}\""))),
            value if is_default(value) => Ok(open),
            _ => Err(problem("the bounds of a range must be numbers")),
        };
        let range = FloatRange {
            from: bound(from, f64::NEG_INFINITY)?,
            to: bound(to, f64::INFINITY)?,
        };
        if range.from > range.to {
            let (from, to) = (float_to_s(range.from), float_to_s(range.to));
            let text = format!("'from' must be less or equal to 'to'. Got ({from}, {to}");
            return Err(problem(text));
        }
        Ok(Type::Float(range))
    }

    pub(super) fn enumeration(&self) -> Result<Type, TypeParseError> {
        let (values, case_insensitive) = match self.parameters {
            [values @ .., Value::Bool(flag)] => (values, *flag),
            values => (values, false),
        };
        if values.is_empty() {
            return Err(TypeParseError::ParameterCount {
                ty: "Enum".to_owned(),
                required: "1 or more",
                given: 0,
            });
        }
        let values = values
            .iter()
            .map(|value| match value {
                Value::Str(text) => Ok(text.clone()),
                _ => Err(problem("Enum parameters must be identifiers or strings")),
            })
            .collect::<Result<_, _>>()?;
        Ok(Type::enumeration(values, case_insensitive))
    }

    pub(super) fn pattern(&self) -> Result<Type, TypeParseError> {
        let mut patterns: Vec<Regexp> = Vec::new();
        let mut push = |regexp: Regexp| {
            if !patterns.contains(&regexp) {
                patterns.push(regexp);
            }
        };
        for parameter in self.parameters {
            match parameter {
                Value::Str(source) => push(compile_regexp(source)?),
                Value::Rich(rich) => match (&**rich, Type::from_rich(rich)) {
                    (Rich::Regexp(regexp), _) => push(regexp.clone()),
                    (_, Some(Type::Regexp(Some(regexp)))) => push(regexp.clone()),
                    (_, Some(Type::Regexp(None))) => push(compile_regexp("")?),
                    (_, Some(Type::Pattern(inner))) => inner.iter().cloned().for_each(&mut push),
                    _ => return Err(self.bad_pattern(parameter)),
                },
                _ => return Err(self.bad_pattern(parameter)),
            }
        }
        Ok(Type::Pattern(patterns.into()))
    }

    pub(super) fn bad_pattern(&self, parameter: &Value) -> TypeParseError {
        let class = parameter.ruby_class();
        problem(format!(
            "Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '{class}"
        ))
    }

    pub(super) fn times(
        &self,
        name: &str,
        bound: fn(&Value) -> Result<Option<i128>, ConversionError>,
    ) -> Result<TimeRange, TypeParseError> {
        let (from, to) = match self.parameters {
            [from] => (from, &Value::Null),
            [from, to] => (from, to),
            _ => return Err(self.count(name, "0 to 2")),
        };
        let bound = |value| bound(value).map_err(|error| problem(error.to_string()));
        let range = TimeRange {
            from: bound(from)?,
            to: bound(to)?,
        };
        if let (Some(from), Some(to)) = (range.from, range.to)
            && from > to
        {
            let show = |time| match name {
                "Timespan" => puppet_values::time::format_timespan(time),
                _ => puppet_values::time::format_timestamp(time),
            };
            let (from, to) = (show(from), show(to));
            let text = format!("'from' must be less or equal to 'to'. Got ({from}, {to}");
            return Err(problem(text));
        }
        Ok(range)
    }

    pub(super) fn versions(&self) -> Result<Type, TypeParseError> {
        let ranges = self
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Value::Str(text) => Ok(VersionRange::parse(text)?),
                other => Err(problem(format!(
                    "undefined method `gsub' for a {}",
                    other.ruby_class()
                ))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Type::SemVer(VersionRange::merge_all(ranges)?.into()))
    }

    pub(super) fn uri(&self) -> Result<Type, TypeParseError> {
        match self.parameters {
            [Value::Str(text)] => {
                let parts = uri_type::type_parts(text)?;
                Ok(Type::Uri(parts.map(|parts| Arc::new(UriType { parts }))))
            }
            [Value::Hash(parts)] if parts.is_empty() => Ok(Type::Uri(None)),
            [hash @ Value::Hash(parts)] => {
                uri_type::check_type_parts(hash)?;
                Ok(Type::Uri(Some(Arc::new(UriType {
                    parts: (**parts).clone(),
                }))))
            }
            [_] => Ok(Type::Uri(None)),
            _ => Err(self.count("URI", "1")),
        }
    }

    pub(super) fn resource(&self) -> Result<Type, TypeParseError> {
        let (name, titles) = match self.parameters {
            [name, titles @ ..] => (name, titles),
            [] => return Err(self.not_a_type()),
        };
        let title = |titles: &[Value]| match titles {
            [] | [Value::Null] => Ok(None),
            [title] => Ok(Some(title.clone())),
            _ => Err(self.count("Resource", "1 or 2")),
        };
        let named = |name: &str, title| {
            let name = capitalize_segments(name);
            if is_class_reference(&name) {
                Ok(resource(&name, title))
            } else {
                Err(problem(format!("Illegal type name '{name}'")))
            }
        };
        match name {
            Value::Null if titles.is_empty() => Ok(Type::Resource(None)),
            Value::Str(name) => named(name, title(titles)?),
            name => match Type::from_value(name) {
                Some(Type::Resource(None)) => Ok(Type::Resource(None)),
                Some(Type::Resource(Some(ty))) => Ok(resource(&ty.name, title(titles)?)),
                Some(Type::Reference(text)) => match text.split_once('[') {
                    None => named(text, title(titles)?),
                    // `Resource[Foo[x]]` is `Foo[x]`.
                    Some((name, _)) => {
                        let inner = format!(
                            "Init[Any, {}",
                            text.get(name.len() + 1..).unwrap_or_default()
                        );
                        match parse(&inner, self.context.names)? {
                            Type::Init(Some(init)) => match &init.arguments[..] {
                                [only] => named(name, Some(only.clone())),
                                given => Err(TypeParseError::ParameterCount {
                                    ty: Type::Reference(text.clone()).to_string(),
                                    required: "1",
                                    given: given.len(),
                                }),
                            },
                            _ => Err(self.not_a_type()),
                        }
                    }
                },
                _ => Err(problem(format!(
                    "The type name cannot be a {}",
                    name.ruby_class()
                ))),
            },
        }
    }
}

/// Unlike the format `%C` of `String`, Puppet keeps empty segments here, and refuses the name then.
fn capitalize_segments(name: &str) -> String {
    if name.starts_with(|char: char| char.is_ascii_uppercase()) {
        return name.to_owned();
    }
    let segments: Vec<String> = name.split("::").map(text_case::capitalize).collect();
    segments.join("::")
}

/// Is it `Foo` or `::Foo::Bar`?
fn is_class_reference(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::").all(|segment| {
        segment.starts_with(|char: char| char.is_ascii_uppercase())
            && segment
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    })
}
