//! Explanations, as JSON and as text.

use serde_json::json;

use super::FIXTURE;
use crate::support::TestServer;

#[test]
fn an_explanation_is_json_or_the_text_of_puppet() {
    let server = TestServer::new(FIXTURE);
    let request = json!({"key": "package", "facts": {"os": {"family": "Debian"}}, "explain": true});
    insta::assert_snapshot!("explained", server.lookup(&request).shown(&server));
    let text = server.post_accepting("text/plain", request.to_string());
    assert_eq!(
        (text.status, text.content_type()),
        (200, "text/plain; charset=utf-8")
    );
    insta::assert_snapshot!("explained_text", text.shown(&server));
}

#[test]
fn a_lookup_that_finds_nothing_is_explained() {
    let server = TestServer::new(FIXTURE);
    let request = json!({"key": "no", "explain": true});
    let problem = server.lookup(&request).problem(404, "key-not-found");
    assert!(problem["explanation"].is_object(), "{problem}");
    let reply = server.post_accepting("text/plain", request.to_string());
    assert_eq!(reply.status, 404);
    let missing = "Function lookup() did not find a value for the name 'no'";
    assert!(reply.text().contains(missing), "{}", reply.text());
}

#[test]
fn a_failed_lookup_is_explained() {
    let server = TestServer::new(FIXTURE);
    let problem = server
        .lookup(&json!({"key": "broken", "explain": true}))
        .problem(422, "lookup-failed");
    assert!(problem["explanation"].is_object(), "{problem}");
}

#[test]
fn lookup_options_alone_can_be_explained() {
    let server = TestServer::new(FIXTURE);
    let reply = server.lookup(&json!({"key": "secret", "explain": "options"}));
    let text = reply.text();
    assert!(
        text.contains("lookup_options") && text.contains("convert_to"),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn text_is_only_for_explanations() {
    let server = TestServer::new(FIXTURE);
    let reply = server.post_accepting("text/plain", r#"{"key":"who"}"#);
    assert_eq!(reply.json()["value"], "anybody");
}

#[test]
fn the_accept_header_selects_text_or_json() {
    let server = TestServer::new(FIXTURE);
    for (accept, expected) in [
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/plain", "text/plain; charset=utf-8"),
        (
            "text/plain, application/json;q=0.5",
            "text/plain; charset=utf-8",
        ),
        ("application/json, text/plain", "application/json"),
        // The first type decides, and this one is unknown.
        ("text/html, text/plain;q=0.5, */*;q=0.1", "application/json"),
    ] {
        let reply = server.post_accepting(accept, r#"{"key":"who","explain":true}"#);
        assert_eq!(reply.content_type(), expected, "Accept: {accept}");
    }
}
