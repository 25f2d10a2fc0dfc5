//! `Binary` from encoded strings, raw strings or byte values.

use std::sync::LazyLock;

use psych_yaml::base64;
use puppet_values::{Rich, Value};

use super::{ConversionError, unusable};
use crate::signature::Function;

pub(super) static BINARY: LazyLock<Function> = LazyLock::new(|| {
    let string_hash = "Struct[{value => String, \"format\" => Optional[Base64Format]}]";
    Function::new(
        "new_Binary",
        &[
            ("ByteInteger", "Integer[0,255]".to_owned()),
            (
                "Base64Format",
                "Enum['%b', '%u', '%B', '%s', '%r']".to_owned(),
            ),
            ("StringHash", string_hash.to_owned()),
            (
                "ArrayHash",
                "Struct[{value => Array[ByteInteger]}]".to_owned(),
            ),
            (
                "BinaryArgsHash",
                "Variant[StringHash, ArrayHash]".to_owned(),
            ),
        ],
        &[
            (
                false,
                &[("String", "str", false), ("Base64Format", "format", true)],
            ),
            (false, &[("Array[ByteInteger]", "byte_array", false)]),
            (false, &[("BinaryArgsHash", "hash_args", false)]),
        ],
    )
});

pub(super) fn binary(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let (value, format) = match arguments {
        [Value::Hash(hash)] => (hash.get("value"), hash.get("format")),
        arguments => (arguments.first(), arguments.get(1)),
    };
    let bytes = match value {
        Some(Value::Array(items)) => items.items().iter().map(byte).collect(),
        Some(Value::Str(text)) => decode(text.as_bytes(), format, true)?,
        Some(Value::Bytes(bytes)) => decode(bytes, format, false)?,
        _ => Vec::new(),
    };
    Ok(Rich::Binary(bytes.into()).into())
}

fn byte(value: &Value) -> u8 {
    match value {
        Value::Int(number) => u8::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

fn decode(text: &[u8], format: Option<&Value>, is_utf8: bool) -> Result<Vec<u8>, ConversionError> {
    let decoded = match format.and_then(Value::as_str) {
        Some("%s") if !is_utf8 && !text.is_ascii() => {
            return Err(unusable("\"\\xFF\" from ASCII-8BIT to UTF-8"));
        }
        Some("%s" | "%r") => Some(text.to_vec()),
        // Puppet adds padding first, which makes no difference to `decode`.
        Some("%b") => Some(base64::decode(text)),
        Some("%u") => base64::decode_urlsafe(text),
        _ => base64::decode_strict(text),
    };
    decoded.ok_or_else(|| unusable("invalid base64"))
}
