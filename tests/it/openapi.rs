//! `openapi.yaml` against the routes, the types of problems and the fields of requests. Replies are checked against it in
//! every test; see `contract.rs`.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, header};
use hierad::http::{problem_kinds, routes};
use serde_json::{Value, json};

use crate::contract::{DOCUMENT, check_schema, resolved};
use crate::support::TestServer;

/// The members of an object.
fn members(value: &'static Value) -> impl Iterator<Item = (&'static str, &'static Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Every operation: method, path, description.
fn operations() -> Vec<(&'static str, &'static str, &'static Value)> {
    let mut operations = Vec::new();
    for (path, item) in members(&DOCUMENT["paths"]) {
        for (method, operation) in members(item).filter(|(method, _)| METHODS.contains(method)) {
            operations.push((method, path, operation));
        }
    }
    operations
}

#[test]
fn the_documented_operations_are_those_of_the_router() {
    let documented: BTreeSet<(String, &str, &str)> = operations()
        .into_iter()
        .map(|(method, path, operation)| {
            let name = operation["operationId"].as_str().expect("an operationId");
            (method.to_uppercase(), path, name)
        })
        .collect();
    let routes = routes();
    let routes: BTreeSet<(String, String, &str)> = routes
        .iter()
        .map(|route| {
            let path = route.path.replace("{*", "{");
            (route.method.to_string(), path, route.operation)
        })
        .collect();
    let routes: BTreeSet<(String, &str, &str)> = routes
        .iter()
        .map(|(method, path, name)| (method.clone(), path.as_str(), *name))
        .collect();
    assert_eq!(documented, routes);
}

#[test]
fn every_documented_operation_answers_as_documented() {
    let server = TestServer::of_the_sample();
    for (method, path, operation) in operations() {
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
        // Nothing can be reloaded without a watched code directory; everything else is answered.
        let expected = if path.ends_with("/reload") { 503 } else { 200 };
        assert_eq!(reply.status, expected, "{method} {uri}: {}", reply.text());
    }
}

#[test]
fn every_reference_has_a_target() {
    fn walk(value: &'static Value) {
        resolved(value);
        match value {
            Value::Array(items) => items.iter().for_each(walk),
            Value::Object(members) => members.values().for_each(walk),
            _ => {}
        }
    }
    walk(&DOCUMENT);
}

#[test]
fn the_documented_problems_are_those_of_the_server() {
    let properties = &DOCUMENT["components"]["schemas"]["Problem"]["properties"];
    let documented = |property: &str| {
        let values = properties[property]["enum"].as_array().unwrap();
        values.iter().map(Value::to_string).collect::<BTreeSet<_>>()
    };
    let types = problem_kinds().map(|(name, _)| json!(format!("/problems/{name}")).to_string());
    assert_eq!(documented("type"), types.collect());
    let statuses = problem_kinds().map(|(_, status)| status.to_string());
    assert_eq!(documented("status"), statuses.collect());
}

/// Calls something with every example of a media type, and the media type's schema.
fn for_each_example(value: &'static Value, check: &mut impl FnMut(&'static Value, &'static Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| for_each_example(item, check)),
        Value::Object(object) => {
            if let Some(schema) = object.get("schema") {
                let several = members(&value["examples"]).map(|(_, example)| &example["value"]);
                several
                    .chain(object.get("example"))
                    .for_each(|example| check(schema, example));
            }
            object
                .values()
                .for_each(|member| for_each_example(member, check));
        }
        _ => {}
    }
}

#[test]
fn the_examples_fit_their_schemas() {
    let mut count = 0;
    for_each_example(&DOCUMENT, &mut |schema, example| {
        check_schema(schema, example, "an example");
        count += 1;
    });
    assert!(count > 20, "{count} examples");
}

#[test]
fn the_documented_fields_of_a_request_are_those_the_server_accepts() {
    let properties = &DOCUMENT["components"]["schemas"]["LookupRequest"]["properties"];
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
fn every_documented_query_parameter_is_accepted() {
    let server = TestServer::of_the_sample();
    for parameter in DOCUMENT["paths"]["/lookup/{key}"]["get"]["parameters"]
        .as_array()
        .unwrap()
    {
        let parameter = resolved(parameter);
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
    let server = TestServer::of_the_sample();
    let examples = &DOCUMENT["paths"]["/lookup"]["post"]["requestBody"]["content"]["application/json"]
        ["examples"];
    let mut count = 0;
    for (name, example) in members(examples) {
        let reply = server.lookup(&example["value"]);
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        count += 1;
    }
    assert!(count > 0, "there are examples");
}
