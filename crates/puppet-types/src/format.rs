//! Types as Puppet prints them.

use std::fmt::{self, Write};

use puppet_values::time::{timespan_text, timestamp_text};
use puppet_values::{Rich, Value};

use super::{
    Alias, CallableType, IntegerRange, StringType, StructElement, TimeRange, TupleType, Type,
};

use crate::convert::{number, quote};

/// As Puppet's `to_s`: an alias of its own with what it stands for, one inside by name.
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
    /// The type with what its aliases stand for, as messages print it.
    pub(super) fn expanded(&self) -> String {
        let mut text = String::new();
        // Writing into a text does not fail.
        if write_type(&mut text, self, true).is_err() {
            text.clear();
        }
        text
    }

    /// The name of the type without parameters.
    pub(super) fn name(&self) -> String {
        match self {
            Type::Any => "Any",
            Type::Unit => "Unit",
            Type::Undef => "Undef",
            Type::Default => "Default",
            Type::Scalar => "Scalar",
            Type::ScalarData => "ScalarData",
            Type::Numeric => "Numeric",
            Type::Binary => "Binary",
            Type::SemVerRange => "SemVerRange",
            Type::CatalogEntry => "CatalogEntry",
            Type::Integer(_) => "Integer",
            Type::Float(_) => "Float",
            Type::String(_) => "String",
            Type::Boolean(_) => "Boolean",
            Type::Enum(_) => "Enum",
            Type::Pattern(_) => "Pattern",
            Type::Regexp(_) => "Regexp",
            Type::Collection(_) => "Collection",
            Type::Array(_) => "Array",
            Type::Hash(_) => "Hash",
            Type::Tuple(_) => "Tuple",
            Type::Struct(_) => "Struct",
            Type::Iterable(_) => "Iterable",
            Type::Iterator(_) => "Iterator",
            Type::Optional(_) => "Optional",
            Type::NotUndef(_) => "NotUndef",
            Type::Type(_) => "Type",
            Type::Sensitive(_) => "Sensitive",
            Type::Variant(_) => "Variant",
            Type::Callable(_) => "Callable",
            Type::Init(_) => "Init",
            Type::SemVer(_) => "SemVer",
            Type::Timestamp(_) => "Timestamp",
            Type::Timespan(_) => "Timespan",
            Type::Uri(_) => "URI",
            Type::Class(_) => "Class",
            Type::Resource(_) => "Resource",
            Type::Runtime(..) => "Runtime",
            Type::Alias(alias) => alias.name(),
            Type::Reference(_) => "TypeReference",
            Type::Object(None) => "Object",
            Type::Object(Some(name)) => name,
            Type::TypeSet => "DefaultTypeSet",
        }
        .to_owned()
    }
}

/// The set of types that Puppet takes for all of them.
const TYPE_SET: &str = "TypeSet[{pcore_uri => 'http://puppet.com/2016.1/pcore', \
                        pcore_version => '1.0.0', \
                        name_authority => 'http://puppet.com/2016.1/runtime', \
                        name => 'DefaultTypeSet', version => '0.0.0'}]";

/// Parameters between brackets.
struct List<'a> {
    out: &'a mut dyn Write,
    is_first: bool,
}

impl<'a> List<'a> {
    fn open(out: &'a mut dyn Write, name: &str) -> Result<Self, fmt::Error> {
        write!(out, "{name}[")?;
        Ok(List {
            out,
            is_first: true,
        })
    }

    fn next(&mut self) -> Result<&mut dyn Write, fmt::Error> {
        if !std::mem::take(&mut self.is_first) {
            self.out.write_str(", ")?;
        }
        Ok(self.out)
    }

    fn types<'t>(
        mut self,
        types: impl IntoIterator<Item = &'t Type>,
        expanded: bool,
    ) -> Result<Self, fmt::Error> {
        for ty in types {
            write_type(self.next()?, ty, expanded)?;
        }
        Ok(self)
    }

    fn values<'v>(
        mut self,
        values: impl IntoIterator<Item = &'v Value>,
        expanded: bool,
    ) -> Result<Self, fmt::Error> {
        for value in values {
            write_value(self.next()?, value, expanded)?;
        }
        Ok(self)
    }

    fn range(mut self, range: Option<&IntegerRange>) -> Result<Self, fmt::Error> {
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

    fn text(mut self, text: &str) -> Result<Self, fmt::Error> {
        self.next()?.write_str(text)?;
        Ok(self)
    }

    fn close(self) -> fmt::Result {
        self.out.write_char(']')
    }
}

