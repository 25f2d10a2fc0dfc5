//! Types as Puppet prints them.

use std::fmt::{self, Write};

use psych_yaml::ruby::float_to_s;
use puppet_values::Value;
use puppet_values::time::{format_timespan, format_timestamp};

use super::{
    Alias, CallableType, IntegerRange, StringType, StructElement, TimeRange, TupleType, Type,
    charge_items,
};
use crate::convert::quote;

mod name;
mod parameters;

use parameters::{ParameterList, write_value};

/// As Puppet's `to_s` prints it: an alias with its type, except inside of other types.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Type::Object(None) {
            return f.write_str("Object[{}]");
        }
        let expanded = matches!(self, Type::Alias(_));
        write_type(f, self, expanded)
    }
}

impl Type {
    /// The type with its aliases expanded, as in messages.
    pub(super) fn expanded(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        if write_type(&mut text, self, true).is_err() {
            text.clear();
        }
        text
    }
}

/// Puppet's default type set.
const TYPE_SET: &str = "TypeSet[{pcore_uri => 'http://puppet.com/2016.1/pcore', \
                        pcore_version => '1.0.0', \
                        name_authority => 'http://puppet.com/2016.1/runtime', \
                        name => 'DefaultTypeSet', version => '0.0.0'}]";

fn write_type(out: &mut dyn Write, ty: &Type, expanded: bool) -> fmt::Result {
    let items = match ty {
        Type::Enum(list) => list.values.len(),
        Type::Pattern(patterns) => patterns.len(),
        _ => 1,
    };
    // Not an error: `to_string` panics on one.
    if !charge_items(items * 8) {
        return Ok(());
    }
    let name = ty.name();
    match ty {
        Type::Integer(range) if !range.is_unbounded() => ParameterList::open(out, "Integer")?
            .range(Some(range))?
            .close(),
        Type::Float(range) if !range.is_unbounded() => {
            let mut list = ParameterList::open(out, "Float")?;
            list = list.text(&if range.from == f64::NEG_INFINITY {
                "default".to_owned()
            } else {
                float_to_s(range.from)
            })?;
            if range.to != f64::INFINITY {
                list = list.text(&float_to_s(range.to))?;
            }
            list.close()
        }
        Type::String(StringType::Size(size)) if !size.is_unbounded() => {
            ParameterList::open(out, "String")?
                .range(Some(size))?
                .close()
        }
        Type::Boolean(Some(flag)) => write!(out, "Boolean[{flag}]"),
        Type::Enum(list) if !list.values.is_empty() => {
            let mut open = ParameterList::open(out, "Enum")?;
            for text in &list.values {
                open = open.text(&quote::puppet_quote(text))?;
            }
            if list.case_insensitive {
                open = open.text("true")?;
            }
            open.close()
        }
        Type::Pattern(patterns) if !patterns.is_empty() => {
            let mut open = ParameterList::open(out, "Pattern")?;
            for pattern in patterns.iter() {
                open = open.text(&pattern.to_string())?;
            }
            open.close()
        }
        Type::Regexp(Some(regexp)) => write!(out, "Regexp[{regexp}]"),
        Type::Collection(Some(size)) if !size.is_unbounded() => {
            ParameterList::open(out, "Collection")?
                .range(Some(size))?
                .close()
        }
        Type::Array(array) => {
            if array.size.as_ref().is_some_and(IntegerRange::is_zero) {
                return out.write_str("Array[0, 0]");
            }
            if array.element == Type::Any && array.size.is_none() {
                return out.write_str("Array");
            }
            ParameterList::open(out, "Array")?
                .types([&array.element], expanded)?
                .range(array.size.as_ref())?
                .close()
        }
        Type::Hash(hash) => {
            if hash.size.as_ref().is_some_and(IntegerRange::is_zero) {
                return out.write_str("Hash[0, 0]");
            }
            if hash.key == Type::Any && hash.value == Type::Any && hash.size.is_none() {
                return out.write_str("Hash");
            }
            ParameterList::open(out, "Hash")?
                .types([&hash.key, &hash.value], expanded)?
                .range(hash.size.as_ref())?
                .close()
        }
        Type::Tuple(tuple) if !tuple.types.is_empty() => ParameterList::open(out, "Tuple")?
            .types(&tuple.types, expanded)?
            .range(tuple.size.as_ref())?
            .close(),
        Type::Struct(elements) if !elements.is_empty() => write_struct(out, elements, expanded),
        Type::Iterable(Some(inner)) | Type::Iterator(Some(inner)) | Type::Type(Some(inner)) => {
            ParameterList::open(out, &name)?
                .types([&**inner], expanded)?
                .close()
        }
        Type::Sensitive(inner) if **inner != Type::Any => ParameterList::open(out, &name)?
            .types([&**inner], expanded)?
            .close(),
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => match &**inner {
            Type::String(StringType::Value(text)) => {
                write!(out, "{name}[{}]", quote::puppet_quote(text))
            }
            inner => ParameterList::open(out, &name)?
                .types([inner], expanded)?
                .close(),
        },
        Type::Variant(types) if !types.is_empty() => ParameterList::open(out, "Variant")?
            .types(types.iter(), expanded)?
            .close(),
        Type::Callable(callable) => write_callable(out, callable, expanded),
        Type::Init(Some(init)) => ParameterList::open(out, "Init")?
            .types([&init.target], expanded)?
            .values(&init.arguments, expanded)?
            .close(),
        Type::SemVer(ranges) if !ranges.is_empty() => {
            let mut open = ParameterList::open(out, "SemVer")?;
            for range in ranges.iter() {
                open = open.text(&format!("'{range}'"))?;
            }
            open.close()
        }
        Type::Timestamp(range) => write_times(out, "Timestamp", range, format_timestamp),
        Type::Timespan(range) => write_times(out, "Timespan", range, format_timespan),
        Type::Uri(Some(uri)) => {
            out.write_str("URI[")?;
            write_value(out, &Value::hash(uri.parts.clone()), expanded)?;
            out.write_char(']')
        }
        Type::Class(Some(class)) => write!(out, "Class[{class}]"),
        Type::Resource(Some(resource)) => match &resource.title {
            None => out.write_str(&resource.name),
            Some(title) => ParameterList::open(out, &resource.name)?
                .values([title], expanded)?
                .close(),
        },
        Type::Runtime(Some(runtime), Some(class)) => {
            write!(out, "Runtime[{runtime}, {}]", quote::puppet_quote(class))
        }
        Type::Alias(alias) => {
            out.write_str(alias.name())?;
            match alias {
                Alias::Local(local) if expanded => {
                    out.write_str(" = ")?;
                    write_type(out, &local.resolved, expanded)
                }
                _ => Ok(()),
            }
        }
        Type::TypeSet => out.write_str(TYPE_SET),
        Type::Reference(text) => write!(out, "TypeReference[{}]", quote::puppet_quote(text)),
        _ => out.write_str(&name),
    }
}

