//! Expressions to [`Type`]: the meaning of names.

use std::sync::Arc;

use lean_string::LeanStr;
use num_bigint::BigInt;
use puppet_values::{Hash, Rich, Value};

use super::instance::is_default;
use super::parse::{Expression, ExpressionKind, TypeNames, TypeParseError};
use super::{Alias, ResourceType, TimeRange, Type};
use crate::convert::compile_regexp;

mod access;
mod collections;
mod values;

use access::TypeBuilder;

/// What expressions are interpreted with.
pub(super) struct Context<'a> {
    pub(super) text: &'a str,
    pub(super) names: &'a TypeNames,
}

impl Context<'_> {
    fn written(&self, expression: &Expression) -> String {
        self.text
            .get(expression.start..expression.end)
            .unwrap_or_default()
            .to_owned()
    }

    fn not_a_type(&self, expression: &Expression) -> TypeParseError {
        TypeParseError::NotAType {
            expression: self.written(expression),
        }
    }
}

fn problem(problem: impl Into<String>) -> TypeParseError {
    TypeParseError::Parameter {
        problem: problem.into(),
    }
}

/// The value of an expression: a type, or a parameter of one.
pub(super) fn interpret(
    expression: &Expression,
    context: &Context<'_>,
) -> Result<Value, TypeParseError> {
    let all = |expressions: &[Expression]| -> Result<Vec<Value>, TypeParseError> {
        expressions
            .iter()
            .map(|expression| interpret(expression, context))
            .collect()
    };
    match &expression.kind {
        ExpressionKind::Literal(value) => Ok(value.clone()),
        ExpressionKind::Regexp(source) => Ok(Rich::Regexp(compile_regexp(source)?).into()),
        ExpressionKind::List(items) => Ok(Value::array(all(items)?)),
        ExpressionKind::Hash(pairs) => {
            let mut hash = Hash::new();
            for (key, value) in pairs {
                hash.insert(interpret(key, context)?, interpret(value, context)?);
            }
            Ok(Value::hash(hash))
        }
        ExpressionKind::Minus(inner) => match interpret(inner, context)? {
            Value::Int(number) => Ok(Value::integer(-BigInt::from(number))),
            Value::BigInt(number) => Ok(Value::integer(-(*number).clone())),
            Value::Float(number) => Ok(Value::Float(-number)),
            // In Ruby, `-"text"` is the string itself.
            text @ Value::Str(_) => Ok(text),
            _ => Err(context.not_a_type(expression)),
        },
        ExpressionKind::NotAType => Err(context.not_a_type(expression)),
        ExpressionKind::Reference(name) => Ok(by_name(name, context.names).into()),
        ExpressionKind::Access(target, parameters) => {
            let parameters = all(parameters)?;
            let ExpressionKind::Reference(name) = &target.kind else {
                return Err(context.not_a_type(expression));
            };
            let builder = TypeBuilder {
                expression,
                target,
                context,
                parameters: &parameters,
            };
            // Where Puppet builds no type, the value is `undef`.
            let built = builder.build(name)?;
            Ok(built.map_or(Value::Null, Value::from))
        }
    }
}

/// The resource types that are built into Puppet.
const RESOURCE_TYPES: [&str; 15] = [
    "Component",
    "Exec",
    "File",
    "Filebucket",
    "Group",
    "Node",
    "Notify",
    "Package",
    "Resources",
    "Schedule",
    "Service",
    "Stage",
    "Tidy",
    "User",
    "Whit",
];

/// A type without parameters. An unknown name becomes a reference.
fn by_name(name: &str, names: &TypeNames) -> Type {
    let lower = name.strip_prefix("::").unwrap_or(name).to_ascii_lowercase();
    if let Some((_, ty)) = names.types.iter().find(|(other, _)| *other == lower) {
        return ty.clone();
    }
    if let Some(ty) = default_type(&lower) {
        return ty;
    }
    if let Some(alias) = Alias::find(&lower) {
        return Type::Alias(alias);
    }
    match resource_type(&lower) {
        Some(name) => resource(name, None),
        None => Type::Reference(LeanStr::from(name)),
    }
}

/// A built-in type without parameters, by its name in lower case.
pub(super) fn default_type(lower: &str) -> Option<Type> {
    Some(match lower {
        "any" => Type::Any,
        "undef" => Type::Undef,
        "default" => Type::Default,
        "scalar" => Type::Scalar,
        "scalardata" => Type::ScalarData,
        "numeric" => Type::Numeric,
        "binary" => Type::Binary,
        "semverrange" => Type::SemVerRange,
        "catalogentry" => Type::CatalogEntry,
        "integer" => Type::integer(),
        "float" => Type::float(),
        "string" => Type::string(),
        "boolean" => Type::Boolean(None),
        "enum" => Type::enumeration(Vec::new(), false),
        "pattern" => Type::Pattern(Arc::from([])),
        "regexp" => Type::Regexp(None),
        "collection" => Type::Collection(None),
        "array" => Type::array(Type::Any, None),
        "hash" => Type::hash(Type::Any, Type::Any, None),
        "tuple" => Type::tuple(Vec::new(), None),
        "struct" => Type::Struct(Arc::from([])),
        "iterable" => Type::Iterable(None),
        "iterator" => Type::Iterator(None),
        "optional" => Type::Optional(None),
        "notundef" => Type::NotUndef(None),
        "type" => Type::Type(None),
        "sensitive" => Type::Sensitive(Arc::new(Type::Any)),
        "variant" => Type::Variant(Arc::from([])),
        "callable" => Type::Callable(Arc::default()),
        "init" => Type::Init(None),
        "semver" => Type::SemVer(Arc::from([])),
        "timestamp" => Type::Timestamp(TimeRange::default()),
        "timespan" => Type::Timespan(TimeRange::default()),
        "uri" => Type::Uri(None),
        "class" => Type::Class(None),
        "resource" => Type::Resource(None),
        "runtime" => Type::Runtime(None, None),
        "object" => Type::Object(None),
        "typeset" => Type::TypeSet,
        "typereference" => Type::Reference(LeanStr::from_static_str("UnresolvedReference")),
        "error" => Type::Object(Some(LeanStr::from_static_str("Error"))),
        "deferred" => Type::Object(Some(LeanStr::from_static_str("Deferred"))),
        "annotation" => Type::Object(Some(LeanStr::from_static_str("Annotation"))),
        _ => return None,
    })
}

fn resource_type(lower: &str) -> Option<&'static str> {
    RESOURCE_TYPES
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(lower))
}

fn resource(name: &str, title: Option<Value>) -> Type {
    Type::Resource(Some(ResourceType {
        name: LeanStr::from(name),
        title,
    }))
}

/// Can it be a bound of a range?
fn is_bound(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::BigInt(_) => true,
        Value::Str(text) => *text == "default",
        value => is_default(value),
    }
}

/// The type that Puppet uses for a parameter which is not a type: that of the value.
fn type_of(value: &Value) -> Type {
    match value {
        Value::Str(text) => {
            Type::Runtime(Some(LeanStr::from_static_str("ruby")), Some(text.clone()))
        }
        value => Type::from_value(value)
            .cloned()
            .unwrap_or_else(|| super::infer(value).generalize()),
    }
}
