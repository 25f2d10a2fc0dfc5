//! Event streams: how many there may be, and for how long.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::{check_lookup, metric, refused, tree};
use crate::support::process::{Answer, Process, wait_for};

/// Asks for the events of the environment, and reads the head of the answer.
fn try_open(server: &Process) -> std::io::Result<(TcpStream, Answer)> {
    request_events(server.connect()?)
}

fn request_events(mut stream: TcpStream) -> std::io::Result<(TcpStream, Answer)> {
    let request = b"GET /environments/production/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request)?;
    let answer = Answer::read(&mut stream)?;
    Ok((stream, answer))
}

#[track_caller]
fn open(server: &Process) -> (TcpStream, Answer) {
    try_open(server).unwrap()
}

#[test]
fn event_streams_are_limited_and_end_at_their_maximum_age() {
    let tree = tree();
    let variables = [
        ("HIERAD_MAX_EVENT_STREAMS", "4"),
        ("HIERAD_EVENT_STREAM_MAX_AGE_S", "3"),
    ];
    let server = Process::start(&tree, &variables);
    let (mut first, answer) = open(&server);
    assert_eq!(answer.status, 200, "{}", answer.head);
    let (_second, answer) = open(&server);
    assert_eq!(answer.status, 200, "{}", answer.head);
    assert_eq!(metric(&server, "hierad_event_streams"), 2);
    let (_, answer) = open(&server);
    assert_eq!(answer.status, 503, "{}", answer.head);
    assert!(
        answer
            .text()
            .contains("from one address; the limit is 2 (half of `connections.max_event_streams`)"),
        "{}",
        answer.text()
    );
    assert_eq!(refused(&server, "event_streams"), 1);
    // The other half is for others.
    let other = server.connect_from("127.0.0.2").unwrap();
    let (_other, answer) = request_events(other).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.head);
    check_lookup(&server);
    // The end of the stream, after which the connection can be used again.
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n0\r\n\r\n") {
        first.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    assert!(String::from_utf8_lossy(&text).contains("event: loaded"));
    let (_third, answer) = wait_for("room for a stream", || {
        Some(open(&server)).filter(|(_, answer)| answer.status == 200)
    });
    assert_eq!(answer.status, 200);
}

#[test]
fn four_hundred_streams_at_three_hundred_descriptors_lock_nobody_out() {
    let tree = tree();
    let variables = [("HIERAD_DRAIN_DELAY_MS", "0")];
    let server = Process::launch_after("ulimit -n 300", tree.hierad("serve"), &variables);
    server.wait_until_ready();
    let before = server.memory();
    // A connection that is turned away may be closed before it has sent its request.
    let streams: Vec<_> = (0..400).filter_map(|_| try_open(&server).ok()).collect();
    let count = |status: u16| {
        let streams = streams.iter();
        streams
            .filter(|(_, answer)| answer.status == status)
            .count()
    };
    assert!(count(200) >= 5, "{} streams", count(200));
    assert!(count(503) >= 300, "{} refused", count(503));
    assert_eq!(count(200) + count(503), streams.len());
    check_lookup(&server);
    tree.write("/data/common.yaml", "k: 2\n");
    let reload = "POST /environments/production/reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let outcome = server.send(reload.as_bytes());
    assert_ne!(outcome.json()["outcome"], "kept", "{}", outcome.text());
    assert_eq!(server.get("/lookup/k").json()["value"], 2);
    assert!(server.open_files() < 300);
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 50, "{grown} MB for event streams");
    let log = server.stop();
    assert!(!log.contains("Too many open files"), "{log}");
}
