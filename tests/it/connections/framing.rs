//! RFC 9112: which heads are refused, each over a raw connection.

use std::io::{Read as _, Write as _};

use super::{refused, tree};
use crate::support::process::{Answer, Process};

const LOOKUP: &str = r#"{"key":"k"}"#;
const GET: &str = "GET /lookup/k HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Sends bytes and reads everything until the server closes the connection.
#[track_caller]
fn exchange(server: &Process, request: &str) -> String {
    let mut stream = server.connect().unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn statuses(answers: &str) -> Vec<&str> {
    let lines = answers.split("HTTP/1.1 ").skip(1);
    lines.map(|line| line.split(' ').next().unwrap()).collect()
}

#[test]
fn heads_that_servers_read_differently_are_refused() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let post = "POST /lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let mut count = 0;
    for (request, reason) in [
        (
            "GET /lookup/k HTTP/1.1\r\n\r\n".to_owned(),
            "`Host` is missing",
        ),
        (
            "GET /lookup/k HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n".to_owned(),
            "more than one field `Host`",
        ),
        (
            format!("{post}Content-Length: 11\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "both `Content-Length` and `Transfer-Encoding`",
        ),
        (
            format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 11\r\n\r\n0\r\n\r\n"),
            "both `Content-Length` and `Transfer-Encoding`",
        ),
        (
            format!("{post}Content-Length: 11\r\nContent-Length: 12\r\n\r\n{LOOKUP}"),
            "`Content-Length` is not one number",
        ),
        (
            format!("{post}Content-Length: 11, 11\r\n\r\n{LOOKUP}"),
            "`Content-Length` is not one number",
        ),
        (
            format!("{post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            "`chunked`",
        ),
        (
            "GET /lookup/k HTTP/1.1\nHost: localhost\r\n\r\n".to_owned(),
            "bare line feed",
        ),
        (
            "GET /lookup/k HTTP/1.1\r\nHost: localhost\n\r\n".to_owned(),
            "bare line feed",
        ),
        (
            "GET /lookup/k HTTP/1.1\r\nHost: localhost\r\n\n".to_owned(),
            "bare line feed",
        ),
        (
            "GET /lookup/k HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n".to_owned(),
            "continued on a second line",
        ),
    ] {
        let answer = exchange(&server, &request);
        assert_eq!(statuses(&answer), ["400"], "{request}\n{answer}");
        assert!(answer.contains(reason), "{request}\n{answer}");
        assert!(answer.contains("/problems/bad-request"), "{answer}");
        // After another request on the same connection: that one is answered first.
        let answer = exchange(&server, &format!("{GET}{request}{GET}"));
        assert_eq!(statuses(&answer), ["200", "400"], "{request}\n{answer}");
        count += 2;
    }
    assert_eq!(refused(&server, "head"), count);
}

#[test]
fn a_request_behind_a_body_is_checked_as_well() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let post = "POST /lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for body in [
        format!("Content-Length: {}\r\n\r\n{LOOKUP}", LOOKUP.len()),
        format!(
            "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{LOOKUP}\r\n0\r\n\r\n",
            LOOKUP.len()
        ),
    ] {
        let last = GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let answer = exchange(&server, &format!("{post}{body}{GET}{last}"));
        assert_eq!(statuses(&answer), ["200", "200", "200"], "{answer}");
        let answer = exchange(&server, &format!("{post}{body}GET / HTTP/1.1\r\n\r\n{GET}"));
        assert_eq!(statuses(&answer), ["200", "400"], "{answer}");
    }
}

#[test]
fn http_1_0_needs_no_host() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let answer = server.send(b"GET /lookup/k HTTP/1.0\r\n\r\n");
    assert_eq!(answer.status, 200, "{}", answer.head);
}

#[test]
fn an_encoded_body_is_refused() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let post = |encoding: &str| {
        let head = format!(
            "POST /lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Encoding: {encoding}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{LOOKUP}",
            LOOKUP.len()
        );
        server.send(head.as_bytes())
    };
    let answer = post("gzip");
    assert_eq!(answer.status, 415, "{}", answer.text());
    let detail = answer.json()["detail"].to_string();
    assert!(
        detail.contains("`gzip`") && detail.contains("without `Content-Encoding`"),
        "{detail}"
    );
    assert_eq!(post("identity").status, 200);
    assert_eq!(refused(&server, "content_encoding"), 1);
}

#[test]
fn a_head_has_a_size_limit() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let head = |size: usize| {
        format!(
            "GET /lookup/k HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
            "x".repeat(size)
        )
    };
    assert_eq!(server.send(head(60_000).as_bytes()).status, 200);
    let answer = server.send(head(70_000).as_bytes());
    assert_eq!(answer.status, 431, "{}", answer.head);
    assert!(
        answer.text().contains("`connections.max_head_size`"),
        "{}",
        answer.text()
    );
    let answer = server.send(format!("GET /{} HTTP/1.1\r\n", "x".repeat(70_000)).as_bytes());
    assert_eq!(answer.status, 414, "{}", answer.head);

    let server = Process::start(&tree, &[("HIERAD_MAX_HEAD_SIZE", "10000")]);
    assert_eq!(server.send(head(9_000).as_bytes()).status, 200);
    assert_eq!(server.send(head(11_000).as_bytes()).status, 431);
}

#[test]
fn a_head_that_arrives_byte_by_byte_is_read() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let mut stream = server.connect().unwrap();
    for request in [
        GET.to_owned(),
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: y\n\r\n".to_owned(),
    ] {
        for byte in request.as_bytes().chunks(1) {
            stream.write_all(byte).unwrap();
        }
        let answer = Answer::read(&mut stream).unwrap();
        let expected = if request == GET { 200 } else { 400 };
        assert_eq!(answer.status, expected, "{}", answer.text());
    }
}
