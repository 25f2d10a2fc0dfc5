//! Requests that are refused before they have arrived in full, over a real connection: the client can read the reason.

use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::process::{Answer, Process, lookup_head, wait_for};
use crate::support::{Tree, has_tool, printed};

const MEGABYTE: usize = 1024 * 1024;

/// A server and its tree, which must exist while the server runs.
fn server() -> (Process, Tree) {
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\nk: 1\n");
    (Process::start(&tree, &[]), tree)
}

/// Sends a whole request before it reads anything, like most clients, and then reads until the connection is closed.
#[track_caller]
fn send_all_then_read(server: &Process, request: &[u8]) -> Answer {
    let mut stream = server.connect().unwrap();
    stream
        .write_all(request)
        .expect("the server reads all of it");
    let answer = Answer::read(&mut stream).expect("an answer");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("no reset");
    assert_eq!(rest, b"", "after the answer");
    answer
}

#[track_caller]
fn is_problem(answer: &Answer, status: u16, kind: &str) {
    assert_eq!(answer.status, status, "{}", answer.head);
    let head = answer.head.to_lowercase();
    assert!(
        head.contains("\r\ncontent-type: application/problem+json\r\n"),
        "{head}"
    );
    assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
    let problem = answer.json();
    assert_eq!(problem["type"], format!("/problems/{kind}"), "{problem}");
    assert_eq!(problem["status"], status, "{problem}");
    assert!(problem["detail"].is_string(), "{problem}");
}

fn large_lookup(head: &str) -> Vec<u8> {
    [head.as_bytes(), &vec![b' '; 32 * MEGABYTE]].concat()
}

#[test]
fn a_client_that_sends_too_large_a_body_can_read_why_it_is_refused() {
    let (server, _tree) = server();
    let request = large_lookup(&lookup_head(32 * MEGABYTE, ""));
    is_problem(
        &send_all_then_read(&server, &request),
        413,
        "body-too-large",
    );
}

#[test]
fn a_chunked_body_that_is_too_large_is_refused_in_the_same_way() {
    let (server, _tree) = server();
    let head = format!(
        "POST /lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        32 * MEGABYTE
    );
    let mut request = large_lookup(&head);
    request.extend_from_slice(b"\r\n0\r\n\r\n");
    is_problem(
        &send_all_then_read(&server, &request),
        413,
        "body-too-large",
    );
}

#[test]
fn a_client_can_read_the_answer_even_if_its_body_was_not_read() {
    let (server, _tree) = server();
    let length = 32 * MEGABYTE;
    for (line, status, kind) in [
        ("POST /nowhere", 404, "not-found"),
        ("POST /readyz", 405, "method-not-allowed"),
        ("POST /environments/none/reload", 404, "unknown-environment"),
    ] {
        let head =
            format!("{line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        is_problem(
            &send_all_then_read(&server, &large_lookup(&head)),
            status,
            kind,
        );
    }
    let head = lookup_head(length, "").replace("application/json", "text/plain");
    let answer = send_all_then_read(&server, &large_lookup(&head));
    is_problem(&answer, 415, "unsupported-media-type");
}

#[test]
fn a_body_that_is_declared_too_large_is_refused_before_it_is_sent() {
    let (server, _tree) = server();
    let mut stream = server.connect().unwrap();
    let head = lookup_head(32 * MEGABYTE, "Expect: 100-continue\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    is_problem(&Answer::read(&mut stream).unwrap(), 413, "body-too-large");
}

#[test]
fn curl_shows_why_a_body_is_refused() {
    if !has_tool("curl") {
        return;
    }
    let (server, _tree) = server();
    let files = Tree::empty();
    files.write("R/body.json", vec![b' '; 32 * MEGABYTE]);
    for expect in ["Expect:", "Expect: 100-continue"] {
        let output = Command::new("curl")
            .args(["-sS", "--max-time", "30", "-w", "\n%{http_code}"])
            .args(["-H", "Content-Type: application/json", "-H", expect])
            .arg("--data-binary")
            .arg(format!("@{}", files.path("R/body.json").display()))
            .arg(format!("http://{}/lookup", server.address))
            .output()
            .unwrap();
        let (stdout, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(0), "{expect}: {stderr}");
        assert!(stdout.contains("/problems/body-too-large"), "{stdout}");
        assert!(stdout.ends_with("\n413"), "{stdout}");
    }
}

#[test]
fn discarding_a_body_is_bounded_in_bytes() {
    let (server, _tree) = server();
    let mut stream = server.connect().unwrap();
    stream
        .write_all(lookup_head(usize::MAX >> 2, "").as_bytes())
        .unwrap();
    let piece = vec![b' '; MEGABYTE];
    let sent = (0..4096).take_while(|_| stream.write_all(&piece).is_ok());
    let megabytes = sent.count();
    assert!((64..1024).contains(&megabytes), "{megabytes}");
}

#[test]
fn discarding_a_body_is_bounded_in_time() {
    let (server, _tree) = server();
    let mut stream = server.connect().unwrap();
    stream
        .write_all(lookup_head(usize::MAX >> 2, "").as_bytes())
        .unwrap();
    is_problem(&Answer::read(&mut stream).unwrap(), 413, "body-too-large");
    let start = Instant::now();
    wait_for("the server to close the connection", || {
        stream.write_all(b" ").err()
    });
    assert!(
        start.elapsed() > Duration::from_secs(1),
        "it closed at once"
    );
}

#[test]
fn a_malformed_or_oversized_head_is_a_problem() {
    let (server, _tree) = server();
    let long = "k".repeat(70_000);
    let huge = "x".repeat(4 * MEGABYTE);
    let fields = "X-Some: thing\r\n".repeat(200);
    for (request, status, kind) in [
        (
            format!("GET /lookup/{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            414,
            "uri-too-long",
        ),
        (
            format!("GET /lookup/k HTTP/1.1\r\nX-Huge: {huge}\r\n\r\n"),
            431,
            "head-too-large",
        ),
        (
            format!("GET /lookup/k HTTP/1.1\r\n{fields}\r\n"),
            431,
            "head-too-large",
        ),
        (
            "GET /lookup/k\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
            400,
            "bad-request",
        ),
        ("nonsense\r\n\r\n".to_owned(), 400, "bad-request"),
    ] {
        is_problem(
            &send_all_then_read(&server, request.as_bytes()),
            status,
            kind,
        );
    }
    let metrics = server.get("/metrics");
    let text = metrics.text();
    assert!(
        text.contains("hierad_http_requests_total{status=\"4xx\"} 5\n"),
        "{text}"
    );
    assert_eq!(server.get("/livez").status, 200);
}
