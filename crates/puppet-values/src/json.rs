//! Values from `serde_json`, for callers that have facts or defaults in that form.

use serde_json::Value as Json;

use crate::{Hash, Value};

/// Numbers keep their type: `1` is an integer, `1.0` is a float. `serde_json` reads an integer that does not fit 64 bits
/// as a float, unless its feature `arbitrary_precision` is on.
impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(flag),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => Value::Int(number),
                (None, Some(number)) => Value::integer(number.into()),
                (None, None) => match number.to_string().parse() {
                    Ok(integer) => Value::integer(integer),
                    Err(_) => number.as_f64().map_or(Value::Null, Value::Float),
                },
            },
            Json::String(text) => Value::str(text),
            Json::Array(items) => Value::array(items.into_iter().map(Value::from).collect()),
            Json::Object(members) => Value::hash(members.into()),
        }
    }
}

impl From<serde_json::Map<String, Json>> for Hash {
    fn from(members: serde_json::Map<String, Json>) -> Self {
        members
            .into_iter()
            .map(|(name, value)| (Value::str(name), Value::from(value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_keep_their_type() {
        assert_eq!(Value::from(json!(1)), Value::Int(1));
        assert_eq!(Value::from(json!(1.0)), Value::Float(1.0));
        assert_eq!(
            Value::from(json!(u64::MAX)),
            Value::integer(u64::MAX.into())
        );
    }

    #[test]
    fn collections_keep_their_content() {
        let value = Value::from(json!({"os": {"family": "Debian"}, "ports": [80, null]}));
        let hash = value.as_hash().unwrap();
        let os = hash.get("os").and_then(Value::as_hash).unwrap();
        assert_eq!(os.get("family"), Some(&Value::str("Debian")));
        let ports = hash.get("ports").and_then(Value::as_array);
        assert_eq!(ports, Some([Value::Int(80), Value::Null].as_slice()));
    }
}
