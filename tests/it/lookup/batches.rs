//! Many keys in one request.

use serde_json::json;

use super::FIXTURE;
use crate::support::TestServer;

#[test]
fn a_batch_answers_each_key_separately_in_the_order_asked() {
    let server = TestServer::new(FIXTURE);
    let keys = [
        "who",
        "no",
        "table.a.deep.0",
        "broken",
        "nothing",
        "a.'",
        "'dotted.key'",
    ];
    let reply = server.lookup(&json!({"keys": keys, "environment": "production"}));
    let body = reply.json();
    let names: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["environment", "revision", "results"]);
    let results = body["results"].as_object().unwrap();
    assert_eq!(results.keys().collect::<Vec<_>>(), keys);
    insta::assert_snapshot!(reply.shown(&server));
}

#[test]
fn a_key_asked_twice_in_a_batch_is_answered_once() {
    let server = TestServer::new(FIXTURE);
    let text = server
        .lookup(&json!({"keys": ["who", "package", "who"]}))
        .text();
    assert_eq!(text.matches(r#""who":"#).count(), 1, "{text}");
}

#[test]
fn a_batch_has_the_options_of_a_single_lookup() {
    let server = TestServer::new(FIXTURE);
    let facts = json!({"os": {"family": "Debian"}});
    let request = json!({"keys": ["list", "no"], "facts": facts, "merge": "unique", "default": []});
    let body = server.lookup(&request).json();
    let expected = json!({"list": {"value": ["debian", "common"]}, "no": {"value": []}});
    assert_eq!(body["results"], expected);
}
