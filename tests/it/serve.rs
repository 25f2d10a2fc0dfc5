//! The binary as a process: start, drain, timeouts, many connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::support::Tree;
use crate::support::process::{Answer, Process, lookup_head, wait_for};

fn tree() -> Tree {
    Tree::new(
        r#"
//- /hiera.yaml
version: 5
//- /data/common.yaml
lookup_options: {secret: {convert_to: Sensitive}}
k: 1
secret: hunter2
text: "%{facts.last}"
"#,
    )
}

#[test]
fn the_server_starts_on_a_free_port_and_answers() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    assert_eq!(server.get("/livez").status, 200);
    let answer = server.lookup(br#"{"key":"k"}"#);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["value"], 1);
    assert_eq!(server.get("/lookup/k").json()["value"], 1);
}

#[test]
fn a_request_with_facts_of_900_kilobytes_is_answered() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let mut body = r#"{"key":"text","facts":{"#.to_owned();
    let mut number = 0;
    while body.len() < 900_000 {
        body += &format!(r#""fact_{number}":{{"some":["value",{number}]}},"#);
        number += 1;
    }
    body += r#""last":"here"}}"#;
    let answer = server.lookup(body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["value"], "here");
}

#[test]
fn fifty_connections_are_answered_concurrently() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let all_open = Barrier::new(50);
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let mut stream = server.connect().unwrap();
                all_open.wait();
                // Each connection stays open for several requests.
                for _ in 0..20 {
                    let body = br#"{"key":"k"}"#;
                    stream
                        .write_all(lookup_head(body.len(), "").as_bytes())
                        .unwrap();
                    stream.write_all(body).unwrap();
                    let answer = Answer::read(&mut stream).unwrap();
                    assert_eq!(
                        (answer.status, &answer.json()["value"]),
                        (200, &serde_json::json!(1))
                    );
                }
            });
        }
    });
}

