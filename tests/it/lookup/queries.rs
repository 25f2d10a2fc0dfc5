//! `GET /lookup/{key}`, and bodies without a content type.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

use super::FIXTURE;
use crate::support::TestServer;

#[test]
fn a_query_answers_like_a_body() {
    let server = TestServer::new(FIXTURE);
    for (path, body) in [
        ("/lookup/who", json!({"key": "who"})),
        (
            "/lookup/who?environment=production&node=web1.example.com",
            json!({"key": "who", "node": "web1.example.com"}),
        ),
        (
            "/lookup/package?facts.os.family=Debian",
            json!({"key": "package", "facts": {"os": {"family": "Debian"}}}),
        ),
        (
            "/lookup/place?variables.site=pdx",
            json!({"key": "place", "variables": {"site": "pdx"}}),
        ),
        (
            "/lookup/who?trusted.certname=web1.example.com",
            json!({"key": "who", "node": "web1.example.com"}),
        ),
        (
            "/lookup/list?merge=unique&node=web1.example.com",
            json!({"key": "list", "merge": "unique", "node": "web1.example.com"}),
        ),
        (
            "/lookup/no?default=d%20%2B+e",
            json!({"key": "no", "default": "d + e"}),
        ),
        (
            "/lookup/list?type=Array",
            json!({"key": "list", "type": "Array"}),
        ),
        (
            "/lookup/who?explain=true",
            json!({"key": "who", "explain": true}),
        ),
        (
            "/lookup/who?explain=options",
            json!({"key": "who", "explain": "options"}),
        ),
        ("/lookup/table.a.deep.1", json!({"key": "table.a.deep.1"})),
        ("/lookup/%27dotted.key%27", json!({"key": "'dotted.key'"})),
        ("/lookup/slash/key", json!({"key": "slash/key"})),
        ("/lookup/slash%2Fkey", json!({"key": "slash/key"})),
        ("/lookup/%C3%BCmlaut", json!({"key": "ümlaut"})),
        ("/lookup/secret", json!({"key": "secret"})),
        ("/lookup/no", json!({"key": "no"})),
        ("/lookup/broken", json!({"key": "broken"})),
        (
            "/lookup/who?environment=nowhere",
            json!({"key": "who", "environment": "nowhere"}),
        ),
    ] {
        let (by_query, by_body) = (server.get(path), server.lookup(&body));
        assert_eq!(
            by_query.status,
            by_body.status,
            "{path}: {}",
            by_query.text()
        );
        assert_eq!(by_query.text(), by_body.text(), "{path}");
    }
}

#[test]
fn a_query_can_answer_with_text() {
    let server = TestServer::new(FIXTURE);
    let reply = server.get_text("/lookup/who?explain=true");
    assert_eq!(
        (reply.status, reply.content_type()),
        (200, "text/plain; charset=utf-8")
    );
    assert!(
        reply.text().starts_with("Searching for"),
        "{}",
        reply.text()
    );
}

#[test]
fn a_body_is_read_if_its_content_type_is_json() {
    let server = TestServer::new(FIXTURE);
    let request = || Request::post("/lookup");
    let body = || Body::from(r#"{"key":"who"}"#);
    for content_type in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.example+json",
    ] {
        let request = request().header(header::CONTENT_TYPE, content_type);
        let reply = server.send(request.body(body()).unwrap());
        assert_eq!(reply.json()["value"], "anybody", "{content_type}");
    }
    let reply = server.send(request().body(body()).unwrap());
    let detail = reply.detail(415, "unsupported-media-type");
    assert!(
        detail.contains("send `Content-Type: application/json`"),
        "{detail}"
    );
}