fn write_times(
    out: &mut dyn Write,
    name: &str,
    range: &TimeRange,
    show: fn(i128) -> String,
) -> fmt::Result {
    if *range == TimeRange::default() {
        return out.write_str(name);
    }
    let mut list = ParameterList::open(out, name)?.text(&match range.from {
        Some(from) => format!("'{}'", show(from)),
        None => "default".to_owned(),
    })?;
    if let Some(to) = range.to.filter(|_| range.to != range.from) {
        list = list.text(&format!("'{}'", show(to)))?;
    }
    list.close()
}

fn write_struct(out: &mut dyn Write, elements: &[StructElement], expanded: bool) -> fmt::Result {
    out.write_str("Struct[{")?;
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        let name = quote::puppet_quote(&element.name);
        // A wrapper is only needed if the value does not imply whether the key can be missing.
        match (element.optional, element.value.accepts(&Type::Undef)) {
            (true, false) => write!(out, "Optional[{name}]")?,
            (false, true) => write!(out, "NotUndef[{name}]")?,
            _ => out.write_str(&name)?,
        }
        out.write_str(" => ")?;
        write_type(out, &element.value, expanded)?;
    }
    out.write_str("}]")
}

fn write_callable(out: &mut dyn Write, callable: &CallableType, expanded: bool) -> fmt::Result {
    let parameters = |out: &mut dyn Write, name: &str, tuple: &TupleType| {
        let types = tuple.types.iter().filter(|ty| **ty != Type::Unit);
        let mut list = ParameterList::open(out, name)?.types(types, expanded)?;
        list = if tuple.types.is_empty() {
            list.range(Some(&IntegerRange::of(0, 0)))?
        } else {
            list.range(tuple.size.as_ref())?
        };
        list.types(&callable.block, expanded)?.close()
    };
    match (&callable.parameters, &callable.returns) {
        (None, None) => out.write_str("Callable"),
        (Some(tuple), None) => parameters(out, "Callable", tuple),
        (tuple, Some(returns)) => {
            out.write_str("Callable[")?;
            match tuple {
                Some(tuple) => parameters(out, "", tuple)?,
                None => out.write_str("[]")?,
            }
            out.write_str(", ")?;
            write_type(out, returns, expanded)?;
            out.write_char(']')
        }
    }
}
