//! What every request passes: request ids, compression, cross-origin rules, the access log.

use std::io::Read as _;

use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{Request, header};
use serde_json::{Value, json};

use crate::support::process::{Process, wait_for};
use crate::support::{Reply, TestServer, Tree};

const SMALL: &str = r#"{"key": "small"}"#;
const LARGE: &str = r#"{"key": "large"}"#;

/// A short value, and one of about 40 KB.
fn tree() -> Tree {
    let large = "data ".repeat(8_000);
    Tree::new(&format!(
        "//- /hiera.yaml\nversion: 5\nhierarchy: [{{name: common, path: common.yaml}}]\n\
         //- /data/common.yaml\nsmall: yes please\nlarge: {large}\n"
    ))
}

fn post() -> Builder {
    Request::post("/lookup").header(header::CONTENT_TYPE, "application/json")
}

fn send(server: &TestServer, request: Builder, body: &'static str) -> Reply {
    server.send(request.body(Body::from(body)).unwrap())
}

fn unzipped(reply: &Reply) -> Value {
    assert_eq!(reply.header(header::CONTENT_ENCODING), "gzip");
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(reply.body.as_slice());
    decoder.read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_answer_has_a_request_id_which_the_client_can_set() {
    let server = TestServer::of(tree(), "");
    let requests = || {
        [
            (post(), SMALL),
            (post(), "{"),
            (Request::get("/lookup/small"), ""),
            (Request::get("/no/such/path"), ""),
            (Request::get("/livez"), ""),
        ]
    };
    for (request, body) in requests() {
        let reply = send(&server, request.header("x-request-id", "deploy-7"), body);
        assert_eq!(reply.headers["x-request-id"], "deploy-7");
    }
    let made: Vec<_> = requests()
        .into_iter()
        .map(|(request, body)| send(&server, request, body).headers["x-request-id"].clone())
        .collect();
    for (index, id) in made.iter().enumerate() {
        assert_eq!(id.len(), 16, "{id:?}");
        assert!(!made[..index].contains(id), "{id:?} was used twice");
    }
    let reply = send(&server, post().header("x-request-id", "two words"), SMALL);
    assert_ne!(reply.headers["x-request-id"], "two words");
}

#[test]
fn large_answers_are_compressed_for_clients_that_accept_it() {
    let server = TestServer::of(tree(), "");
    let plain = send(&server, post(), LARGE);
    assert_eq!(plain.header(header::CONTENT_ENCODING), "");
    assert_eq!(plain.header(header::VARY), "accept-encoding");
    let gzip = |request: Builder| request.header(header::ACCEPT_ENCODING, "br, gzip;q=0.8");
    for (request, body) in [
        (gzip(post()), LARGE),
        (gzip(Request::get("/lookup/large")), ""),
    ] {
        let reply = send(&server, request, body);
        assert_eq!(unzipped(&reply), plain.json());
        assert!(reply.body.len() < plain.body.len() / 10);
        assert!(!reply.headers.contains_key(header::CONTENT_LENGTH));
    }
    // A client that accepts no encoding at all gets an uncompressed answer.
    for other in ["br", "gzip;q=0", "identity", "*;q=0"] {
        let reply = send(
            &server,
            post().header(header::ACCEPT_ENCODING, other),
            LARGE,
        );
        assert_eq!(reply.json(), plain.json(), "{other}");
    }
}

#[test]
fn small_answers_and_event_streams_are_never_compressed() {
    let server = TestServer::of(tree(), "");
    for (request, body) in [
        (post(), SMALL),
        (Request::get("/lookup/small"), ""),
        (Request::get("/environments/production/events"), ""),
    ] {
        let reply = send(
            &server,
            request.header(header::ACCEPT_ENCODING, "gzip"),
            body,
        );
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header(header::CONTENT_ENCODING), "");
    }
}

#[test]
fn a_compressed_answer_has_a_weak_tag_which_is_recognized() {
    let server = TestServer::of(tree(), "");
    let get = || Request::get("/lookup/large");
    let strong = send(&server, get(), "");
    assert!(strong.header(header::ETAG).starts_with('"'));
    assert_eq!(strong.header(header::VARY), "accept, accept-encoding");
    let gzip = || get().header(header::ACCEPT_ENCODING, "gzip");
    let weak = send(&server, gzip(), "");
    let tag = weak.header(header::ETAG);
    assert_eq!(tag, format!("W/{}", strong.header(header::ETAG)));
    assert_eq!(weak.header(header::VARY), "accept, accept-encoding");
    for known in [tag, strong.header(header::ETAG)] {
        let reply = send(&server, gzip().header(header::IF_NONE_MATCH, known), "");
        assert_eq!((reply.status, reply.body.len()), (304, 0));
        assert_eq!(reply.header(header::ETAG), known);
        assert_eq!(reply.header(header::VARY), "accept, accept-encoding");
        assert_eq!(reply.header(header::CONTENT_ENCODING), "");
    }
}

