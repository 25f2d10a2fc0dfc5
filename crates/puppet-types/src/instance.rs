//! Checking values against types.

use puppet_values::{Hash, Rich, Value};

use super::{Alias, StringType, Type, charge_items, infer, signature};

impl Type {
    /// Is the value of this type?
    pub fn is_instance(&self, value: &Value) -> bool {
        if work_budget::charge(1).is_err() {
            return false;
        }
        match self {
            Type::Any | Type::Unit => true,
            Type::Undef => is_undef(value),
            Type::Default => is_default(value),
            Type::Scalar => is_scalar(value),
            Type::ScalarData => is_scalar_data(value),
            Type::Numeric => match value {
                Value::Int(_) | Value::BigInt(_) => true,
                Value::Float(number) => !number.is_nan(),
                _ => false,
            },
            Type::Integer(range) => match value {
                Value::Int(number) => range.is_unbounded() || range.contains(&(*number).into()),
                Value::BigInt(number) => range.contains(number),
                _ => false,
            },
            Type::Float(range) => matches!(value, Value::Float(number) if range.contains(*number)),
            Type::String(accepted) => is_string(accepted, value),
            Type::Boolean(accepted) => {
                matches!(value, Value::Bool(flag) if accepted.is_none_or(|accepted| accepted == *flag))
            }
            Type::Enum(list) => {
                let has = |text| charge_items(list.values.len()) && list.has(text);
                value.as_str().is_some_and(has)
            }
            Type::Pattern(patterns) => match value {
                Value::Str(text) => {
                    patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(text))
                }
                Value::Bytes(bytes) => {
                    let text = String::from_utf8_lossy(bytes);
                    patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(&text))
                }
                _ => false,
            },
            Type::Collection(size) => match value {
                Value::Array(array) => fits(size, array.items().len()),
                Value::Hash(hash) => fits(size, hash.len()),
                _ => false,
            },
            Type::Array(array) => value.as_array().is_some_and(|items| {
                fits(&array.size, items.len())
                    && (array.element == Type::Any
                        || items.iter().all(|item| array.element.is_instance(item)))
            }),
            Type::Hash(ty) => value.as_hash().is_some_and(|hash| {
                fits(&ty.size, hash.len())
                    && hash
                        .iter()
                        .all(|(key, value)| ty.key.is_instance(key) && ty.value.is_instance(value))
            }),
            Type::Tuple(tuple) => value.as_array().is_some_and(|items| {
                let sized = match &tuple.size {
                    Some(size) => size.contains_size(items.len()),
                    None => tuple.types.is_empty() || tuple.types.len() == items.len(),
                };
                sized
                    && items
                        .iter()
                        .enumerate()
                        .all(|(index, item)| tuple.at(index).is_none_or(|ty| ty.is_instance(item)))
            }),
            Type::Struct(elements) => value.as_hash().is_some_and(|hash| {
                let mut matched = 0;
                let fitting = elements
                    .iter()
                    .all(|element| match hash.get(&element.name) {
                        None => element.optional,
                        Some(value) => {
                            matched += 1;
                            element.value.is_instance(value)
                        }
                    });
                fitting && matched == hash.len()
            }),
            Type::Iterable(element) => match element {
                Some(ty) if !ty.accepts(&Type::Any) => self.accepts(&infer(value)),
                _ => is_iterable(value),
            },
            Type::Optional(ty) => {
                is_undef(value) || ty.as_ref().is_some_and(|ty| ty.is_instance(value))
            }
            Type::NotUndef(ty) => {
                !is_undef(value) && ty.as_ref().is_none_or(|ty| ty.is_instance(value))
            }
            Type::Variant(types) => types.iter().any(|ty| ty.is_instance(value)),
            Type::Alias(Alias::Data) => is_data(value),
            Type::Alias(Alias::RichData) => is_rich_data(value),
            Type::Alias(alias) => alias.resolved().is_instance(value),
            Type::Sensitive(ty) => {
                matches!(value, Value::Sensitive(inner) if ty.is_instance(inner))
            }
            Type::Init(None) => Type::Alias(Alias::RichData).is_instance(value),
            Type::Init(Some(init)) => {
                signature::init_types(init).is_ok_and(|types| types.is_instance(init, value))
            }
            Type::Binary
            | Type::SemVerRange
            | Type::SemVer(_)
            | Type::Regexp(_)
            | Type::Timestamp(_)
            | Type::Timespan(_)
            | Type::Uri(_)
            | Type::Type(_)
            | Type::Object(None)
            | Type::TypeSet => matches!(value, Value::Rich(rich) if self.is_rich_instance(rich)),
            // Neither data nor conversions contain such values.
            Type::Iterator(_)
            | Type::Callable(_)
            | Type::CatalogEntry
            | Type::Class(_)
            | Type::Resource(_)
            | Type::Reference(_)
            | Type::Object(Some(_)) => false,
            Type::Runtime(..) => self.accepts(&infer(value)),
        }
    }

    fn is_rich_instance(&self, rich: &Rich) -> bool {
        match (self, rich) {
            (Type::Binary, Rich::Binary(_)) | (Type::SemVerRange, Rich::SemVerRange(_)) => true,
            (Type::SemVer(ranges), Rich::SemVer(version)) => {
                ranges.is_empty() || ranges.iter().any(|range| range.includes(version))
            }
            (Type::Regexp(accepted), Rich::Regexp(regexp)) => {
                accepted.as_ref().is_none_or(|accepted| accepted == regexp)
            }
            (Type::Timestamp(range), Rich::Timestamp(time))
            | (Type::Timespan(range), Rich::Timespan(time)) => range.contains(*time),
            (Type::Uri(None), Rich::Uri(_)) => true,
            (Type::Uri(Some(accepted)), Rich::Uri(uri)) => {
                accepted.parts.iter().all(|(part, pattern)| {
                    part.as_str()
                        .is_some_and(|part| is_match(&uri.part(part), pattern))
                })
            }
            (Type::Type(None), Rich::Type(_)) => true,
            (Type::Type(Some(accepted)), Rich::Type(_)) => {
                Type::from_rich(rich).is_some_and(|ty| accepted.accepts(ty))
            }
            (Type::TypeSet, Rich::Type(_)) => Type::from_rich(rich) == Some(&Type::TypeSet),
            // To Puppet, types are objects.
            (Type::Object(_), Rich::Type(_)) => true,
            _ => false,
        }
    }
}

