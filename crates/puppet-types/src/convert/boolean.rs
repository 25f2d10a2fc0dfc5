//! `Boolean` from numbers, and from words such as `yes` and `no`.

use std::sync::LazyLock;

use puppet_values::Value;

use super::{ConversionError, cannot_convert};
use crate::signature::Function;

pub(super) static BOOLEAN: LazyLock<Function> = LazyLock::new(|| {
    let convertible =
        "Variant[Integer, Float, Boolean, Enum['false','true','yes','no','y','n',true]]";
    Function::new(
        "new_boolean",
        &[],
        &[
            (false, &[(convertible, "from", false)]),
            (true, &[("Any", "from", false)]),
        ],
    )
});

pub(super) fn boolean(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let from = arguments.first().unwrap_or(&Value::Null);
    if signature > 0 {
        return Err(cannot_convert("new_boolean", from, "Boolean"));
    }
    Ok(Value::Bool(match from {
        Value::Float(number) => *number != 0.0,
        Value::Int(number) => *number != 0,
        Value::Bool(flag) => *flag,
        Value::Str(text) => {
            let text = text.to_ascii_lowercase();
            !matches!(text.as_str(), "false" | "no" | "n")
        }
        _ => true,
    }))
}
