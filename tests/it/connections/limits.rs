//! How many connections and requests there may be. Excess is refused at once, and whoever keeps to the limits is served.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{check_lookup, metric, refused, tree};
use crate::serve::half_sent;
use crate::support::process::{Answer, Process, wait_for};

#[track_caller]
fn is_overloaded(answer: &Answer, setting: &str) {
    assert_eq!(answer.status, 503, "{} {}", answer.head, answer.text());
    assert!(
        answer
            .head
            .to_lowercase()
            .contains("\r\nretry-after: 1\r\n"),
        "{}",
        answer.head
    );
    let problem = answer.json();
    assert_eq!(problem["type"], "/problems/overloaded");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains(&format!("`connections.{setting}`")),
        "{detail}"
    );
}

#[test]
fn one_address_cannot_take_all_connections() {
    let tree = tree();
    let variables = [
        ("HIERAD_MAX_CONNECTIONS", "12"),
        ("HIERAD_MAX_CONNECTIONS_PER_ADDRESS", "8"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
    ];
    let server = Process::start(&tree, &variables);
    let mut idle: Vec<TcpStream> = (0..8).map(|_| server.connect().unwrap()).collect();
    let start = Instant::now();
    for _ in 0..5 {
        // Without a request, and with one.
        let answer = Answer::read(&mut server.connect().unwrap()).unwrap();
        is_overloaded(&answer, "max_connections_per_address");
        is_overloaded(&server.get("/livez"), "max_connections_per_address");
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );

    let other = |address: &str| {
        let mut stream = server.connect_from(address).unwrap();
        stream
            .write_all(b"GET /lookup/k HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let answer = Answer::read(&mut stream).unwrap();
        (stream, answer)
    };
    let others: Vec<_> = (2..6)
        .map(|number| other(&format!("127.0.0.{number}")))
        .collect();
    for (_, answer) in &others {
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let (_, answer) = other("127.0.0.9");
    is_overloaded(&answer, "max_connections");

    // A connection that is closed makes room.
    drop(idle.pop());
    drop(others);
    wait_for("room for a connection", || {
        (server.get("/livez").status == 200).then_some(())
    });
    drop(idle);
    check_lookup(&server);
    assert!(refused(&server, "connections_per_address") >= 10);
    assert_eq!(refused(&server, "connections"), 1);
    let log = server.stop();
    assert_eq!(log.matches("too many connections").count(), 1, "{log}");
}

#[test]
fn requests_in_flight_are_limited_but_not_health_checks() {
    let tree = tree();
    let server = Process::start(&tree, &[("HIERAD_MAX_REQUESTS_IN_FLIGHT", "3")]);
    let waiting: Vec<_> = (0..3).map(|_| half_sent(&server)).collect();
    let start = Instant::now();
    for _ in 0..5 {
        is_overloaded(&server.get("/lookup/k"), "max_requests_in_flight");
        is_overloaded(&server.lookup(br#"{"key":"k"}"#), "max_requests_in_flight");
        for path in ["/livez", "/readyz", "/metrics"] {
            assert_eq!(server.get(path).status, 200);
        }
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(refused(&server, "requests_in_flight"), 10);
    assert!(metric(&server, "hierad_requests_in_flight") >= 3);
    // The requests that are in flight are answered.
    for (mut stream, rest) in waiting {
        stream.write_all(rest).unwrap();
        assert_eq!(Answer::read(&mut stream).unwrap().status, 200);
    }
    wait_for("room for a request", || {
        (server.get("/lookup/k").status == 200).then_some(())
    });
}

#[test]
fn clients_cannot_use_up_all_file_descriptors() {
    const LIMIT: usize = 100;
    let tree = tree();
    let variables = [
        ("HIERAD_REQUEST_TIMEOUT_MS", "600000"),
        ("HIERAD_MAX_CONNECTIONS_PER_ADDRESS", "4096"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
    ];
    let server = Process::launch_after(
        &format!("ulimit -n {LIMIT}"),
        tree.hierad("serve"),
        &variables,
    );
    server.wait_until_ready();
    let mut mine = server.connect().unwrap();
    let request = b"GET /lookup/k HTTP/1.1\r\nHost: localhost\r\n\r\n";
    mine.write_all(request).unwrap();
    assert_eq!(Answer::read(&mut mine).unwrap().status, 200);

    let idle: Vec<TcpStream> = (0..2 * LIMIT).map(|_| server.connect().unwrap()).collect();
    wait_for("connections to be refused", || {
        server.log().contains("too many connections").then_some(())
    });
    // The one that is open is served, and there are descriptors for a reload.
    tree.write("/data/common.yaml", "k: 2\n");
    let reload = "POST /environments/production/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    mine.write_all(reload.as_bytes()).unwrap();
    let outcome = Answer::read(&mut mine).unwrap();
    assert_ne!(outcome.json()["outcome"], "kept", "{}", outcome.text());
    mine.write_all(request).unwrap();
    assert_eq!(Answer::read(&mut mine).unwrap().json()["value"], 2);
    assert!(server.open_files() < LIMIT);
    drop(idle);
    wait_for("room for a connection", || {
        (server.get("/livez").status == 200).then_some(())
    });
    let log = server.stop();
    assert!(
        log.contains(&format!("the limit on open files is {LIMIT}")),
        "{log}"
    );
    assert_eq!(log.matches("too many connections").count(), 1, "{log}");
    assert!(!log.contains("Too many open files"), "{log}");
}

#[test]
fn a_client_that_reads_nothing_is_dropped_and_a_slow_one_is_not() {
    let tree = tree();
    let large = "x".repeat(3 * 1024 * 1024);
    tree.write("/data/common.yaml", format!("k: 1\nlarge: {large}\n"));
    let variables = [("HIERAD_SEND_TIMEOUT_MS", "1000")];
    let server = Process::start(&tree, &variables);
    let ask = || {
        let mut stream = server.connect().unwrap();
        stream
            .write_all(
                b"GET /lookup/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            )
            .unwrap();
        stream
    };
    let mut silent = ask();
    let mut slow = ask();
    let (mut read, mut piece) = (0, vec![0; 32 * 1024]);
    let start = Instant::now();
    loop {
        let count = slow.read(&mut piece).expect("a slow client is served");
        if count == 0 {
            break;
        }
        read += count;
        // The pace of the client: it takes several times as long as a client may read nothing.
        std::thread::sleep(Duration::from_millis(40));
    }
    assert!(read > large.len(), "{read} bytes");
    assert!(
        start.elapsed() > Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    wait_for("the silent client to be dropped", || {
        (refused(&server, "send_timeout") == 1).then_some(())
    });
    // The rest of its answer is gone.
    let mut received = Vec::new();
    assert!(silent.read_to_end(&mut received).is_err());
    assert!(received.len() < large.len());
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}
