//! The components of `URI` types.

use std::sync::LazyLock;

use puppet_values::uri::Uri;
use puppet_values::{Hash, Value};

use super::{IntegerRange, StructElement, Type, TypeMismatch, TypeParseError, assert_instance};

/// The components of a URI, as in a `URI` type; `None` if it has none.
pub(super) fn parts_of(uri: &Uri) -> Option<Hash> {
    let mut parts = Hash::new();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            parts.insert(name.into(), Value::str(value));
        }
    };
    let is_default_port = match uri.scheme.as_deref() {
        Some("http") => uri.port == Some(80),
        Some("https") => uri.port == Some(443),
        _ => false,
    };
    let not_empty = |text: &String| !text.is_empty();
    set("scheme", uri.scheme.clone());
    set("userinfo", uri.userinfo.clone());
    let host = uri.host.clone().filter(not_empty);
    set("host", host.map(|host| host.to_ascii_lowercase()));
    let port = uri.port.filter(|_| !is_default_port);
    set("port", port.map(|port| port.to_string()));
    set("path", uri.path.clone().filter(not_empty));
    set("query", uri.query.clone());
    set("fragment", uri.fragment.clone());
    set("opaque", uri.opaque.clone());
    (!parts.is_empty()).then_some(parts)
}

/// The components in `URI['...']`, which must have a scheme.
pub(super) fn type_parts(text: &str) -> Result<Option<Hash>, TypeParseError> {
    let has_scheme = text.split_once(':').is_some_and(|(before, after)| {
        before.ends_with(|char: char| char.is_ascii_alphanumeric() || "+-.".contains(char))
            && !after.starts_with(char::is_whitespace)
    });
    if !has_scheme {
        return Err(TypeParseError::Parameter {
            problem: format!(
                "URI-Type parameter has wrong type, expects a match for Pattern[URI], got '{text}'"
            ),
        });
    }
    Ok(parts_of(&Uri::parse(text)?))
}

/// The type of the parameter in `URI[{...}]`.
static PARTS: LazyLock<Type> = LazyLock::new(|| {
    let names = [
        "scheme", "userinfo", "host", "port", "path", "query", "fragment", "opaque",
    ];
    let common = [
        Type::Type(Some(Type::NotUndef(None).into())),
        Type::Type(Some(Type::Undef.into())),
    ];
    let text = [
        Type::sized_string(IntegerRange::at_least(1)),
        Type::Regexp(None),
        Type::Type(Some(Type::Pattern([].into()).into())),
        Type::Type(Some(Type::enumeration(Vec::new(), false).into())),
    ];
    let number = [Type::Integer(IntegerRange::at_least(0))];
    let elements = names.map(|name| {
        let own: &[Type] = if name == "port" { &number } else { &text };
        StructElement {
            name: name.into(),
            optional: true,
            value: Type::optional(Type::variant(own.iter().chain(&common).cloned())),
        }
    });
    Type::variant([
        Type::sized_string(IntegerRange::at_least(1)),
        Type::Struct(elements.into()),
    ])
});

/// Checks the components in `URI[{...}]`.
pub(super) fn check_type_parts(parts: &Value) -> Result<(), TypeMismatch> {
    assert_instance("URI-Type parameter", &PARTS, parts)
}
