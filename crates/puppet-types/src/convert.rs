//! Conversions: Puppet's function `new`, which `convert_to` in lookup options calls.
//!
//! ```
//! use puppet_types::{Type, convert};
//! use puppet_values::Value;
//!
//! let made = convert::new_instance(&Type::parse("Integer")?, Value::str("0x1F"), &[])?;
//! assert_eq!(made, Value::Int(31));
//! assert_eq!(convert::stringify(&Value::array(vec![made])), "[31]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each type that can be created has a function with signatures (see `signature`). The first signature that accepts the
//! arguments is called; if there is none, the error is Puppet's message about all of them. The result is checked against
//! the type again, so `Integer[1, 5]` does not create a 7.

use std::sync::{Arc, LazyLock};

use puppet_values::Value;

use crate::instance::is_undef;
use crate::mismatch::{PathStep, assert_instance_at};
use crate::signature::{Function, init_types};
use crate::{InitType, Type, assert_instance, infer};

mod binary;
mod boolean;
mod collection;
mod error;
mod float;
mod format;
mod hash_tree;
pub(crate) mod number;
mod pattern;
pub(crate) mod quote;
mod regexp;
mod semver;
mod sprintf;
mod string;
mod strptime;
pub(crate) mod text_case;
pub(crate) mod timespan;
mod timespan_format;
pub(crate) mod timestamp;
mod uri;
mod zone;

pub use error::ConversionError;
pub(crate) use pattern::compile_regexp;

/// Puppet: the maximum size of collections and padding that a conversion creates.
const MAX_SIZE: usize = 1_000_000;

fn unusable(problem: impl Into<String>) -> ConversionError {
    ConversionError::Unusable {
        problem: problem.into(),
    }
}

/// Creates a value of a type from another value and more arguments: `new(T, value, arguments...)`.
///
/// # Errors
///
/// If Puppet refuses the conversion, or the result would be too large.
pub fn new_instance(
    ty: &Type,
    value: Value,
    arguments: &[Value],
) -> Result<Value, ConversionError> {
    let mut all = vec![value];
    all.extend_from_slice(arguments);
    new_from(ty, all)
}

/// [`new_instance`] with the type as a value, as in `convert_to`. It may be something other than a type.
///
/// # Errors
///
/// As [`new_instance`], and if it is not a type.
pub fn new_instance_of(
    ty: &Value,
    value: Value,
    arguments: &[Value],
) -> Result<Value, ConversionError> {
    match Type::from_value(ty) {
        Some(ty) => new_instance(ty, value, arguments),
        None => {
            let parameter = || PathStep::Parameter("type");
            let mismatch = assert_instance_at(parameter, &Type::Type(None), ty);
            mismatch.map_err(ConversionError::NotAType)?;
            Ok(Value::Null)
        }
    }
}

/// The value as Puppet's `String(value)` prints it.
pub fn stringify(value: &Value) -> String {
    // The default formats accept all values.
    string::convert(value, None).unwrap_or_default()
}

/// The arguments of `convert_to` as an explanation prints them, such as `[Integer, 10]`.
pub fn program_text(arguments: &[Value]) -> String {
    stringify(&Value::array(arguments.to_vec()))
}

fn new_from(ty: &Type, arguments: Vec<Value>) -> Result<Value, ConversionError> {
    for argument in &arguments {
        // The result of a spent budget is discarded; the weight is that of what is looked at, and often copied.
        _ = work_budget::charge(1 + u64::from(argument.traits().weight));
    }
    if let [only] = &arguments[..]
        && !matches!(ty, Type::Init(_))
        && ty.is_instance(only)
    {
        return Ok(only.clone());
    }
    let made = call(ty, arguments)?;
    if !ty.is_instance(&made) {
        assert_instance(&format!("Converted value from {ty}.new()"), ty, &made)?;
    }
    Ok(made)
}

/// The function that creates values of a type.
enum Constructor<'a> {
    Function(
        &'static Function,
        fn(usize, &[Value]) -> Result<Value, ConversionError>,
    ),
    Init(&'a InitType),
}

