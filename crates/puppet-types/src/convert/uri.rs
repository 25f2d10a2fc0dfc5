//! `URI` from strings or hashes of components.

use std::sync::LazyLock;

use puppet_values::uri::Uri;
use puppet_values::{Rich, Value};

use super::ConversionError;
use crate::signature::Function;

pub(super) static URI: LazyLock<Function> = LazyLock::new(|| {
    let parts = "Struct[{Optional[scheme] => String[1], Optional[userinfo] => String[1], \
                 Optional[host] => String[1], Optional[port] => Integer[0], \
                 Optional[path] => String[1], Optional[query] => String[1], \
                 Optional[fragment] => String[1], Optional[opaque] => String[1]}]";
    // Puppet has this name, by mistake.
    Function::new(
        "new_error",
        &[],
        &[
            (false, &[("String[1]", "uri", false)]),
            (false, &[(parts, "hash", false)]),
        ],
    )
});

pub(super) fn uri(_: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let uri = match arguments {
        [Value::Hash(parts)] => Uri::build(parts),
        [Value::Str(text)] => Uri::parse(text),
        _ => Ok(Uri::default()),
    };
    Ok(Rich::Uri(uri?).into())
}
