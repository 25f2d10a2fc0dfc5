//! Lookups that cannot be answered.

use axum::http::header;
use serde_json::json;

use super::{FIXTURE, server};
use crate::support::{Reply, TestServer, Tree};

#[test]
fn a_problem_has_type_title_status_and_detail_in_this_order() {
    let reply = server().lookup(&json!({"key": "no"}));
    let problem = reply.problem(404, "key-not-found");
    let names: Vec<&str> = problem
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["type", "title", "status", "detail"]);
    insta::assert_snapshot!(reply.text());
}

#[test]
fn an_unknown_environment_is_named() {
    for name in ["nowhere", "", "../production", "production/", "PRODUCTION"] {
        let reply = server().lookup(&json!({"key": "k", "environment": name}));
        let detail = reply.detail(404, "unknown-environment");
        assert!(detail.contains(&format!("`{name}`")), "{detail}");
    }
    server()
        .get("/environments/nowhere")
        .problem(404, "unknown-environment");
}

#[test]
fn before_loading_clients_get_503_and_when_to_retry() {
    let server = TestServer::not_loaded(Tree::new(FIXTURE), "");
    let check = |reply: &Reply| {
        reply.problem(503, "not-loaded");
        let seconds: u32 = reply.header(header::RETRY_AFTER).parse().unwrap();
        assert!(seconds >= 1);
    };
    check(&server.lookup(&json!({"key": "k"})));
    check(&server.lookup(&json!({"keys": ["k"], "environment": "nowhere"})));
    check(&server.get("/lookup/k"));
    check(&server.get("/readyz"));
    assert_eq!(server.get("/livez").status, 200);
    assert_eq!(server.get("/metrics").status, 200);
}

#[test]
fn before_loading_no_environment_counts_as_unknown() {
    let server = TestServer::not_loaded(Tree::new(FIXTURE), "");
    server
        .get("/environments/production")
        .problem(503, "not-loaded");
}

#[test]
fn a_failed_lookup_names_the_faulty_file() {
    let server = TestServer::new(
        "
//- /hiera.yaml
version: 5
//- /data/common.yaml
a: 1
b: [1
",
    );
    let detail = server.failure(&json!({"key": "a"}));
    assert!(detail.contains("production/data/common.yaml"), "{detail}");
}

#[test]
fn a_faulty_configuration_fails_lookups_with_all_its_mistakes() {
    let server = TestServer::new(
        "
//- /hiera.yaml
version: 5
hierarchy:
  - name: a
    path: a.yaml
    paths: [b.yaml]
  - nam: b
",
    );
    let detail = server.failure(&json!({"key": "a"}));
    assert!(detail.contains("hiera.yaml"), "{detail}");
    assert!(
        detail.contains("path") && detail.contains("nam"),
        "{detail}"
    );
}

#[test]
fn digging_into_a_string_fails_and_into_nothing_finds_nothing() {
    server()
        .lookup(&json!({"key": "text.x"}))
        .problem(422, "lookup-failed");
    server()
        .lookup(&json!({"key": "no.x.y"}))
        .problem(404, "key-not-found");
}

#[test]
fn a_malformed_key_fails() {
    for key in ["a.", "a..b", "a.'b", ".a"] {
        let reply = server().lookup(&json!({ "key": key }));
        reply.problem(422, "lookup-failed");
    }
}
