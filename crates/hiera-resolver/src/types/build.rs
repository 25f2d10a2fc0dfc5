//! Expressions → [`Type`]: which parameters each type takes.

use std::sync::Arc;

use arcstr::ArcStr;
use num_bigint::BigInt;

use super::parse::{Expression, Kind, Names, TypeParseError, parse};
use super::regexp::Regexp;
use super::semver::VersionRange;
use super::{
    Alias, CallableType, FloatRange, InitType, IntegerRange, ResourceType, StringType,
    StructElement, TimeRange, Type, UriType, uri,
};
use crate::convert::{timespan, timestamp};
use crate::hash::Hash;
use crate::rich::Rich;
use crate::value::Value;

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
        Kind::Regexp(source) => Ok(rich(Rich::Regexp(Regexp::new(source).map_err(problem)?))),
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
        Kind::Reference(name) => Ok(rich(Rich::Type(by_name(name, context.names)))),
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
            Ok(built.map_or(Value::Null, |ty| rich(Rich::Type(ty))))
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
        "typereference" => Type::Reference(arcstr::literal!("UnresolvedReference")),
        "error" => Type::Object(Some(arcstr::literal!("Error"))),
        "deferred" => Type::Object(Some(arcstr::literal!("Deferred"))),
        "annotation" => Type::Object(Some(arcstr::literal!("Annotation"))),
        lower => {
            if let Some(alias) = Alias::find(lower) {
                return Type::Alias(alias);
            }
            match resource_type(lower) {
                Some(name) => resource(name, None),
                None => Type::Reference(ArcStr::from(name)),
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
        name: ArcStr::from(name),
        title,
    }))
}

