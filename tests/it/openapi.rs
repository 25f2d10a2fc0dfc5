//! `openapi.yaml` against the router, both ways.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};

use crate::support::TestServer;

/// The document, as JSON.
fn document() -> Value {
    serde_yaml::from_str(include_str!("../../openapi.yaml")).unwrap()
}

/// The members of an object.
fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

/// What a `$ref` stands for.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            let pointer = reference
                .strip_prefix('#')
                .expect("a place in the document");
            document
                .pointer(pointer)
                .unwrap_or_else(|| panic!("there is no {reference}"))
        }
        None => value,
    }
}

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Every operation: method, path, description.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut operations = Vec::new();
    for (path, item) in members(&document["paths"]) {
        for (method, operation) in members(item).filter(|(method, _)| METHODS.contains(method)) {
            operations.push((method, path, operation));
        }
    }
    operations
}

/// The routes as they stand in the source: a router cannot be asked for them.
fn routes() -> BTreeSet<(String, String)> {
    let source = include_str!("../../src/http/router.rs");
    let mut routes = BTreeSet::new();
    for route in source.split(".route(").skip(1) {
        let path = route
            .split('"')
            .nth(1)
            .expect("a route begins with its path");
        let end = route.find(".fallback").unwrap_or(route.len());
        for method in METHODS {
            let handlers = route.get(..end).unwrap_or(route);
            let is_taken = handlers
                .match_indices(&format!("{method}("))
                .any(|(place, _)| {
                    let before = handlers.get(..place).and_then(|text| text.chars().last());
                    before.is_some_and(|letter| !letter.is_alphanumeric() && letter != '_')
                });
            if is_taken {
                routes.insert((method.to_owned(), path.replace("{*", "{")));
            }
        }
    }
    routes
}

#[test]
fn the_documented_operations_are_those_of_the_router() {
    let document = document();
    let documented: BTreeSet<(String, String)> = operations(&document)
        .into_iter()
        .map(|(method, path, _)| (method.to_owned(), path.to_owned()))
        .collect();
    let routes = routes();
    assert!(
        routes.len() >= 8,
        "the source is not read right: {routes:?}"
    );
    let undocumented: Vec<_> = routes.difference(&documented).collect();
    let missing: Vec<_> = documented.difference(&routes).collect();
    assert!(
        undocumented.is_empty(),
        "not in openapi.yaml: {undocumented:?}"
    );
    assert!(missing.is_empty(), "not in the router: {missing:?}");
}

#[test]
fn every_documented_operation_answers_as_documented() {
    let document = document();
    let server = TestServer::of_the_sample();
    for (method, path, operation) in operations(&document) {
        let uri = path
            .replace("{key}", "ntp::servers")
            .replace("{environment}", "production");
        let request = Request::builder()
            .method(method.to_uppercase().as_str())
            .uri(&uri)
            .header(header::CONTENT_TYPE, "application/json");
        let body = match operation.get("requestBody") {
            Some(_) => Body::from(r#"{"key": "ntp::servers"}"#),
            None => Body::empty(),
        };
        let reply = server.send(request.body(body).unwrap());
        let status = reply.status.to_string();
        let response = operation["responses"].get(&status);
        let response = response.unwrap_or_else(|| {
            panic!(
                "{method} {uri}: {status} is not documented: {}",
                reply.text()
            )
        });
        // Without a code directory that is watched nothing can be reloaded; all else is answered.
        let is_answered = reply.status == 200 || path.ends_with("/reload");
        assert!(is_answered, "{method} {uri}: {}", reply.text());
        assert!(
            !matches!(reply.status, 404 | 405),
            "{method} {uri}: {}",
            reply.text()
        );
        let content = &resolved(&document, response)["content"];
        let kinds: Vec<&str> = members(content).map(|(kind, _)| kind).collect();
        let kind = reply.content_type().split(';').next().unwrap();
        assert!(
            kinds
                .iter()
                .any(|known| known.split(';').next() == Some(kind)),
            "{method} {uri}: {kind}, documented: {kinds:?}"
        );
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(document: &Value, value: &Value) {
        resolved(document, value);
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(document, item)),
            Value::Object(members) => members.values().for_each(|member| walk(document, member)),
            _ => {}
        }
    }
    let document = document();
    walk(&document, &document);
}