#[test]
fn head_returns_the_headers_of_get() {
    let server = TestServer::of(tree(), "");
    for encoding in ["gzip", "identity"] {
        let ask = |request: Builder| {
            send(
                &server,
                request.header(header::ACCEPT_ENCODING, encoding),
                "",
            )
        };
        let (get, head) = (
            ask(Request::get("/lookup/large")),
            ask(Request::head("/lookup/large")),
        );
        assert_eq!((head.status, head.body.len()), (200, 0));
        for name in [
            header::CONTENT_ENCODING,
            header::VARY,
            header::ETAG,
            header::CONTENT_TYPE,
        ] {
            assert_eq!(
                head.header(name.clone()),
                get.header(name.clone()),
                "{encoding}: {name}"
            );
        }
        let length = match encoding {
            "gzip" => String::new(),
            _ => get.body.len().to_string(),
        };
        assert_eq!(head.header(header::CONTENT_LENGTH), length);
    }
}

fn preflight(origin: &str) -> Builder {
    Request::options("/lookup")
        .header(header::ORIGIN, origin)
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
        .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "content-type")
}

#[test]
fn cross_origin_requests_are_allowed_only_from_configured_origins() {
    let origin = "https://pages.example.com";
    let closed = TestServer::of(tree(), "");
    assert_eq!(send(&closed, preflight(origin), "").status, 403);
    let reply = send(&closed, post().header(header::ORIGIN, origin), SMALL);
    let detail = reply.detail(403, "origin-not-allowed");
    assert!(detail.contains("`http.cors_origins`"), "{detail}");
    assert_eq!(reply.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), "");

    let settings = format!("http: {{cors_origins: [\"{origin}\"]}}");
    let open = TestServer::of(tree(), &settings);
    let reply = send(&open, preflight(origin), "");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), origin);
    assert!(
        reply
            .header(header::ACCESS_CONTROL_ALLOW_HEADERS)
            .contains("content-type")
    );
    for (request, body) in [(post(), SMALL), (Request::get("/lookup/small"), "")] {
        let reply = send(&open, request.header(header::ORIGIN, origin), body);
        assert_eq!(reply.json()["value"], json!("yes please"));
        assert_eq!(reply.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), origin);
        assert!(reply.headers.contains_key("x-request-id"));
    }
    let other = send(&open, preflight("https://other.example.com"), "");
    assert_eq!(other.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), "");
    // A request without an origin is not affected.
    assert_eq!(send(&open, post(), SMALL).status, 200);
}

#[test]
fn the_access_log_has_a_line_for_each_request_without_its_query() {
    let tree = tree();
    let variables = [("HIERAD_LOG_ACCESS", "true"), ("HIERAD_LOG_FORMAT", "json")];
    let process = Process::start(&tree, &variables);
    let request = format!(
        "POST /lookup HTTP/1.1\r\nhost: localhost\r\nx-request-id: first\r\nauthorization: Bearer hidden\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{SMALL}",
        SMALL.len()
    );
    assert_eq!(process.send(request.as_bytes()).status, 200);
    assert_eq!(
        process.get("/lookup/small?facts.password=hidden").status,
        200
    );
    let line = |path: &str| {
        let log = process.log();
        let lines = log
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .into_iter()
            .rev()
            .find(|line| line["http.path"] == path)
    };
    let posted = wait_for("the line of the first request", || line("/lookup"));
    assert_eq!(posted["request.id"], "first");
    assert_eq!(posted["http.method"], "POST");
    assert_eq!(posted["http.status"], 200);
    assert!(
        posted["http.bytes"].is_u64() && posted["duration_ms"].is_f64(),
        "{posted}"
    );
    let got = wait_for("the line of the second", || line("/lookup/small"));
    assert_eq!(got["request.id"].as_str().unwrap().len(), 16);
    assert!(!process.log().contains("hidden"), "{}", process.log());
}

#[test]
fn there_is_no_access_log_by_default() {
    let tree = tree();
    let process = Process::start(&tree, &[("HIERAD_DRAIN_DELAY_MS", "0")]);
    assert_eq!(process.get("/lookup/small").status, 200);
    let log = process.stop();
    assert!(log.contains("listening"), "{log}");
    assert!(!log.contains("/lookup/small"), "{log}");
}

#[test]
fn log_lines_of_a_request_have_its_id() {
    // Nothing listens on port 1, so the level fails and the server logs a warning, once for each address.
    let tree = Tree::new(
        "//- /hiera.yaml\nversion: 5\nhierarchy: [{name: remote, lookup_key: hiera_http, \
         uri: 'http://127.0.0.1:1/%{facts.path}', options: {failure: graceful}}]\n",
    );
    let process = Process::start(&tree, &[("HIERAD_LOG_FORMAT", "json")]);
    let body = r#"{"key": "k", "facts": {"path": "a"}}"#;
    let post = format!(
        "POST /lookup HTTP/1.1\r\nhost: localhost\r\nx-request-id: posted\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let get = "GET /lookup/k?facts.path=b HTTP/1.1\r\nhost: localhost\r\nx-request-id: got\r\n\r\n";
    for (request, id) in [(post.as_str(), "posted"), (get, "got")] {
        assert_eq!(process.send(request.as_bytes()).status, 404);
        wait_for("the warning", || {
            let log = process.log();
            let mut lines = log
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.find(|line| line["level"] == "WARN" && line["span"]["request.id"] == id)
        });
    }
}
