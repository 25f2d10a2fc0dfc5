//! Parameters in brackets, and values as parameters.

use std::fmt::{self, Write};

use psych_yaml::ruby::float_to_s;
use puppet_values::time::{format_timespan, format_timestamp};
use puppet_values::{Rich, Value};

use super::{IntegerRange, Type, quote, write_type};

/// Writes parameters in brackets, separated by commas.
pub(super) struct ParameterList<'a> {
    out: &'a mut dyn Write,
    is_first: bool,
}

impl<'a> ParameterList<'a> {
    pub(super) fn open(out: &'a mut dyn Write, name: &str) -> Result<Self, fmt::Error> {
        write!(out, "{name}[")?;
        Ok(ParameterList {
            out,
            is_first: true,
        })
    }

    pub(super) fn next(&mut self) -> Result<&mut dyn Write, fmt::Error> {
        if !std::mem::take(&mut self.is_first) {
            self.out.write_str(", ")?;
        }
        Ok(self.out)
    }

    pub(super) fn types<'t>(
        mut self,
        types: impl IntoIterator<Item = &'t Type>,
        expanded: bool,
    ) -> Result<Self, fmt::Error> {
        for ty in types {
            write_type(self.next()?, ty, expanded)?;
        }
        Ok(self)
    }

    pub(super) fn values<'v>(
        mut self,
        values: impl IntoIterator<Item = &'v Value>,
        expanded: bool,
    ) -> Result<Self, fmt::Error> {
        for value in values {
            write_value(self.next()?, value, expanded)?;
        }
        Ok(self)
    }

    pub(super) fn range(mut self, range: Option<&IntegerRange>) -> Result<Self, fmt::Error> {
        let Some(range) = range.filter(|range| !range.is_unbounded()) else {
            return Ok(self);
        };
        match &range.from {
            Some(from) => write!(self.next()?, "{from}")?,
            None => self.next()?.write_str("default")?,
        }
        if let Some(to) = &range.to {
            write!(self.next()?, "{to}")?;
        }
        Ok(self)
    }

    pub(super) fn text(mut self, text: &str) -> Result<Self, fmt::Error> {
        self.next()?.write_str(text)?;
        Ok(self)
    }

    pub(super) fn close(self) -> fmt::Result {
        self.out.write_char(']')
    }
}

/// Writes a value as a parameter.
pub(super) fn write_value(out: &mut dyn Write, value: &Value, expanded: bool) -> fmt::Result {
    match value {
        Value::Null => out.write_str("undef"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::BigInt(number) => write!(out, "{number}"),
        Value::Float(number) => out.write_str(&float_to_s(*number)),
        Value::Str(text) => out.write_str(&quote::puppet_quote(text)),
        Value::Symbol(name) => out.write_str(name),
        Value::Array(array) => ParameterList::open(out, "")?
            .values(array.items(), expanded)?
            .close(),
        Value::Hash(hash) => {
            out.write_char('{')?;
            for (index, (key, value)) in hash.iter().enumerate() {
                if index > 0 {
                    out.write_str(", ")?;
                }
                write_value(out, key, expanded)?;
                out.write_str(" => ")?;
                write_value(out, value, expanded)?;
            }
            out.write_char('}')
        }
        Value::Rich(rich) => match &**rich {
            Rich::Default => out.write_str("default"),
            Rich::Regexp(regexp) => write!(out, "{regexp}"),
            Rich::Type(ty) => match Type::from_rich(rich) {
                Some(ty) => write_type(out, ty, expanded),
                None => write!(out, "{ty}"),
            },
            Rich::Timestamp(time) => write!(out, "'{}'", format_timestamp(*time)),
            Rich::Timespan(time) => write!(out, "'{}'", format_timespan(*time)),
            Rich::SemVer(version) => write!(out, "'{version}'"),
            Rich::SemVerRange(range) => write!(out, "'{range}'"),
            Rich::Uri(uri) => write!(out, "URI({})", quote::puppet_quote(&uri.to_string())),
            Rich::Binary(_) => out.write_str("Instance of Binary"),
        },
        Value::Bytes(_) | Value::Template(_) | Value::Sensitive(_) => {
            write!(out, "Instance of {}", crate::infer(value))
        }
    }
}
