//! What clients make the server hold in memory: bodies that do not arrive, and answers that are not read.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{check_lookup, refused, tree};
use crate::support::process::{Answer, Process, lookup_head, wait_for};

/// Sends a request from another address than the other clients.
#[track_caller]
fn send_from_elsewhere(server: &Process, request: &[u8]) -> Answer {
    let mut stream = server.connect_from("127.0.0.2").unwrap();
    stream.write_all(request).unwrap();
    Answer::read(&mut stream).unwrap()
}

const MEGABYTE: usize = 1024 * 1024;

/// Checks that lookups are answered, soon.
#[track_caller]
fn check_soon(server: &Process) {
    let start = Instant::now();
    for _ in 0..10 {
        check_lookup(server);
    }
    let took = start.elapsed();
    assert!(took < Duration::from_secs(5), "ten lookups took {took:?}");
}

#[test]
fn half_sent_bodies_are_bounded_and_lock_nobody_out() {
    const CLIENTS: usize = 200;
    let tree = tree();
    let variables = [
        ("HIERAD_MAX_BODY_BYTES_IN_FLIGHT", "8000000"),
        ("HIERAD_REQUEST_TIMEOUT_MS", "60000"),
    ];
    let server = Process::start(&tree, &variables);
    check_soon(&server);
    let before = server.memory();
    // All but the last byte of a body of one megabyte.
    let mut request = lookup_head(MEGABYTE, "").into_bytes();
    request.resize(request.len() + MEGABYTE - 1, b' ');
    let clients: Vec<TcpStream> = (0..CLIENTS)
        .map(|_| {
            let mut stream = server.connect().unwrap();
            // Those that are refused may be unable to send all of it.
            _ = stream.write_all(&request);
            stream
        })
        .collect();
    // 8 MB are less than eight whole bodies, and half of them is for others.
    wait_for("bodies to be refused", || {
        (refused(&server, "body_bytes_in_flight") >= CLIENTS as u64 - 8).then_some(())
    });
    check_soon(&server);
    let mut whole = br#"{"key":"k"}"#.to_vec();
    whole.resize(900_000, b' ');
    let mut request = lookup_head(whole.len(), "").into_bytes();
    request.extend_from_slice(&whole);
    assert_eq!(send_from_elsewhere(&server, &request).status, 200);
    let grown = server.peak_memory() - before;
    assert!(grown < 100, "{grown} MB for half-sent bodies");
    let answers = clients.into_iter().filter_map(|mut stream| {
        stream
            .set_read_timeout(Some(Duration::from_millis(1)))
            .unwrap();
        Answer::read(&mut stream).ok()
    });
    for answer in answers.filter(|answer| answer.status != 0) {
        assert_eq!(answer.status, 503, "{}", answer.head);
        assert!(
            answer
                .text()
                .contains("`connections.max_body_bytes_in_flight`")
        );
    }
    // Once the clients are gone, there is room for a large body.
    wait_for("room for a body", || {
        (server.lookup(&whole).status == 200).then_some(())
    });
}

#[test]
fn clients_that_do_not_read_are_bounded_and_lock_nobody_out() {
    const CLIENTS: usize = 40;
    let tree = tree();
    let large = "x".repeat(4 * MEGABYTE);
    tree.write("/data/common.yaml", format!("k: 1\nlarge: {large}\n"));
    let variables = [
        ("HIERAD_MAX_ANSWER_BYTES_IN_FLIGHT", "20000000"),
        ("HIERAD_SEND_TIMEOUT_MS", "3000"),
    ];
    let server = Process::start(&tree, &variables);
    assert_eq!(server.get("/lookup/large").status, 200);
    let before = server.memory();
    let start = Instant::now();
    let request = b"GET /lookup/large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let clients: Vec<TcpStream> = (0..CLIENTS)
        .map(|_| {
            let mut stream = server.connect().unwrap();
            stream.write_all(request).unwrap();
            stream
        })
        .collect();
    // 20 MB are four answers, and half of them is for others.
    wait_for("answers to be refused", || {
        (refused(&server, "answer_bytes_in_flight") >= 1).then_some(())
    });
    check_soon(&server);
    assert_eq!(send_from_elsewhere(&server, request).status, 200);
    wait_for("the clients to be dropped", || {
        let served = refused(&server, "send_timeout") + refused(&server, "answer_bytes_in_flight");
        (served == CLIENTS as u64).then_some(())
    });
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
    let grown = server.peak_memory() - before;
    assert!(grown < 120, "{grown} MB for answers that are not read");
    // While the clients still do not read, others get large answers.
    assert_eq!(server.get("/lookup/large").status, 200);
    drop(clients);
}
