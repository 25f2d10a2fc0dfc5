//! The type of a value: one type for all elements ([`infer`]), or a type for each element ([`infer_set`]).

use std::sync::Arc;

use lean_string::LeanStr;
use num_bigint::BigInt;
use puppet_values::semver::VersionRange;
use puppet_values::{Rich, Value};

use super::{
    Alias, CallableType, EnumType, FloatRange, IntegerRange, StringType, StructElement, TimeRange,
    Type, charge_items, uri_type,
};

/// Puppet: the maximum depth of an inferred type; everything below is `Any`.
const MAX_DEPTH: usize = 100;

/// The type of a value, with one type for all elements of a collection.
///
/// ```
/// use puppet_types::infer;
/// use puppet_values::Value;
///
/// let value = Value::array(vec![Value::Int(1), Value::Int(5)]);
/// assert_eq!(infer(&value).to_string(), "Array[Integer[1, 5], 2, 2]");
/// ```
pub fn infer(value: &Value) -> Type {
    infer_within(value, MAX_DEPTH)
}

fn infer_within(value: &Value, depth: usize) -> Type {
    let Some(below) = depth.checked_sub(1).filter(|_| charge_items(1)) else {
        return Type::Any;
    };
    match value {
        Value::Array(array) if array.items().is_empty() => empty_array(),
        Value::Array(array) => Type::array(
            reduce(array.items().iter(), below),
            Some(IntegerRange::exactly(array.items().len())),
        ),
        Value::Hash(hash) if hash.is_empty() => empty_hash(),
        Value::Hash(hash) => Type::hash(
            reduce(hash.iter().map(|(key, _)| key), below),
            reduce(hash.iter().map(|(_, value)| value), below),
            Some(IntegerRange::exactly(hash.len())),
        ),
        value => infer_scalar(value),
    }
}

/// The type of a value, with a type for each element and entry.
pub(crate) fn infer_set(value: &Value) -> Type {
    infer_set_within(value, MAX_DEPTH)
}

fn infer_set_within(value: &Value, depth: usize) -> Type {
    let Some(below) = depth.checked_sub(1).filter(|_| charge_items(1)) else {
        return Type::Any;
    };
    let inner = |value: &Value| infer_set_within(value, below);
    match value {
        Value::Array(array) if array.items().is_empty() => empty_array(),
        Value::Array(array) => Type::tuple(array.items().iter().map(inner).collect(), None),
        Value::Hash(hash) if hash.is_empty() => empty_hash(),
        Value::Hash(hash) => {
            let elements = hash.iter().map(|(key, value)| match key {
                Value::Str(name) if !name.is_empty() => Some(StructElement {
                    name: name.clone(),
                    optional: false,
                    value: inner(value),
                }),
                _ => None,
            });
            if let Some(elements) = elements.collect::<Option<Vec<_>>>() {
                return Type::Struct(elements.into());
            }
            Type::hash(
                Type::variant(hash.iter().map(|(key, _)| inner(key))),
                Type::variant(hash.iter().map(|(_, value)| inner(value))),
                Some(IntegerRange::exactly(hash.len())),
            )
        }
        Value::Rich(rich) => match &**rich {
            Rich::SemVer(version) => Type::SemVer(
                VersionRange::between(version, version, false)
                    .into_iter()
                    .collect(),
            ),
            _ => infer_scalar(value),
        },
        value => infer_scalar(value),
    }
}

fn empty_array() -> Type {
    Type::array(Type::Unit, Some(IntegerRange::of(0, 0)))
}

fn empty_hash() -> Type {
    Type::hash(Type::Unit, Type::Unit, Some(IntegerRange::of(0, 0)))
}

fn infer_scalar(value: &Value) -> Type {
    let exactly = |number: BigInt| {
        Type::Integer(IntegerRange {
            from: Some(number.clone()),
            to: Some(number),
        })
    };
    match value {
        Value::Null => Type::Undef,
        Value::Bool(flag) => Type::Boolean(Some(*flag)),
        Value::Int(number) => exactly(BigInt::from(*number)),
        Value::BigInt(number) => exactly((**number).clone()),
        Value::Float(number) => Type::Float(FloatRange {
            from: *number,
            to: *number,
        }),
        Value::Str(text) => Type::String(StringType::Value(text.clone())),
        Value::Bytes(bytes) => Type::text(&String::from_utf8_lossy(bytes)),
        Value::Template(template) => Type::text(template.source()),
        Value::Symbol(name) => match name.as_str() {
            "default" => Type::Default,
            "undef" => Type::Undef,
            _ => Type::Runtime(
                Some(LeanStr::from_static_str("ruby")),
                Some(LeanStr::from_static_str("Symbol")),
            ),
        },
        Value::Sensitive(inner) => Type::sensitive(&infer(inner)),
        Value::Array(_) | Value::Hash(_) => Type::Any,
        Value::Rich(rich) => match &**rich {
            Rich::Default => Type::Default,
            Rich::Regexp(regexp) => Type::Regexp(Some(regexp.clone())),
            Rich::Timestamp(time) => Type::Timestamp(TimeRange::exactly(*time)),
            Rich::Timespan(time) => Type::Timespan(TimeRange::exactly(*time)),
            Rich::SemVer(_) => Type::SemVer(Arc::from([])),
            Rich::SemVerRange(_) => Type::SemVerRange,
            Rich::Binary(_) => Type::Binary,
            Rich::Uri(uri) => {
                Type::Uri(uri_type::parts_of(uri).map(|parts| Arc::new(super::UriType { parts })))
            }
            Rich::Type(_) => Type::Type(Type::from_rich(rich).cloned().map(Arc::new)),
        },
    }
}

