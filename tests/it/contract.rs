//! Checks every reply that a test gets against `openapi.yaml`: its status, its content type and its schema.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use axum::http::{Method, Uri, header};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::Reply;

/// The document, as JSON.
pub(crate) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_yaml::from_str(include_str!("../../openapi.yaml")).unwrap());

/// Statuses that any path may return: refused at the gate, an unknown path, a wrong method, and an internal error.
const EVERYWHERE: [u16; 6] = [403, 404, 405, 415, 500, 503];

/// What a `$ref` stands for.
#[track_caller]
pub(crate) fn resolved(value: &'static Value) -> &'static Value {
    let Some(reference) = value["$ref"].as_str() else {
        return value;
    };
    let pointer = reference.strip_prefix('#').expect("a local reference");
    let target = DOCUMENT.pointer(pointer);
    target.unwrap_or_else(|| panic!("there is no {reference}"))
}

/// A validator for a schema of the document. References are resolved in the document's components.
fn validator(schema: &Value) -> Validator {
    let schema = json!({"components": DOCUMENT["components"], "allOf": [schema]});
    jsonschema::draft202012::new(&schema).expect("the schema is valid")
}

/// Checks a value against a schema of the document.
#[track_caller]
pub(crate) fn check_schema(schema: &'static Value, value: &Value, what: &str) {
    // Each schema is compiled once and cached by its address in the document.
    static COMPILED: LazyLock<Mutex<HashMap<usize, Arc<Validator>>>> =
        LazyLock::new(Mutex::default);
    let address = std::ptr::from_ref(schema).addr();
    let validator = {
        let mut compiled = COMPILED.lock().unwrap();
        let compiled = compiled.entry(address);
        compiled
            .or_insert_with(|| Arc::new(validator(schema)))
            .clone()
    };
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "{what} does not fit openapi.yaml:\n{}\n{value:#}",
        errors.join("\n")
    );
}

/// The documented operation of a request; `None` if the path or the method is not documented.
fn operation(method: &Method, uri: &Uri) -> Option<&'static Value> {
    let paths = DOCUMENT["paths"].as_object()?;
    let fits = |template: &str| {
        let (mut wanted, mut given) = (template.split('/'), uri.path().split('/'));
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                // A key may have slashes.
                (Some("{key}"), Some(part)) => return !part.is_empty() || given.next().is_some(),
                (Some(part), Some(_)) if part.starts_with('{') => {}
                (Some(wanted), Some(given)) if wanted == given => {}
                _ => return false,
            }
        }
    };
    let exact = paths.get(uri.path());
    let item = exact.or_else(|| {
        let mut templates = paths.iter().filter(|(template, _)| template.contains('{'));
        templates
            .find(|(template, _)| fits(template))
            .map(|(_, item)| item)
    })?;
    let method = match method.as_str() {
        "HEAD" => "get".to_owned(),
        other => other.to_lowercase(),
    };
    item.get(method)
}

/// Checks a reply against the document.
#[track_caller]
pub(crate) fn check(method: &Method, uri: &Uri, reply: &Reply) {
    // Cross-origin preflights are answered before any path.
    if *method == Method::OPTIONS {
        return;
    }
    let what = format!("{method} {uri}: {}", reply.status);
    let problem = &DOCUMENT["components"]["schemas"]["Problem"];
    let documented = operation(method, uri)
        .and_then(|operation| operation["responses"].get(reply.status.to_string()));
    let Some(response) = documented else {
        assert!(
            EVERYWHERE.contains(&reply.status) || operation(method, uri).is_none(),
            "{what} is not documented: {}",
            reply.text()
        );
        check_schema(problem, &body(reply, &what), &what);
        return;
    };
    let content = resolved(response)["content"].as_object();
    let kind = reply.header(header::CONTENT_TYPE);
    let kind = kind.split(';').next().unwrap_or_default();
    let media = content.into_iter().flatten().find(|(known, _)| {
        let known = known.split(';').next();
        known == Some(kind)
    });
    let Some((_, media)) = media else {
        let is_empty = content.is_none() || *method == Method::HEAD;
        assert!(
            is_empty && reply.body.is_empty(),
            "{what}: `{kind}` is not documented"
        );
        return;
    };
    let is_encoded = reply.headers.contains_key(header::CONTENT_ENCODING);
    if kind.ends_with("json") && *method != Method::HEAD && !is_encoded {
        check_schema(&media["schema"], &body(reply, &what), &what);
    }
}

#[track_caller]
fn body(reply: &Reply, what: &str) -> Value {
    match serde_json::from_slice(&reply.body) {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error}: {}", reply.text()),
    }
}

/// A reply whose only header is its content type.
fn reply(status: u16, kind: &'static str, body: &str) -> Reply {
    let kind = axum::http::HeaderValue::from_static(kind);
    Reply {
        status,
        headers: [(header::CONTENT_TYPE, kind)].into_iter().collect(),
        body: body.into(),
    }
}

#[test]
#[should_panic(expected = "does not fit openapi.yaml")]
fn an_undocumented_member_is_noticed() {
    let body = r#"{"key": "k", "environment": "e", "value": 1, "revision": "00000000000000000000000000000000", "more": 1}"#;
    let uri = Uri::from_static("/lookup/k");
    check(&Method::GET, &uri, &reply(200, "application/json", body));
}

#[test]
#[should_panic(expected = "is not documented")]
fn an_undocumented_status_is_noticed() {
    let uri = Uri::from_static("/environments");
    check(&Method::GET, &uri, &reply(418, "application/json", "{}"));
}

#[test]
#[should_panic(expected = "is not documented")]
fn an_undocumented_content_type_is_noticed() {
    let uri = Uri::from_static("/environments");
    check(&Method::GET, &uri, &reply(200, "text/html", "<p>"));
}