/// The type that a parameter is.
fn as_type(value: &Value) -> Option<&Type> {
    match value {
        Value::Rich(rich) => match &**rich {
            Rich::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

fn is_default(value: &Value) -> bool {
    matches!(value, Value::Rich(rich) if **rich == Rich::Default)
}

/// What Puppet takes for a type where it is given anything else: the type of the value.
fn type_of(value: &Value) -> Type {
    match value {
        Value::Str(text) => Type::Runtime(Some(arcstr::literal!("ruby")), Some(text.clone())),
        value => as_type(value)
            .cloned()
            .unwrap_or_else(|| super::infer(value).generalize()),
    }
}

struct Builder<'a> {
    expression: &'a Expression,
    target: &'a Expression,
    context: &'a Context<'a>,
    parameters: &'a [Value],
}

impl Builder<'_> {
    fn build(&self, name: &str) -> Result<Option<Type>, TypeParseError> {
        let lower = name.to_ascii_lowercase();
        let known = match lower.as_str() {
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
                [Value::Str(source)] => Type::Regexp(Some(Regexp::new(source).map_err(problem)?)),
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
                    Type::Class(Some(ArcStr::from(name.strip_prefix("::").unwrap_or(name))))
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
                // Puppet: object types and type sets cannot be defined here.
                _ => {
                    return Err(problem(format!(
                        "`{name}` with parameters is not supported"
                    )));
                }
            },
            _ => return self.other(name).map(Some),
        };
        Ok(Some(known))
    }

    fn not_a_type(&self) -> TypeParseError {
        self.context.not_a_type(self.expression)
    }

    fn count(&self, ty: &str, required: &'static str) -> TypeParseError {
        TypeParseError::ParameterCount {
            ty: ty.to_owned(),
            required,
            given: self.parameters.len(),
        }
    }

    fn type_at<'v>(&self, value: &'v Value) -> Result<&'v Type, TypeParseError> {
        as_type(value).ok_or_else(|| self.not_a_type())
    }

    fn types(&self, values: &[Value]) -> Result<Vec<Type>, TypeParseError> {
        values
            .iter()
            .map(|value| self.type_at(value).cloned())
            .collect()
    }

    fn only_type(&self, name: &str) -> Result<Arc<Type>, TypeParseError> {
        match self.parameters {
            [inner] => Ok(Arc::new(self.type_at(inner)?.clone())),
            _ => Err(self.count(name, "1")),
        }
    }

    /// A size in one parameter: the smallest, or a range.
    fn size(&self, value: &Value) -> Result<IntegerRange, TypeParseError> {
        match as_type(value) {
            Some(Type::Integer(range)) => Ok(range.clone()),
            _ => self.range(value, &Value::Null),
        }
    }

    /// A size in two parameters.
    fn range(&self, from: &Value, to: &Value) -> Result<IntegerRange, TypeParseError> {
        let is_bound = |value: &Value| match value {
            Value::Int(_) | Value::BigInt(_) => true,
            Value::Str(text) => *text == "default",
            value => is_default(value),
        };
        if !is_bound(from) || !(is_bound(to) || *to == Value::Null) {
            return Err(self.not_a_type());
        }
        self.integers(from, to)
    }

    fn integers(&self, from: &Value, to: &Value) -> Result<IntegerRange, TypeParseError> {
        let bound = |value: &Value| match value {
            Value::Int(number) => Ok(Some(BigInt::from(*number))),
            Value::BigInt(number) => Ok(Some((**number).clone())),
            Value::Null => Ok(None),
            value if is_default(value) => Ok(None),
            _ => Err(problem("the ends of a range must be integers")),
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

    fn floats(&self, from: &Value, to: &Value) -> Result<Type, TypeParseError> {
        let bound = |value: &Value, open: f64| match value {
            Value::Int(number) => Ok(*number as f64),
            Value::BigInt(number) => Ok(crate::convert::number::big_to_float(number)),
            Value::Float(number) => Ok(*number),
            Value::Null => Ok(open),
            Value::Str(text) => text
                .parse()
                .map_err(|_| problem(format!("invalid value for Float(): \"{text}\""))),
            value if is_default(value) => Ok(open),
            _ => Err(problem("the ends of a range must be numbers")),
        };
        let range = FloatRange {
            from: bound(from, f64::NEG_INFINITY)?,
            to: bound(to, f64::INFINITY)?,
        };
        if range.from > range.to {
            let (from, to) = (ruby_float(range.from), ruby_float(range.to));
            let text = format!("'from' must be less or equal to 'to'. Got ({from}, {to}");
            return Err(problem(text));
        }
        Ok(Type::Float(range))
    }

    fn array(&self) -> Result<Type, TypeParseError> {
        Ok(match self.parameters {
            [element] => Type::array(self.type_at(element)?.clone(), None),
            [element, size] if as_type(element).is_some() => {
                Type::array(self.type_at(element)?.clone(), Some(self.size(size)?))
            }
            // Puppet takes the missing type for the type of `default`.
            [from, to] => Type::array(Type::Default, Some(self.range(from, to)?)),
            [element, from, to] => {
                Type::array(self.type_at(element)?.clone(), Some(self.range(from, to)?))
            }
            _ => return Err(self.count("Array", "1 to 3")),
        })
    }

    fn hash(&self) -> Result<Type, TypeParseError> {
        let typed = |key, value, size| -> Result<Type, TypeParseError> {
            let (key, value) = (self.type_at(key)?.clone(), self.type_at(value)?.clone());
            Ok(Type::hash(key, value, size))
        };
        match self.parameters {
            [key, value] if as_type(key).is_some() && as_type(value).is_some() => {
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

    fn enumeration(&self) -> Result<Type, TypeParseError> {
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

    fn pattern(&self) -> Result<Type, TypeParseError> {
        let mut patterns: Vec<Regexp> = Vec::new();
        let mut push = |regexp: Regexp| {
            if !patterns.contains(&regexp) {
                patterns.push(regexp);
            }
        };
        for parameter in self.parameters {
            match parameter {
                Value::Str(source) => push(Regexp::new(source).map_err(problem)?),
                Value::Rich(rich) => match &**rich {
                    Rich::Regexp(regexp) => push(regexp.clone()),
                    Rich::Type(Type::Regexp(Some(regexp))) => push(regexp.clone()),
                    Rich::Type(Type::Regexp(None)) => push(Regexp::new("").map_err(problem)?),
                    Rich::Type(Type::Pattern(inner)) => inner.iter().cloned().for_each(&mut push),
                    _ => return Err(self.bad_pattern(parameter)),
                },
                _ => return Err(self.bad_pattern(parameter)),
            }
        }
        Ok(Type::Pattern(patterns.into()))
    }

    fn bad_pattern(&self, parameter: &Value) -> TypeParseError {
        let class = parameter.ruby_class();
        problem(format!(
            "Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '{class}"
        ))
    }

    fn tuple(&self) -> Result<Type, TypeParseError> {
        let is_bound = |value: &Value| match value {
            Value::Int(_) | Value::BigInt(_) => true,
            Value::Str(text) => *text == "default",
            value => is_default(value),
        };
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

    fn structure(&self) -> Result<Type, TypeParseError> {
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
                key => match as_type(key) {
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

    fn callable(&self) -> Result<Type, TypeParseError> {
        let (parameters, returns) = match self.parameters {
            [Value::Array(parameters), returns] => (parameters.items(), Some(type_of(returns))),
            [Value::Array(_), ..] if self.parameters.len() > 1 => {
                return Err(self.count("callable", "2 when first parameter is an array"));
            }
            parameters => (parameters, None),
        };
        let is_callable = |value: &Value| as_type(value).is_some_and(Type::is_callable);
        let (parameters, block) = match parameters {
            [rest @ .., block] if is_callable(block) => (rest, as_type(block).cloned()),
            parameters => (parameters, None),
        };
        let is_bound = |value: &Value| match value {
            Value::Int(_) | Value::BigInt(_) => true,
            Value::Str(text) => *text == "default",
            value => is_default(value),
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
        let parameters = super::TupleType {
            types,
            size: size.map(IntegerRange::into_size),
        };
        Ok(Type::Callable(Arc::new(CallableType {
            parameters: Some(parameters),
            block,
            returns: returns.filter(|ty| *ty != Type::Any),
        })))
    }

    fn times(
        &self,
        name: &str,
        bound: fn(&Value) -> Result<Option<i128>, String>,
    ) -> Result<TimeRange, TypeParseError> {
        let (from, to) = match self.parameters {
            [from] => (from, &Value::Null),
            [from, to] => (from, to),
            _ => return Err(self.count(name, "0 to 2")),
        };
        let range = TimeRange {
            from: bound(from).map_err(problem)?,
            to: bound(to).map_err(problem)?,
        };
        if let (Some(from), Some(to)) = (range.from, range.to)
            && from > to
        {
            let show = |time| match name {
                "Timespan" => timespan::show(time),
                _ => timestamp::show(time),
            };
            let (from, to) = (show(from), show(to));
            let text = format!("'from' must be less or equal to 'to'. Got ({from}, {to}");
            return Err(problem(text));
        }
        Ok(range)
    }

    fn versions(&self) -> Result<Type, TypeParseError> {
        let ranges = self
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Value::Str(text) => VersionRange::parse(text).map_err(problem),
                other => Err(problem(format!(
                    "undefined method `gsub' for a {}",
                    other.ruby_class()
                ))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Type::SemVer(
            VersionRange::merge_all(ranges).map_err(problem)?.into(),
        ))
    }

    fn uri(&self) -> Result<Type, TypeParseError> {
        match self.parameters {
            [Value::Str(text)] => {
                let parts = uri::type_parts(text).map_err(problem)?;
                Ok(Type::Uri(parts.map(|parts| Arc::new(UriType { parts }))))
            }
            [Value::Hash(parts)] if parts.is_empty() => Ok(Type::Uri(None)),
            [hash @ Value::Hash(parts)] => {
                uri::check_type_parts(hash).map_err(|error| problem(error.to_string()))?;
                Ok(Type::Uri(Some(Arc::new(UriType {
                    parts: (**parts).clone(),
                }))))
            }
            [_] => Ok(Type::Uri(None)),
            _ => Err(self.count("URI", "1")),
        }
    }

    fn resource(&self) -> Result<Type, TypeParseError> {
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
            name => match as_type(name) {
                Some(Type::Resource(None)) => Ok(Type::Resource(None)),
                Some(Type::Resource(Some(known))) => Ok(resource(&known.name, title(titles)?)),
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

    /// Parameters after a name that is none of the types with parameters.
    fn other(&self, name: &str) -> Result<Type, TypeParseError> {
        let written = self.context.written(self.target);
        match by_name(name, self.context.names) {
            Type::Reference(reference) if reference == name => Ok(Type::Reference(
                self.context.written(self.expression).into(),
            )),
            Type::Resource(Some(known)) => match self.parameters {
                [title] => Ok(resource(
                    &known.name,
                    Some(title.clone()).filter(|title| *title != Value::Null),
                )),
                _ => Err(self.count(name, "1")),
            },
            Type::Object(Some(object)) if object == "Error" => {
                // Puppet: an `Error` with parameters is not told apart from any other.
                Ok(Type::Object(Some(object)))
            }
            Type::Object(Some(object)) => Err(problem(format!(
                "The {object}-Type cannot be parameterized using []"
            ))),
            _ => Err(TypeParseError::NotParameterized { ty: written }),
        }
    }
}

/// The one text that a type stands for.
fn literal(ty: &Type) -> Option<ArcStr> {
    match ty {
        Type::String(StringType::Value(text)) => Some(text.clone()),
        _ => None,
    }
}

fn capitalize_segments(name: &str) -> String {
    if name.starts_with(|char: char| char.is_ascii_uppercase()) {
        return name.to_owned();
    }
    let segments: Vec<String> = name
        .split("::")
        .map(crate::convert::text_case::capitalize)
        .collect();
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

fn ruby_float(number: f64) -> String {
    crate::convert::number::float_text(number)
}