fn fits(size: &Option<super::IntegerRange>, length: usize) -> bool {
    size.as_ref().is_none_or(|size| size.contains_size(length))
}

/// Is it Puppet's `undef`?
pub(crate) fn is_undef(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Symbol(name) => *name == "undef",
        _ => false,
    }
}

/// Is it Puppet's `default`?
pub(crate) fn is_default(value: &Value) -> bool {
    match value {
        Value::Symbol(name) => *name == "default",
        Value::Rich(rich) => **rich == Rich::Default,
        _ => false,
    }
}

/// Is it of type `Data`? Faster than checking against the resolved alias, since data can be deep and is checked often.
fn is_data(value: &Value) -> bool {
    match value {
        Value::Array(array) => array.items().iter().all(is_data),
        Value::Hash(hash) => hash
            .iter()
            .all(|(key, value)| is_string(&StringType::Any, key) && is_data(value)),
        value => is_undef(value) || is_scalar_data(value),
    }
}

/// Is it of type `RichData`?
fn is_rich_data(value: &Value) -> bool {
    match value {
        Value::Array(array) => array.items().iter().all(is_rich_data),
        Value::Hash(hash) => hash.iter().all(|(key, value)| {
            let is_key = is_string(&StringType::Any, key) || Type::Numeric.is_instance(key);
            is_key && is_rich_data(value)
        }),
        Value::Symbol(_) => is_undef(value) || is_default(value),
        Value::Template(_) => false,
        _ => true,
    }
}

fn is_scalar_data(value: &Value) -> bool {
    matches!(
        value,
        Value::Str(_)
            | Value::Bytes(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::Bool(_)
    )
}

fn is_scalar(value: &Value) -> bool {
    match value {
        Value::Rich(rich) => matches!(
            **rich,
            Rich::Regexp(_)
                | Rich::Timestamp(_)
                | Rich::Timespan(_)
                | Rich::SemVer(_)
                | Rich::SemVerRange(_)
        ),
        value => is_scalar_data(value),
    }
}

fn is_string(accepted: &StringType, value: &Value) -> bool {
    match (value, accepted) {
        (Value::Str(_) | Value::Bytes(_), StringType::Any) => true,
        (Value::Str(text), StringType::Size(size)) => size.contains_size(text.chars().count()),
        (Value::Bytes(bytes), StringType::Size(size)) => size.contains_size(bytes.len()),
        (Value::Str(text), StringType::Value(accepted)) => text == accepted,
        _ => false,
    }
}

fn is_iterable(value: &Value) -> bool {
    match value {
        Value::Str(_) | Value::Bytes(_) | Value::Array(_) | Value::Hash(_) => true,
        Value::Int(number) => *number >= 0,
        Value::BigInt(number) => number.sign() == num_bigint::Sign::Plus,
        Value::Rich(rich) => Type::from_rich(rich).is_some_and(is_iterable_type),
        _ => false,
    }
}

fn is_iterable_type(ty: &Type) -> bool {
    match ty {
        Type::Enum(_) => true,
        Type::Integer(range) => range.is_finite(),
        Type::Alias(alias) => is_iterable_type(alias.resolved()),
        _ => false,
    }
}

/// Does a value match a pattern, as in the options of a `case`?
pub(super) fn is_match(value: &Value, pattern: &Value) -> bool {
    match (pattern, value) {
        (Value::Rich(rich), value) => match (&**rich, value) {
            (Rich::Type(_), value) => Type::from_rich(rich).is_some_and(|ty| ty.is_instance(value)),
            (Rich::Regexp(regexp), Value::Str(text)) => regexp.is_match(text),
            _ => false,
        },
        (Value::Str(pattern), Value::Str(text)) => pattern.to_lowercase() == text.to_lowercase(),
        (Value::Str(pattern), Value::Int(number)) => pattern.parse() == Ok(*number),
        (Value::Int(pattern), Value::Str(text)) => text.parse() == Ok(*pattern),
        (Value::Array(patterns), Value::Array(values)) => {
            let (patterns, values) = (patterns.items(), values.items());
            patterns.len() == values.len()
                && patterns
                    .iter()
                    .zip(values)
                    .all(|(pattern, value)| is_match(value, pattern))
        }
        (Value::Hash(pattern), Value::Hash(value)) => hash_matches(pattern, value),
        (pattern, value) => pattern == value,
    }
}

fn hash_matches(pattern: &Hash, value: &Hash) -> bool {
    pattern.iter().all(|(key, pattern)| {
        value
            .get_value(key)
            .is_some_and(|value| is_match(value, pattern))
    })
}
