//! Expressions → [`Type`]: what each name stands for.

use std::sync::Arc;

use lean_string::LeanStr;
use num_bigint::BigInt;
use puppet_values::{Hash, Rich, Value};

use super::parse::{Expression, Kind, Names, TypeParseError};
use super::{Alias, ResourceType, TimeRange, Type};
use crate::convert::compile_regexp;

mod access;
mod collections;
mod values;

use access::Builder;

/// What a type text is read with.
pub(super) struct Context<'a> {
    pub(super) text: &'a str,
    pub(super) names: &'a Names,
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

/// Turns an expression into what it stands for: a type, or a parameter of one.
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
        Kind::Literal(value) => Ok(value.clone()),
        Kind::Regexp(source) => Ok(rich(Rich::Regexp(compile_regexp(source).map_err(problem)?))),
        Kind::List(items) => Ok(Value::array(all(items)?)),
        Kind::Hash(pairs) => {
            let mut hash = Hash::new();
            for (key, value) in pairs {
                hash.insert(interpret(key, context)?, interpret(value, context)?);
            }
            Ok(Value::hash(hash))
        }
        Kind::Minus(inner) => match interpret(inner, context)? {
            Value::Int(number) => Ok(Value::integer(-BigInt::from(number))),
            Value::BigInt(number) => Ok(Value::integer(-(*number).clone())),
            Value::Float(number) => Ok(Value::Float(-number)),
            // Ruby's `-"text"` is the text itself.
            text @ Value::Str(_) => Ok(text),
            _ => Err(context.not_a_type(expression)),
        },
        Kind::NotAType => Err(context.not_a_type(expression)),
        Kind::Reference(name) => Ok(by_name(name, context.names).into()),
        Kind::Access(target, parameters) => {
            let parameters = all(parameters)?;
            let Kind::Reference(name) = &target.kind else {
                return Err(context.not_a_type(expression));
            };
            let builder = Builder {
                expression,
                target,
                context,
                parameters: &parameters,
            };
            // A type that turns out to be none is `undef` where it is a parameter.
            let built = builder.build(name)?;
            Ok(built.map_or(Value::Null, Value::from))
        }
    }
}

fn rich(rich: Rich) -> Value {
    Value::Rich(Arc::new(rich))
}

/// The names of resource types that Puppet always knows.
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

/// A type without parameters. A name that nothing is known of stands for itself.
fn by_name(name: &str, names: &Names) -> Type {
    let lower = name.strip_prefix("::").unwrap_or(name).to_ascii_lowercase();
    if let Some((_, ty)) = names.types.iter().find(|(known, _)| *known == lower) {
        return ty.clone();
    }
    match lower.as_str() {
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
        lower => {
            if let Some(alias) = Alias::find(lower) {
                return Type::Alias(alias);
            }
            match resource_type(lower) {
                Some(name) => resource(name, None),
                None => Type::Reference(LeanStr::from(name)),
            }
        }
    }
}

fn resource_type(lower: &str) -> Option<&'static str> {
    RESOURCE_TYPES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(lower))
}

fn resource(name: &str, title: Option<Value>) -> Type {
    Type::Resource(Some(ResourceType {
        name: LeanStr::from(name),
        title,
    }))
}

/// May it be an end of a range?
fn is_bound(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::BigInt(_) => true,
        Value::Str(text) => *text == "default",
        value => is_default(value),
    }
}

fn is_default(value: &Value) -> bool {
    matches!(value, Value::Rich(rich) if **rich == Rich::Default)
}

/// What Puppet takes for a type where it is given anything else: the type of the value.
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
