//! The parameters of collections.

use std::sync::Arc;

use lean_string::LeanStr;
use num_bigint::BigInt;
use puppet_values::Value;

use super::super::parse::TypeParseError;
use super::super::{CallableType, IntegerRange, StringType, StructElement, TupleType, Type};
use super::access::TypeBuilder;
use super::{is_bound, problem, type_of};

impl TypeBuilder<'_> {
    pub(super) fn array(&self) -> Result<Type, TypeParseError> {
        Ok(match self.parameters {
            [element] => Type::array(self.type_at(element)?.clone(), None),
            [element, size] if Type::from_value(element).is_some() => {
                Type::array(self.type_at(element)?.clone(), Some(self.size(size)?))
            }
            // Puppet uses the type of `default` for the missing type.
            [from, to] => Type::array(Type::Default, Some(self.range(from, to)?)),
            [element, from, to] => {
                Type::array(self.type_at(element)?.clone(), Some(self.range(from, to)?))
            }
            _ => return Err(self.count("Array", "1 to 3")),
        })
    }

    pub(super) fn hash(&self) -> Result<Type, TypeParseError> {
        let typed = |key, value, size| -> Result<Type, TypeParseError> {
            let (key, value) = (self.type_at(key)?.clone(), self.type_at(value)?.clone());
            Ok(Type::hash(key, value, size))
        };
        match self.parameters {
            [key, value]
                if Type::from_value(key).is_some() && Type::from_value(value).is_some() =>
            {
                typed(key, value, None)
            }
            [from, to] => Ok(Type::hash(
                Type::Default,
                Type::Default,
                Some(self.range(from, to)?),
            )),
            [key, value, size] => typed(key, value, Some(self.size(size)?)),
            [key, value, from, to] => typed(key, value, Some(self.range(from, to)?)),
            _ => Err(self.count("Hash", "2 to 4")),
        }
    }

    pub(super) fn tuple(&self) -> Result<Type, TypeParseError> {
        let from = |value: &Value| match value {
            Value::Int(_) | Value::BigInt(_) => value.clone(),
            _ => Value::Int(0),
        };
        let (types, size) = match self.parameters {
            [types @ .., low, high] if is_bound(low) => {
                (types, Some(self.range(&from(low), high)?))
            }
            [types @ .., low] if is_bound(low) => {
                (types, Some(self.range(&from(low), &Value::Null)?))
            }
            types => (types, None),
        };
        Ok(Type::tuple(types.iter().map(type_of).collect(), size))
    }

    pub(super) fn structure(&self) -> Result<Type, TypeParseError> {
        let [parameter] = self.parameters else {
            return Err(self.count("Struct", "1"));
        };
        let Value::Hash(entries) = parameter else {
            return Err(self.not_a_type());
        };
        let mut elements = Vec::with_capacity(entries.len());
        for (key, value) in entries.iter() {
            let value = type_of(value);
            let (name, optional) = match key {
                Value::Str(name) if name.is_empty() => {
                    return Err(problem("Struct element key cannot be an empty String"));
                }
                Value::Str(name) => (Some(name.clone()), value.accepts(&Type::Undef)),
                key => match Type::from_value(key) {
                    Some(Type::NotUndef(Some(inner))) => (literal(inner), false),
                    Some(Type::Optional(Some(inner))) => (literal(inner), true),
                    Some(ty) => (literal(ty), false),
                    None => {
                        let class = key.ruby_class();
                        let text = "Illegal Struct member key type. Expected NotUndef, Optional, \
                                    String, or Enum. Got";
                        return Err(problem(format!("{text}: {class}")));
                    }
                },
            };
            let Some(name) = name else {
                return Err(problem(
                    "Unable to extract a non-empty literal string from Struct member key type",
                ));
            };
            elements.push(StructElement {
                name,
                optional,
                value,
            });
        }
        Ok(Type::Struct(elements.into()))
    }

    pub(super) fn callable(&self) -> Result<Type, TypeParseError> {
        let (parameters, returns) = match self.parameters {
            [Value::Array(parameters), returns] => (parameters.items(), Some(type_of(returns))),
            [Value::Array(_), ..] if self.parameters.len() > 1 => {
                return Err(self.count("callable", "2 when first parameter is an array"));
            }
            parameters => (parameters, None),
        };
        let is_callable = |value: &Value| Type::from_value(value).is_some_and(Type::is_callable);
        let (parameters, block) = match parameters {
            [rest @ .., block] if is_callable(block) => (rest, Type::from_value(block).cloned()),
            parameters => (parameters, None),
        };
        let (parameters, size) = match parameters {
            [rest @ .., from, to] if is_bound(from) && is_bound(to) => {
                (rest, Some(self.range(from, to)?))
            }
            [rest @ .., from] if is_bound(from) => (rest, Some(self.range(from, &Value::Null)?)),
            parameters => (parameters, None),
        };
        let mut types: Vec<Type> = parameters.iter().map(type_of).collect();
        let takes_some = |size: &IntegerRange| size.to.as_ref().is_none_or(|to| *to > BigInt::ZERO);
        if types.is_empty() && size.as_ref().is_some_and(takes_some) {
            types.push(Type::Unit);
        }
        let parameters = TupleType {
            types,
            size: size.map(IntegerRange::into_size),
        };
        Ok(Type::Callable(Arc::new(CallableType {
            parameters: Some(parameters),
            block,
            returns: returns.filter(|ty| *ty != Type::Any),
        })))
    }
}

/// The only string that a type accepts.
fn literal(ty: &Type) -> Option<LeanStr> {
    match ty {
        Type::String(StringType::Value(text)) => Some(text.clone()),
        _ => None,
    }
}
