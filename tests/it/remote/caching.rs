//! Which answers are kept, and for how long.

use axum::extract::Request;
use serde_json::{Value, json};

use super::{Remote, value};
use crate::support::TestServer;

#[test]
fn a_batch_asks_once_and_the_answer_is_cached() {
    let document: serde_json::Map<String, Value> = (0..50)
        .map(|number| (format!("k{number}"), json!(number)))
        .collect();
    let keys: Vec<String> = document.keys().cloned().collect();
    let remote = Remote::with(&Value::Object(document));
    let server = remote.served("/all", "{output: json}");
    for _ in 0..3 {
        let batch = server.lookup(&json!({ "keys": keys })).json();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(batch["results"][key]["value"], json!(number));
        }
    }
    assert_eq!(value(&server, "k7"), json!(7));
    assert_eq!(remote.paths(), ["/all"]);
    // The request for another node differs only if its name is in the URI.
    assert_eq!(server.value(&json!({ "key": "k7", "node": "other" })), "7");
    assert_eq!(remote.paths().len(), 1);
}

#[test]
fn the_cache_is_configurable() {
    let remote = Remote::with(&json!({ "k": "elsewhere" }));
    let options = "{output: json}";
    for (settings, asked) in [
        ("", 1),
        ("remote: {ttl_s: 0}", 3),
        ("remote: {cache_entries: 0}", 3),
        ("remote: {cache_bytes: 5}", 3),
    ] {
        remote.asked.lock().unwrap().clear();
        let server = TestServer::of(remote.tree("/", options), settings);
        for _ in 0..3 {
            assert_eq!(value(&server, "k"), json!("elsewhere"), "{settings}");
        }
        assert_eq!(remote.paths().len(), asked, "{settings}");
    }
    let settings = "remote: {max_document_size: 5}";
    let server = TestServer::of(remote.tree("/", options), settings);
    let detail = server.failure(&json!({ "key": "k" }));
    assert!(detail.contains("larger than 5 bytes"), "{detail}");

    // With neither, nothing is left when the server is gone.
    let settings = "remote: {ttl_s: 0, stale_s: 0}";
    let forgetful = TestServer::of(remote.tree("/", options), settings);
    let faithful = TestServer::of(remote.tree("/", options), "remote: {ttl_s: 0}");
    for server in [&forgetful, &faithful] {
        assert_eq!(value(server, "k"), json!("elsewhere"));
    }
    drop(remote);
    assert_eq!(value(&faithful, "k"), json!("elsewhere"));
    assert_eq!(forgetful.lookup(&json!({ "key": "k" })).status, 422);
}

#[test]
fn a_cached_answer_is_used_while_the_server_is_down() {
    let remote = Remote::new(|_| (200, r#""elsewhere""#.to_owned()));
    let server = remote.served("/__KEY__", "{output: json, confine_to_keys: [k, own]}");
    assert_eq!(value(&server, "k"), json!("elsewhere"));
    drop(remote);
    assert_eq!(value(&server, "k"), json!("elsewhere"));
    assert_eq!(server.lookup(&json!({ "key": "own" })).status, 422);
}

#[test]
fn an_answer_with_remote_data_has_no_etag() {
    let remote = Remote::with(&json!({ "k": "elsewhere" }));
    let tree = remote.tree("/", "{output: json}");
    tree.write("C/environments/own/hiera.yaml", "version: 5\n");
    tree.write("C/environments/own/data/common.yaml", "k: own\n");
    let server = TestServer::of(tree, "");
    assert!(!server.get("/lookup/k").headers.contains_key("etag"));
    assert!(!server.get("/lookup/own").headers.contains_key("etag"));
    assert!(
        server
            .get("/lookup/k?environment=own")
            .headers
            .contains_key("etag")
    );
    let request = Request::get("/lookup/k").header("if-none-match", "*");
    let answer = server.send(request.body(axum::body::Body::empty()).unwrap());
    assert_eq!(answer.json()["value"], "elsewhere");
}