#[test]
fn the_documented_problems_are_those_there_are() {
    let document = document();
    let schema = &document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"];
    let documented: BTreeSet<&str> = schema
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let source = include_str!("../../src/http/error.rs");
    let names = source.split("fn name(self)").nth(1).unwrap();
    let names = names.split("fn ").next().unwrap();
    let there_are: BTreeSet<String> = names
        .split('"')
        .skip(1)
        .step_by(2)
        .map(|name| format!("/problems/{name}"))
        .collect();
    assert!(
        there_are.len() >= 11,
        "the source is not read right: {there_are:?}"
    );
    assert_eq!(documented, there_are.iter().map(String::as_str).collect());
}

#[test]
fn the_documented_fields_of_a_request_are_those_the_server_takes() {
    let document = document();
    let properties = &document["components"]["schemas"]["LookupRequest"]["properties"];
    let documented: BTreeSet<&str> = members(properties).map(|(name, _)| name).collect();
    let detail = TestServer::new("")
        .lookup(&json!({"key": "k", "no_such_field": 1}))
        .detail(400, "bad-request");
    let taken = detail
        .split("expected one of")
        .nth(1)
        .expect("the fields there are");
    let taken: BTreeSet<&str> = taken.split('`').skip(1).step_by(2).collect();
    assert_eq!(documented, taken);
}

#[test]
fn every_documented_parameter_of_a_query_is_taken() {
    let document = document();
    let server = TestServer::of_the_sample();
    for parameter in document["paths"]["/lookup/{key}"]["get"]["parameters"]
        .as_array()
        .unwrap()
    {
        let parameter = resolved(&document, parameter);
        let name = parameter["name"].as_str().unwrap();
        let query = match (parameter["in"].as_str(), name) {
            (Some("query"), "variables") => {
                let example = &parameter["example"];
                let pairs = members(example)
                    .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()));
                pairs.collect::<Vec<_>>().join("&")
            }
            (Some("query"), "merge") => "merge=first".to_owned(),
            (Some("query"), "explain") => "explain=true".to_owned(),
            (Some("query"), "type") => "type=Any".to_owned(),
            (Some("query"), "environment") => "environment=production".to_owned(),
            (Some("query"), _) => format!("{name}=x"),
            _ => continue,
        };
        let reply = server.get(&format!("/lookup/ntp::servers?{query}"));
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    }
}

#[test]
fn the_examples_of_requests_are_answered() {
    let document = document();
    let server = TestServer::of_the_sample();
    let examples = &document["paths"]["/lookup"]["post"]["requestBody"]["content"]["application/json"]
        ["examples"];
    let mut count = 0;
    for (name, example) in members(examples) {
        let reply = server.lookup(&example["value"]);
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        count += 1;
    }
    assert!(count > 0, "there are examples");
}

/// Checks the members of an object against a schema of the document: those required, and no others.
#[track_caller]
fn check_members(document: &Value, schema: &str, value: &Value) {
    let schema = &document["components"]["schemas"][schema];
    let mut parts = vec![schema];
    parts.extend(
        schema["allOf"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|part| resolved(document, part)),
    );
    let there: BTreeSet<&str> = members(value).map(|(name, _)| name).collect();
    let properties: BTreeSet<&str> = parts
        .iter()
        .flat_map(|part| members(&part["properties"]))
        .map(|(name, _)| name)
        .collect();
    let required: BTreeSet<&str> = parts
        .iter()
        .filter_map(|part| part["required"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        required.is_subset(&there),
        "required {required:?}, there are {there:?}"
    );
    assert!(
        there.is_subset(&properties),
        "documented {properties:?}, there are {there:?}"
    );
}

#[test]
fn answers_have_the_documented_members() {
    let document = document();
    let server = TestServer::of_the_sample();
    check_members(
        &document,
        "LookupReply",
        &server
            .lookup(&json!({"key": "ntp::servers", "explain": true}))
            .json(),
    );
    check_members(
        &document,
        "BatchReply",
        &server.lookup(&json!({"keys": ["ntp::servers"]})).json(),
    );
    let problem = server
        .lookup(&json!({"key": "no", "explain": true}))
        .problem(404, "key-not-found");
    check_members(&document, "Problem", &problem);
    let list = server.get("/environments").json();
    check_members(
        &document,
        "EnvironmentBrief",
        &list["environments"]["production"],
    );
}
