//! Names with parameters to [`Type`]: the number and the types of the parameters of each type.

use std::sync::Arc;

use lean_string::LeanStr;
use puppet_values::{Rich, Value};

use super::super::parse::{Expression, TypeParseError};
use super::super::{InitType, IntegerRange, Type};
use super::{Context, by_name, is_bound, is_default, problem, resource};
use crate::convert::{compile_regexp, timespan, timestamp};

/// A name with its parameters, and the expressions that they come from.
pub(super) struct TypeBuilder<'a> {
    pub(super) expression: &'a Expression,
    pub(super) target: &'a Expression,
    pub(super) context: &'a Context<'a>,
    pub(super) parameters: &'a [Value],
}

impl TypeBuilder<'_> {
    pub(super) fn build(&self, name: &str) -> Result<Option<Type>, TypeParseError> {
        let lower = name.to_ascii_lowercase();
        let ty = match lower.as_str() {
            "array" => self.array()?,
            "hash" => self.hash()?,
            "collection" => Type::Collection(Some(
                match self.parameters {
                    [size] => self.size(size)?,
                    [from, to] => self.range(from, to)?,
                    _ => return Err(self.count("Collection", "1 to 2")),
                }
                .into_size(),
            )),
            "string" => Type::sized_string(match self.parameters {
                [size] => self.size(size)?,
                [from, to] => self.range(from, to)?,
                _ => return Err(self.count("String", "1 to 2")),
            }),
            "integer" => match self.parameters {
                [from @ (Value::Int(_) | Value::BigInt(_))] => {
                    Type::Integer(self.integers(from, &Value::Null)?)
                }
                [from] if is_default(from) => Type::integer(),
                [_] => return Ok(None),
                [from, to] => Type::Integer(self.integers(from, to)?),
                _ => return Err(self.count("Integer", "1 or 2")),
            },
            "float" => match self.parameters {
                [from @ (Value::Int(_) | Value::BigInt(_) | Value::Float(_))] => {
                    self.floats(from, &Value::Null)?
                }
                [from] if is_default(from) => Type::float(),
                [_] => return Ok(None),
                [from, to] => self.floats(from, to)?,
                _ => return Err(self.count("Float", "1 or 2")),
            },
            "boolean" => match self.parameters {
                [Value::Bool(flag)] => Type::Boolean(Some(*flag)),
                [_] => return Err(problem("Boolean parameter must be true or false")),
                _ => return Err(self.count("Boolean", "1")),
            },
            "enum" => self.enumeration()?,
            "pattern" => self.pattern()?,
            "regexp" => match self.parameters {
                [Value::Null | Value::Bool(false)] => Type::Regexp(None),
                [Value::Str(source)] => Type::Regexp(Some(compile_regexp(source)?)),
                [Value::Rich(rich)] if matches!(**rich, Rich::Regexp(_)) => match &**rich {
                    Rich::Regexp(regexp) => Type::Regexp(Some(regexp.clone())),
                    _ => return Err(self.not_a_type()),
                },
                [other] => {
                    let class = other.ruby_class();
                    return Err(problem(format!(
                        "no implicit conversion of {class} into String"
                    )));
                }
                _ => return Err(self.count("Regexp", "1")),
            },
            "variant" => Type::variant(self.types(self.parameters)?),
            "tuple" => self.tuple()?,
            "struct" => self.structure()?,
            "callable" => self.callable()?,
            "iterable" => Type::Iterable(Some(self.only_type("Iterable")?)),
            "iterator" => Type::Iterator(Some(self.only_type("Iterator")?)),
            "type" => Type::Type(Some(self.only_type("Type")?)),
            "sensitive" => match self.parameters {
                [inner] => Type::sensitive(self.type_at(inner)?),
                _ => return Err(self.count("Sensitive", "0 to 1")),
            },
            "optional" => match self.parameters {
                [Value::Str(text)] => Type::optional(Type::text(text)),
                [inner] => Type::optional(self.type_at(inner)?.clone()),
                _ => return Err(self.count("Optional", "1")),
            },
            "notundef" => match self.parameters {
                [Value::Str(text)] => Type::not_undef(Type::text(text)),
                [inner] => Type::not_undef(self.type_at(inner)?.clone()),
                _ => return Err(self.count("NotUndef", "0 to 1")),
            },
            "init" => match self.parameters {
                [target, arguments @ ..] => Type::Init(Some(Arc::new(InitType {
                    target: self.type_at(target)?.clone(),
                    arguments: arguments.to_vec(),
                }))),
                [] => return Err(self.not_a_type()),
            },
            "timespan" => Type::Timespan(self.times("Timespan", timespan::bound)?),
            "timestamp" => Type::Timestamp(self.times("Timestamp", timestamp::bound)?),
            "semver" => self.versions()?,
            "uri" => self.uri()?,
            "class" => match self.parameters {
                [Value::Str(name)] => {
                    Type::Class(Some(LeanStr::from(name.strip_prefix("::").unwrap_or(name))))
                }
                [_] => return Err(problem("The class name must be a String")),
                _ => return Err(self.count("Class", "1")),
            },
            "resource" => self.resource()?,
            "runtime" => match self.parameters {
                [Value::Str(runtime), Value::Str(name)] => {
                    Type::Runtime(Some(runtime.clone()), Some(name.clone()))
                }
                [_, _] => return Err(problem("Runtime 'runtime' has wrong type")),
                _ => return Err(self.count("Runtime", "2")),
            },
            "object" | "typeset" => match self.parameters {
                [Value::Hash(hash)] if hash.is_empty() => by_name(&lower, self.context.names),
                // Puppet: definitions of object types and type sets are not supported.
                _ => {
                    return Err(problem(format!(
                        "`{name}` with parameters is not supported"
                    )));
                }
            },
            _ => return self.other(name).map(Some),
        };
        Ok(Some(ty))
    }

    pub(super) fn not_a_type(&self) -> TypeParseError {
        self.context.not_a_type(self.expression)
    }

    pub(super) fn count(&self, ty: &str, required: &'static str) -> TypeParseError {
        TypeParseError::ParameterCount {
            ty: ty.to_owned(),
            required,
            given: self.parameters.len(),
        }
    }

    pub(super) fn type_at<'v>(&self, value: &'v Value) -> Result<&'v Type, TypeParseError> {
        Type::from_value(value).ok_or_else(|| self.not_a_type())
    }

    pub(super) fn types(&self, values: &[Value]) -> Result<Vec<Type>, TypeParseError> {
        values
            .iter()
            .map(|value| self.type_at(value).cloned())
            .collect()
    }

    pub(super) fn only_type(&self, name: &str) -> Result<Arc<Type>, TypeParseError> {
        match self.parameters {
            [inner] => Ok(Arc::new(self.type_at(inner)?.clone())),
            _ => Err(self.count(name, "1")),
        }
    }

    /// A size in one parameter: the minimum, or a range.
    pub(super) fn size(&self, value: &Value) -> Result<IntegerRange, TypeParseError> {
        match Type::from_value(value) {
            Some(Type::Integer(range)) => Ok(range.clone()),
            _ => self.range(value, &Value::Null),
        }
    }

    /// A size in two parameters.
    pub(super) fn range(&self, from: &Value, to: &Value) -> Result<IntegerRange, TypeParseError> {
        if !is_bound(from) || !(is_bound(to) || *to == Value::Null) {
            return Err(self.not_a_type());
        }
        self.integers(from, to)
    }

    /// A name that is not a built-in type with parameters.
    pub(super) fn other(&self, name: &str) -> Result<Type, TypeParseError> {
        let written = self.context.written(self.target);
        match by_name(name, self.context.names) {
            Type::Reference(reference) if reference == name => Ok(Type::Reference(
                self.context.written(self.expression).into(),
            )),
            Type::Resource(Some(resource_type)) => match self.parameters {
                [title] => Ok(resource(
                    &resource_type.name,
                    Some(title.clone()).filter(|title| *title != Value::Null),
                )),
                _ => Err(self.count(name, "1")),
            },
            Type::Object(Some(object)) if object == "Error" => {
                // Puppet: the parameters of an `Error` are ignored.
                Ok(Type::Object(Some(object)))
            }
            Type::Object(Some(object)) => Err(problem(format!(
                "The {object}-Type cannot be parameterized using []"
            ))),
            _ => Err(TypeParseError::NotParameterized { ty: written }),
        }
    }
}