/// One type for all values.
fn reduce<'a>(values: impl Iterator<Item = &'a Value>, depth: usize) -> Type {
    let mut values = values.peekable();
    // The strings at the start become one enum. Built step by step, it would take quadratic time.
    let mut strings: Vec<LeanStr> = Vec::new();
    while let Some(Value::Str(text)) = values.peek() {
        strings.push(text.clone());
        values.next();
    }
    strings.sort();
    strings.dedup();
    let mut common = match &strings[..] {
        [] => None,
        [text] => Some(Type::String(StringType::Value(text.clone()))),
        _ => Some(Type::enumeration(strings, false)),
    };
    for value in values {
        let ty = infer_within(value, depth);
        common = Some(match common {
            None => ty,
            Some(common) => common_type(&common, &ty),
        });
    }
    common.unwrap_or(Type::Undef)
}

/// A type that accepts the values of both types.
fn common_type(left: &Type, right: &Type) -> Type {
    match (left, right) {
        (Type::Undef | Type::Unit, right) => return right.clone(),
        (left, Type::Undef | Type::Unit) => return left.clone(),
        _ => {}
    }
    if left.accepts(right) {
        return left.clone();
    }
    if right.accepts(left) {
        return right.clone();
    }
    if let Some(common) = common_of_kind(left, right) {
        return common;
    }
    let both = |ty: &Type| ty.accepts(left) && ty.accepts(right);
    let data = Type::Alias(Alias::Data);
    for common in [Type::Numeric, Type::ScalarData, Type::Scalar, data] {
        if both(&common) {
            return common;
        }
    }
    if let (Type::Type(Some(left)), Type::Type(Some(right))) = (left, right) {
        return Type::Type(Some(Arc::new(common_type(left, right))));
    }
    let rich_data = Type::Alias(Alias::RichData);
    if both(&rich_data) {
        return rich_data;
    }
    Type::Any
}

/// The common type of two types of the same kind.
fn common_of_kind(left: &Type, right: &Type) -> Option<Type> {
    let list = |values: Vec<LeanStr>| Type::enumeration(values, false);
    let any_enum = || list(Vec::new());
    let with = |list_type: &EnumType, more: &[LeanStr]| {
        list(list_type.values.iter().chain(more).cloned().collect())
    };
    Some(match (left, right) {
        (Type::Array(left), Type::Array(right)) => {
            Type::array(common_type(&left.element, &right.element), None)
        }
        (Type::Hash(left), Type::Hash(right)) => Type::hash(
            common_type(&left.key, &right.key),
            common_type(&left.value, &right.value),
            None,
        ),
        (Type::Class(_), Type::Class(_)) => Type::Class(None),
        (Type::Resource(Some(left)), Type::Resource(Some(right))) if left.name == right.name => {
            Type::Resource(Some(super::ResourceType {
                name: left.name.clone(),
                title: None,
            }))
        }
        (Type::Resource(_), Type::Resource(_)) => Type::Resource(None),
        (Type::Integer(left), Type::Integer(right)) => Type::Integer(left.span(right)),
        (Type::Float(left), Type::Float(right)) => Type::Float(left.span(right)),
        (Type::String(left), Type::Enum(right)) => match left {
            StringType::Value(text) => with(right, std::slice::from_ref(text)),
            _ => any_enum(),
        },
        (Type::Enum(left), Type::String(right)) => match right {
            StringType::Value(text) => with(left, std::slice::from_ref(text)),
            _ => any_enum(),
        },
        (Type::Enum(left), Type::Enum(right)) => with(left, &right.values),
        (Type::String(left), Type::String(right)) => match (left, right) {
            (StringType::Value(left), StringType::Value(right)) => {
                list(vec![left.clone(), right.clone()])
            }
            (StringType::Size(left), StringType::Size(right)) => {
                Type::sized_string(left.span(right))
            }
            _ => Type::string(),
        },
        (Type::Pattern(left), Type::Pattern(right)) => {
            let mut patterns = left.to_vec();
            patterns.extend(
                right
                    .iter()
                    .filter(|pattern| !left.contains(pattern))
                    .cloned(),
            );
            Type::Pattern(patterns.into())
        }
        (Type::Variant(left), Type::Variant(right)) => {
            Type::variant(left.iter().chain(right.iter()).cloned())
        }
        (Type::Regexp(_), Type::Regexp(_)) => Type::Regexp(None),
        (Type::Callable(_), Type::Callable(_)) => Type::Callable(Arc::new(CallableType::default())),
        _ => return None,
    })
}