fn constructor(ty: &Type) -> Result<Constructor<'_>, ConversionError> {
    let function = |function: &'static LazyLock<Function>, make| {
        Ok(Constructor::Function(LazyLock::force(function), make))
    };
    match ty {
        Type::Integer(_) => function(&number::INTEGER, number::integer),
        Type::Float(_) => function(&float::FLOAT, float::float),
        Type::Numeric => function(&float::NUMERIC, float::numeric),
        Type::Boolean(_) => function(&boolean::BOOLEAN, boolean::boolean),
        Type::String(_) => function(&string::STRING, string::string),
        Type::Array(_) | Type::Tuple(_) => function(&collection::ARRAY, collection::array),
        Type::Hash(_) | Type::Struct(_) => function(&collection::HASH, collection::hash),
        Type::Sensitive(_) => function(&SENSITIVE, sensitive),
        Type::Timestamp(_) => function(&timestamp::TIMESTAMP, timestamp::timestamp),
        Type::Timespan(_) => function(&timespan::TIMESPAN, timespan::timespan),
        Type::SemVer(_) => function(&semver::VERSION, semver::version),
        Type::SemVerRange => function(&semver::RANGE, semver::range),
        Type::Binary => function(&binary::BINARY, binary::binary),
        Type::Uri(_) => function(&uri::URI, uri::uri),
        Type::Regexp(_) => function(&regexp::REGEXP, regexp::regexp),
        Type::Type(_) => function(&TYPE, type_from_string),
        Type::NotUndef(None) | Type::Unit => function(&UNIT, unit),
        Type::NotUndef(Some(inner)) | Type::Optional(Some(inner)) => constructor(inner),
        Type::Optional(None) => Err(unusable("undefined method `new_function' for nil:NilClass")),
        Type::Alias(alias) => constructor(alias.resolved()),
        Type::Init(Some(init)) => Ok(Constructor::Init(init)),
        ty => Err(ConversionError::NotSupported { ty: ty.to_string() }),
    }
}

/// The function with the signatures of a type.
pub(crate) fn function_of(ty: &Type) -> Option<&'static Function> {
    match constructor(ty) {
        Ok(Constructor::Function(function, _)) => Some(function),
        _ => None,
    }
}

fn call(ty: &Type, mut arguments: Vec<Value>) -> Result<Value, ConversionError> {
    let (function, make) = match constructor(ty)? {
        Constructor::Function(function, make) => (function, make),
        Constructor::Init(init) => return call_init(init, arguments),
    };
    // Every function treats the Symbol `undef` as null.
    for argument in &mut arguments {
        if is_undef(argument) {
            *argument = Value::Null;
        }
    }
    match function.dispatch(&arguments) {
        Some(signature) => make(signature, &arguments),
        None => Err(ConversionError::Arguments {
            problem: function.describe(&arguments),
        }),
    }
}

fn call_init(init: &InitType, mut arguments: Vec<Value>) -> Result<Value, ConversionError> {
    let types = init_types(init)?;
    if arguments.len() != 1 {
        let count = arguments.len();
        return Err(ConversionError::Value {
            function: "new_Init",
            problem: format!("expects 1 argument, got {count}"),
        });
    }
    match &arguments[..] {
        _ if !init.arguments.is_empty() => arguments.extend_from_slice(&init.arguments),
        [value @ Value::Array(items)] if !types.single.is_instance(value) => {
            arguments = items.items().to_vec();
        }
        _ => {}
    }
    new_from(&init.target, arguments)
}

/// The type in messages such as "Value of type T cannot be converted to ...".
fn type_for_error(value: &Value) -> String {
    infer(value).generalize().to_string()
}

/// The error "The string ... cannot be converted to ...", or that for a value of another type.
fn cannot_convert(function: &'static str, value: &Value, target: &str) -> ConversionError {
    let problem = match value {
        Value::Str(text) => format!("The string '{text}' cannot be converted to {target}"),
        value => {
            let ty = type_for_error(value);
            format!("Value of type {ty} cannot be converted to {target}")
        }
    };
    ConversionError::Value { function, problem }
}

static SENSITIVE: LazyLock<Function> = LazyLock::new(|| {
    Function::new(
        "new_Sensitive",
        &[],
        &[
            (false, &[("Sensitive", "value", false)]),
            (false, &[("Any", "value", false)]),
        ],
    )
});

fn sensitive(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    Ok(match arguments {
        [value @ Value::Sensitive(_), ..] => value.clone(),
        [value, ..] => Value::Sensitive(Arc::new(value.clone())),
        [] => Value::Null,
    })
}

static UNIT: LazyLock<Function> =
    LazyLock::new(|| Function::new("new_unit", &[], &[(false, &[("Any", "from", false)])]));

fn unit(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    Ok(arguments.first().cloned().unwrap_or(Value::Null))
}

static TYPE: LazyLock<Function> = LazyLock::new(|| {
    Function::new(
        "new_type",
        &[],
        &[(false, &[("String[1]", "type_string", false)])],
    )
});

fn type_from_string(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let text = arguments
        .first()
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(Type::parse(text)?.into())
}

#[cfg(test)]
mod tests;