/// Sends the head and half the body of a lookup, which the server is then reading. Returns the rest of the body.
pub(crate) fn half_sent(server: &Process) -> (TcpStream, &'static [u8]) {
    let (first, second) = br#"{"key":"k","node":"n"}"#.split_at(9);
    let mut stream = server.connect().unwrap();
    let head = lookup_head(first.len() + second.len(), "Expect: 100-continue\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let interim = Answer::read(&mut stream).unwrap();
    assert_eq!(interim.status, 100, "{}", interim.head);
    stream.write_all(first).unwrap();
    (stream, second)
}

#[test]
fn a_request_in_flight_is_finished_before_the_server_stops() {
    let tree = tree();
    let mut server = Process::start(&tree, &[("HIERAD_DRAIN_DELAY_MS", "1000")]);
    let (mut stream, rest) = half_sent(&server);
    let mut idle = server.connect().unwrap();
    idle.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    assert_eq!(Answer::read(&mut idle).unwrap().status, 200);
    server.terminate();
    wait_for("/readyz to fail", || {
        (server.get("/readyz").status == 503).then_some(())
    });
    let answer = server.lookup(br#"{"key":"k"}"#);
    assert_eq!(
        answer.status,
        200,
        "new requests are still answered: {}",
        answer.text()
    );
    assert_eq!(server.get("/livez").status, 200);
    wait_for("the end of listening", || {
        TcpStream::connect(server.address).is_err().then_some(())
    });
    assert!(server.ended().is_none(), "a request is in flight");
    stream.write_all(rest).unwrap();
    let answer = Answer::read(&mut stream).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let start = Instant::now();
    let status = wait_for("the end of the process", || server.ended());
    assert_eq!(status.code(), Some(0), "{}", server.log());
    assert!(
        start.elapsed() < Duration::from_secs(3),
        "an idle connection delays the end"
    );
}

#[test]
fn shutdown_waits_for_a_request_no_longer_than_its_timeout() {
    let variables = [
        ("HIERAD_DRAIN_DELAY_MS", "0"),
        ("HIERAD_SHUTDOWN_TIMEOUT_MS", "300"),
    ];
    let tree = tree();
    let mut server = Process::start(&tree, &variables);
    let (_stream, _) = half_sent(&server);
    server.terminate();
    let status = wait_for("the end of the process", || server.ended());
    assert_eq!(status.code(), Some(0), "{}", server.log());
}

/// Waits until the server closes a connection, and returns what it sends before.
#[track_caller]
fn wait_for_close(stream: &mut TcpStream, what: &str) -> String {
    let start = Instant::now();
    let mut received = Vec::new();
    let limit = Duration::from_secs(5);
    stream.set_read_timeout(Some(limit)).unwrap();
    // A reset counts too.
    _ = stream.read_to_end(&mut received);
    assert!(start.elapsed() < limit, "{what}: the connection stays open");
    String::from_utf8_lossy(&received).into_owned()
}

const IMPATIENT: [(&str, &str); 1] = [("HIERAD_REQUEST_TIMEOUT_MS", "500")];

#[test]
fn a_connection_with_an_incomplete_head_is_closed() {
    let tree = tree();
    let server = Process::start(&tree, &IMPATIENT);
    let mut stream = server.connect().unwrap();
    stream
        .write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        .unwrap();
    wait_for_close(&mut stream, "half a head");
}

#[test]
fn a_connection_with_a_slow_head_is_closed() {
    let tree = tree();
    let server = Process::start(&tree, &IMPATIENT);
    let mut stream = server.connect().unwrap();
    stream
        .write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        .unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let start = Instant::now();
    let mut byte = [0];
    // The timeout of the read is the pause between bytes.
    while stream.write_all(b"x").is_ok() && !matches!(stream.read(&mut byte), Ok(0)) {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "the connection stays open"
        );
    }
}

#[test]
fn a_silent_connection_is_closed() {
    let tree = tree();
    let server = Process::start(&tree, &IMPATIENT);
    let mut stream = server.connect().unwrap();
    wait_for_close(&mut stream, "nothing sent");
}

#[test]
fn a_connection_with_an_incomplete_request_line_is_closed() {
    let tree = tree();
    let server = Process::start(&tree, &IMPATIENT);
    for start in ["P", "PRI * HTTP/2.0\r\n", "GET /li"] {
        let mut stream = server.connect().unwrap();
        stream.write_all(start.as_bytes()).unwrap();
        wait_for_close(&mut stream, start);
    }
}

#[test]
fn an_incomplete_body_is_a_problem() {
    let tree = tree();
    let server = Process::start(&tree, &IMPATIENT);
    let (mut stream, _) = half_sent(&server);
    let answer = Answer::read(&mut stream).unwrap();
    assert_eq!(answer.status, 408, "{}", answer.text());
    assert_eq!(answer.json()["type"], "/problems/request-timeout");
}

#[test]
fn requests_that_are_not_http_are_refused_and_the_server_survives() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"nonsense\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut stream = server.connect().unwrap();
        stream.write_all(garbage).unwrap();
        let reply = wait_for_close(&mut stream, "garbage");
        assert!(
            reply.is_empty() || reply.starts_with("HTTP/1.1 400"),
            "{reply}"
        );
    }
    assert_eq!(server.lookup(br#"{"key":"k"}"#).status, 200);
}

#[test]
fn the_log_contains_no_looked_up_values() {
    let variables = [
        ("HIERAD_LOG_LEVEL", "trace"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
    ];
    let tree = tree();
    let server = Process::start(&tree, &variables);
    let body = br#"{"key":"secret","explain":true,"facts":{"pass":"swordfish"}}"#;
    assert_eq!(server.lookup(body).status, 200);
    assert_eq!(
        server
            .lookup(br#"{"key":"secret","type":"Integer"}"#)
            .status,
        422
    );
    let log = server.stop();
    assert!(log.contains("listening"), "{log}");
    assert!(
        !log.contains("hunter2") && !log.contains("swordfish"),
        "{log}"
    );
}

#[test]
fn logs_can_be_json() {
    let variables = [
        ("HIERAD_LOG_FORMAT", "json"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
    ];
    let tree = tree();
    let log = Process::start(&tree, &variables).stop();
    assert!(log.lines().count() >= 3, "{log}");
    for line in log.lines() {
        let line: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(
            line["message"].is_string() && line["level"].is_string(),
            "{line}"
        );
    }
}

#[test]
fn a_port_in_use_is_named() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let address = server.address.to_string();
    let output = tree
        .hierad("serve")
        .args(["--listen", &address])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&address), "{stderr}");
}
