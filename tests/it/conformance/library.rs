//! A request answered by the library alone: snapshot, scope, session.

use hiera_resolver::scope::{Variables, is_assignable};
use hiera_resolver::{
    Explain, Hash, MergeStrategy, Request, Session, Type, Value, convert, json, ruby_text,
};

use super::judge::{Got, Outcome};
use crate::exact::Json;
use crate::support::TestServer;

/// Answers a request from the snapshot that the server holds.
pub(super) fn answer(server: &TestServer, request: &Json) -> Got {
    let only = |outcome| Got {
        outcome,
        explanation: None,
        text: None,
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
        Some(Json::Bool(true)) => Explain::Value,
        Some(Json::Text(_)) => Explain::Options,
        _ => Explain::Nothing,
    };
    let default = request.get("default").map(to_value);
    let (overrides, defaults) = (
        hash_of(request.get("override")),
        hash_of(request.get("default_values")),
    );
    let mut trusted = hash_of(request.get("trusted")).unwrap_or_default();
    if let (Some(node), None) = (text("node"), trusted.get("certname")) {
        trusted.insert("certname".into(), Value::str(node));
    }
    // Names that Puppet keeps for itself are for whoever makes a scope to refuse.
    for kind in ["facts", "variables"] {
        let mut names = request
            .get(kind)
            .map(Json::members)
            .unwrap_or_default()
            .iter();
        if names.any(|(name, _)| !is_assignable(name)) {
            return only(Outcome::Failed);
        }
    }
    let facts = request.get("facts").map(without_nulls);
    let scope = Variables::new(
        environment,
        hash_of(facts.as_ref()).unwrap_or_default(),
        trusted,
        hash_of(request.get("variables")).unwrap_or_default(),
    );
    let request = Request {
        merge: merge.as_ref(),
        default: default.as_ref(),
        default_values: defaults.as_ref(),
        overrides: overrides.as_ref(),
        value_type: value_type.as_ref(),
        explain,
        ..Request::new(&names)
    };
    let answer = Session::new(&*served.snapshot, &scope).lookup(&request);
    Got {
        outcome: match answer.outcome {
            Ok(hiera_resolver::Outcome::Found(value)) => Outcome::Found {
                sensitive: value.traits().has_sensitive,
                value: of_value(&value),
            },
            Ok(hiera_resolver::Outcome::NotFound) => Outcome::NotFound,
            Err(_) => Outcome::Failed,
        },
        explanation: answer
            .explanation
            .as_ref()
            .map(|explanation| of_value(&explanation.to_value())),
        text: answer
            .explanation
            .map(|explanation| explanation.to_string()),
    }
}

/// The strategy; Hiera 1's names are for the service to know.
fn merge_of(
    merge: Option<&Json>,
) -> Result<Option<MergeStrategy>, hiera_resolver::merge::MergeError> {
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

/// A fact that is null is an empty text; whoever makes a scope sees to that.
fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Null => Json::Text(String::new()),
        Json::Array(items) => Json::Array(items.iter().map(without_nulls).collect()),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), without_nulls(value)));
            Json::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// A value as the contract shows it: a Sensitive unwrapped, rich values as Puppet's `String()` has them.
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
