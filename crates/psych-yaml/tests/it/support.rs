//! How the recorded cases represent values that JSON does not have.

use num_bigint::BigInt;
use psych_yaml::{Yaml, parse};
use serde_json::{Map, Value};

/// A recorded value: plain JSON, or an object with a key that starts with `$`.
pub(crate) fn value(recorded: &Value) -> Yaml {
    match recorded {
        Value::Null => Yaml::Null,
        Value::Bool(value) => Yaml::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Yaml::Integer(number),
            None => Yaml::Float(number.as_f64().unwrap()),
        },
        Value::String(text) => Yaml::String(text.clone()),
        Value::Array(elements) => Yaml::Sequence(elements.iter().map(value).collect()),
        Value::Object(object) => special(object).unwrap_or_else(|| {
            let entry = |(key, v): (&String, &Value)| (Yaml::String(key.clone()), value(v));
            Yaml::Mapping(object.iter().map(entry).collect())
        }),
    }
}

fn special(object: &Map<String, Value>) -> Option<Yaml> {
    let (kind, content) = object.iter().next()?;
    let text = || content.as_str().unwrap().to_owned();
    Some(match kind.as_str() {
        "$bigint" => Yaml::BigInteger(text().parse::<BigInt>().unwrap()),
        "$float" => Yaml::Float(text().parse().unwrap()),
        "$sym" => Yaml::Symbol(text()),
        "$bin" => Yaml::Bytes(base64(&text())),
        // Objects of other classes are symbols here.
        "$obj" => Yaml::Symbol(object["s"].as_str().unwrap().to_owned()),
        "$map" => {
            let entry = |pair: &Value| (value(&pair[0]), value(&pair[1]));
            Yaml::Mapping(content.as_array().unwrap().iter().map(entry).collect())
        }
        _ => return None,
    })
}

pub(crate) fn base64(text: &str) -> Vec<u8> {
    match parse(format!("!!binary '{text}'").as_bytes()) {
        Ok(Some(Yaml::Bytes(bytes))) => bytes,
        Ok(Some(Yaml::String(text))) => text.into_bytes(),
        other => panic!("{other:?} from {text}"),
    }
}
