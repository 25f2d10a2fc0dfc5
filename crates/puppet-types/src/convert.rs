//! Conversions: what Puppet's function `new` makes of a value, for `convert_to` in lookup options.
//!
//! Each type that can be made has a function with signatures (`signature` has the machinery):
//! the first signature that takes the arguments is called, and where none does, Puppet's long message
//! about all of them is the error. What comes out is checked against the type once more, so that
//! `Integer[1, 5]` makes no 7.

use std::sync::{Arc, LazyLock};

use puppet_values::Value;

use crate::instance::is_undef;
use crate::signature::{Function, init_types};
use crate::{InitType, Type, TypeMismatch, TypeParseError, assert_instance, infer};

mod binary;
mod boolean;
mod collection;
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

pub(crate) use pattern::regexp as compile_regexp;

/// A value that cannot be converted. Shown as Puppet words it; what a Sensitive holds is never shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// There is no way to make a value of the type.
    #[error("Creation of new instance of type '{ty}' is not supported")]
    NotSupported {
        /// The type.
        ty: String,
    },
    /// The type is not a type.
    #[error("'new' parameter 'type' expects a Type value, got {actual}")]
    NotAType {
        /// The type of what stands in its place.
        actual: String,
    },
    /// The value cannot become one of the type.
    #[error("'{function}' {problem}")]
    Value {
        /// Puppet's name of the function.
        function: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The arguments are not those of any signature.
    #[error("{problem}")]
    Arguments {
        /// What each signature says.
        problem: String,
    },
    /// An argument has the right type and still cannot be used.
    #[error("{problem}")]
    Unusable {
        /// What is wrong.
        problem: String,
    },
    /// The value was made and is outside the bounds of the type.
    #[error(transparent)]
    OutOfBounds(#[from] TypeMismatch),
    /// The text of a type cannot be read.
    #[error(transparent)]
    TypeText(#[from] TypeParseError),
    /// The result would be too large.
    #[error("the result would be larger than {limit} elements or characters")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
}

/// Puppet: collections and padding that a conversion makes up are bounded.
const MAX_SIZE: usize = 1_000_000;

fn unusable(problem: impl Into<String>) -> ConversionError {
    ConversionError::Unusable {
        problem: problem.into(),
    }
}

/// Makes a value of a type from another value and further arguments: `new(T, value, arguments...)`.
pub fn new_instance(
    ty: &Type,
    value: Value,
    arguments: &[Value],
) -> Result<Value, ConversionError> {
    let mut all = vec![value];
    all.extend_from_slice(arguments);
    new_from(ty, all)
}

/// [`new_instance`] with the type as it stands in `convert_to`, where it may not be a type at all.
pub fn new_instance_of(
    ty: &Value,
    value: Value,
    arguments: &[Value],
) -> Result<Value, ConversionError> {
    match Type::from_value(ty) {
        Some(ty) => new_instance(ty, value, arguments),
        None => Err(not_a_type(ty)),
    }
}

/// What Puppet's `String(value)` makes of a value.
pub fn stringify(value: &Value) -> String {
    // The formats that stand for all values always fit.
    string::convert(value, None).unwrap_or_default()
}

/// What an explanation prints for the arguments of `convert_to`, such as `[Integer, 10]`.
pub fn program_text(arguments: &[Value]) -> String {
    stringify(&Value::array(arguments.to_vec()))
}

fn not_a_type(value: &Value) -> ConversionError {
    let mismatch = assert_instance("", &Type::Type(None), value);
    let actual = mismatch.err().map(|mismatch| mismatch.to_string());
    ConversionError::NotAType {
        actual: actual
            .as_deref()
            .and_then(|text| text.rsplit_once(", got "))
            .map(|(_, actual)| actual.to_owned())
            .unwrap_or_default(),
    }
}

fn new_from(ty: &Type, arguments: Vec<Value>) -> Result<Value, ConversionError> {
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

/// The function that makes values of a type.
enum Maker<'a> {
    Function(
        &'static Function,
        fn(usize, &[Value]) -> Result<Value, ConversionError>,
    ),
    Init(&'a InitType),
}

fn maker(ty: &Type) -> Result<Maker<'_>, ConversionError> {
    let function = |function: &'static LazyLock<Function>, make| {
        Ok(Maker::Function(LazyLock::force(function), make))
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
        Type::Type(_) => function(&TYPE, type_from_text),
        Type::NotUndef(None) | Type::Unit => function(&UNIT, unit),
        Type::NotUndef(Some(inner)) | Type::Optional(Some(inner)) => maker(inner),
        Type::Optional(None) => Err(unusable("undefined method `new_function' for nil:NilClass")),
        Type::Alias(alias) => maker(alias.resolved()),
        Type::Init(Some(init)) => Ok(Maker::Init(init)),
        ty => Err(ConversionError::NotSupported { ty: ty.to_string() }),
    }
}

/// The function with the signatures of a type.
pub(crate) fn function_of(ty: &Type) -> Option<&'static Function> {
    match maker(ty) {
        Ok(Maker::Function(function, _)) => Some(function),
        _ => None,
    }
}

fn call(ty: &Type, mut arguments: Vec<Value>) -> Result<Value, ConversionError> {
    let (function, make) = match maker(ty)? {
        Maker::Function(function, make) => (function, make),
        Maker::Init(init) => return call_init(init, arguments),
    };
    // Every function takes Puppet's two Symbols for what they stand for.
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
    let types = init_types(init).map_err(unusable)?;
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

/// The text of "Value of type T cannot be converted to ...".
fn type_for_error(value: &Value) -> String {
    infer(value).generalize().to_string()
}

/// "The string ... cannot be converted to ...", or the same of a value of another type.
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

fn type_from_text(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let text = arguments
        .first()
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(Type::parse(text)?.into())
}

#[cfg(test)]
mod tests;
