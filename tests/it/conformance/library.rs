//! Requests answered by the library alone: snapshot, scope, session.

use hiera_resolver::data::json;
use hiera_resolver::scope::RawNode;
use hiera_resolver::{Explain, Hash, MergeStrategy, Request, Type, Value};
use puppet_types::convert;
use puppet_values::ruby_text;

use recorded_cases::{Answer, Json, Outcome};

use crate::support::TestServer;

/// Answers a request from the snapshot of the server: as data, and the explanation as text if there is one.
pub(super) fn answer(server: &TestServer, request: &Json) -> (Answer, Option<Answer>) {
    let only = |outcome| {
        let explanation = None;
        (
            Answer::Data {
                outcome,
                explanation,
            },
            None,
        )
    };
    let text = |name: &str| request.get(name).and_then(Json::as_text);
    let environment = text("environment").unwrap_or("production");
    let Some(served) = server.environments.get(environment) else {
        return only(Outcome::UnknownEnvironment);
    };
    let names: Vec<&str> = match request.get("key") {
        Some(Json::Text(name)) => vec![name],
        Some(Json::Array(names)) if !names.is_empty() => {
            names.iter().filter_map(Json::as_text).collect()
        }
        _ => return only(Outcome::BadRequest),
    };
    let Ok(merge) = merge_of(request.get("merge")) else {
        return only(Outcome::Failed);
    };
    let Ok(value_type) = text("type").map(Type::parse).transpose() else {
        return only(Outcome::Failed);
    };
    let explain = match request.get("explain") {
        Some(Json::Bool(true)) => Some(Explain::Value),
        Some(Json::Text(_)) => Some(Explain::Options),
        _ => None,
    };
    let default = request.get("default").map(to_value);
    let (overrides, defaults) = (
        hash_of(request.get("override")),
        hash_of(request.get("default_values")),
    );
    let hash = |name: &str| hash_of(request.get(name)).unwrap_or_default();
    let node = RawNode {
        facts: hash("facts"),
        trusted: hash("trusted"),
        variables: hash("variables"),
        name: text("node").map(str::to_owned),
    };
    let Ok(scope) = node.check(environment) else {
        return only(Outcome::Failed);
    };
    let request = Request {
        merge: merge.as_ref(),
        default: default.as_ref(),
        default_values: defaults.as_ref(),
        overrides: overrides.as_ref(),
        value_type: value_type.as_ref(),
        ..Request::new(&names)
    };
    let (answer, explanation) = request.answer(&*served.snapshot, &scope, explain);
    let text = explanation.as_ref().map(|explanation| Answer::Text {
        text: Some(explanation.to_string()),
        is_found: None,
    });
    let data = Answer::Data {
        outcome: match answer.outcome {
            Ok(hiera_resolver::Outcome::Found(value)) => Outcome::Found {
                sensitive: value.traits().has_sensitive,
                value: of_value(&value),
            },
            Ok(hiera_resolver::Outcome::NotFound) => Outcome::NotFound,
            Err(_) => Outcome::Failed,
        },
        explanation: explanation
            .as_ref()
            .map(|explanation| of_value(&explanation.to_value())),
    };
    (data, text)
}

/// The merge strategy. Only the service knows the names of Hiera 1.
fn merge_of(
    merge: Option<&Json>,
) -> Result<Option<MergeStrategy>, hiera_resolver::error::MergeError> {
    let value = match merge {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Text(name)) if name == "priority" => Value::str("first"),
        Some(Json::Text(name)) if name == "array" => Value::str("unique"),
        Some(other) => to_value(other),
    };
    MergeStrategy::parse(&value).map(Some)
}

fn hash_of(value: Option<&Json>) -> Option<Hash> {
    to_value(value?).as_hash().cloned()
}

fn to_value(value: &Json) -> Value {
    json::parse(value.to_string().as_bytes(), &mut |text| Value::str(text)).unwrap()
}

/// A value as the contract shows it: a Sensitive unwrapped, rich values as Puppet's `String()` formats them.
fn of_value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::Integer(number.to_string()),
        Value::BigInt(number) => Json::Integer(number.to_string()),
        Value::Float(number) if number.is_finite() => Json::Float(*number),
        Value::Str(text) => Json::Text(text.to_string()),
        Value::Template(template) => Json::Text(template.source().to_string()),
        Value::Bytes(bytes) => Json::Text(String::from_utf8_lossy(bytes).into_owned()),
        Value::Symbol(name) if name == "undef" => Json::Null,
        Value::Symbol(name) => Json::Text(name.to_string()),
        Value::Array(array) => Json::Array(array.items().iter().map(of_value).collect()),
        Value::Hash(hash) => Json::Object(
            hash.iter()
                .map(|(key, value)| (text_of(key), of_value(value)))
                .collect(),
        ),
        Value::Sensitive(inner) => of_value(inner),
        Value::Float(_) | Value::Rich(_) => Json::Text(convert::stringify(value)),
    }
}

fn text_of(key: &Value) -> String {
    let mut text = String::new();
    ruby_text::to_s(key, &mut text);
    text
}