fn write_type(out: &mut dyn Write, ty: &Type, expanded: bool) -> fmt::Result {
    let name = ty.name();
    match ty {
        Type::Integer(range) if !range.is_unbounded() => {
            List::open(out, "Integer")?.range(Some(range))?.close()
        }
        Type::Float(range) if !range.is_unbounded() => {
            let mut list = List::open(out, "Float")?;
            list = list.text(&if range.from == f64::NEG_INFINITY {
                "default".to_owned()
            } else {
                number::float_text(range.from)
            })?;
            if range.to != f64::INFINITY {
                list = list.text(&number::float_text(range.to))?;
            }
            list.close()
        }
        Type::String(StringType::Size(size)) if !size.is_unbounded() => {
            List::open(out, "String")?.range(Some(size))?.close()
        }
        Type::Boolean(Some(flag)) => write!(out, "Boolean[{flag}]"),
        Type::Enum(list) if !list.values.is_empty() => {
            let mut open = List::open(out, "Enum")?;
            for text in &list.values {
                open = open.text(&quote::puppet_quote(text))?;
            }
            if list.case_insensitive {
                open = open.text("true")?;
            }
            open.close()
        }
        Type::Pattern(patterns) if !patterns.is_empty() => {
            let mut open = List::open(out, "Pattern")?;
            for pattern in patterns.iter() {
                open = open.text(&pattern.to_string())?;
            }
            open.close()
        }
        Type::Regexp(Some(regexp)) => write!(out, "Regexp[{regexp}]"),
        Type::Collection(Some(size)) if !size.is_unbounded() => {
            List::open(out, "Collection")?.range(Some(size))?.close()
        }
        Type::Array(array) => {
            if array.size.as_ref().is_some_and(IntegerRange::is_zero) {
                return out.write_str("Array[0, 0]");
            }
            if array.element == Type::Any && array.size.is_none() {
                return out.write_str("Array");
            }
            List::open(out, "Array")?
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
            List::open(out, "Hash")?
                .types([&hash.key, &hash.value], expanded)?
                .range(hash.size.as_ref())?
                .close()
        }
        Type::Tuple(tuple) if !tuple.types.is_empty() => List::open(out, "Tuple")?
            .types(&tuple.types, expanded)?
            .range(tuple.size.as_ref())?
            .close(),
        Type::Struct(elements) if !elements.is_empty() => write_struct(out, elements, expanded),
        Type::Iterable(Some(inner)) | Type::Iterator(Some(inner)) | Type::Type(Some(inner)) => {
            List::open(out, &name)?.types([&**inner], expanded)?.close()
        }
        Type::Sensitive(inner) if **inner != Type::Any => {
            List::open(out, &name)?.types([&**inner], expanded)?.close()
        }
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => match &**inner {
            Type::String(StringType::Value(text)) => {
                write!(out, "{name}[{}]", quote::puppet_quote(text))
            }
            inner => List::open(out, &name)?.types([inner], expanded)?.close(),
        },
        Type::Variant(types) if !types.is_empty() => List::open(out, "Variant")?
            .types(types.iter(), expanded)?
            .close(),
        Type::Callable(callable) => write_callable(out, callable, expanded),
        Type::Init(Some(init)) => List::open(out, "Init")?
            .types([&init.target], expanded)?
            .values(&init.arguments, expanded)?
            .close(),
        Type::SemVer(ranges) if !ranges.is_empty() => {
            let mut open = List::open(out, "SemVer")?;
            for range in ranges.iter() {
                open = open.text(&format!("'{range}'"))?;
            }
            open.close()
        }
        Type::Timestamp(range) => write_times(out, "Timestamp", range, timestamp_text),
        Type::Timespan(range) => write_times(out, "Timespan", range, timespan_text),
        Type::Uri(Some(uri)) => {
            out.write_str("URI[")?;
            write_value(out, &Value::hash(uri.parts.clone()), expanded)?;
            out.write_char(']')
        }
        Type::Class(Some(class)) => write!(out, "Class[{class}]"),
        Type::Resource(Some(resource)) => match &resource.title {
            None => out.write_str(&resource.name),
            Some(title) => List::open(out, &resource.name)?
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
    let mut list = List::open(out, name)?.text(&match range.from {
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
        // A wrapper is needed only where the value does not tell whether the key may be missing.
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
        let mut list = List::open(out, name)?.types(types, expanded)?;
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

/// A parameter that is not a type, as it would be written.
fn write_value(out: &mut dyn Write, value: &Value, expanded: bool) -> fmt::Result {
    match value {
        Value::Null => out.write_str("undef"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::BigInt(number) => write!(out, "{number}"),
        Value::Float(number) => out.write_str(&number::float_text(*number)),
        Value::Str(text) => out.write_str(&quote::puppet_quote(text)),
        Value::Symbol(name) => out.write_str(name),
        Value::Array(array) => List::open(out, "")?
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
            Rich::Timestamp(time) => write!(out, "'{}'", timestamp_text(*time)),
            Rich::Timespan(time) => write!(out, "'{}'", timespan_text(*time)),
            Rich::SemVer(version) => write!(out, "'{version}'"),
            Rich::SemVerRange(range) => write!(out, "'{range}'"),
            Rich::Uri(uri) => write!(out, "URI({})", quote::puppet_quote(&uri.to_string())),
            Rich::Binary(_) => out.write_str("Instance of Binary"),
        },
        Value::Bytes(_) | Value::Template(_) | Value::Sensitive(_) => {
            write!(out, "Instance of {}", super::infer(value))
        }
    }
}
