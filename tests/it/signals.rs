//! Signals to the binary: which stop it, and which reload.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::serve::half_sent;
use crate::support::Tree;
use crate::support::process::{Process, wait_for};

fn tree() -> Tree {
    Tree::new("//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\nk: 1\n")
}

#[test]
fn sighup_reloads_every_environment_and_finds_new_ones() {
    let tree = tree();
    let mut server = Process::start(&tree, &[("HIERAD_WATCH", "off")]);
    tree.write("/data/common.yaml", "k: 2\n");
    tree.write("C/environments/staging/hiera.yaml", "version: 5\n");
    tree.write("C/environments/staging/data/common.yaml", "k: 3\n");
    server.signal(Signal::HUP);
    for (environment, value) in [("production", 2), ("staging", 3)] {
        let body = format!(r#"{{"key":"k","environment":"{environment}"}}"#);
        wait_for("the data on disk to be served", || {
            assert!(server.ended().is_none(), "{}", server.log());
            let answer = server.lookup(body.as_bytes());
            (answer.status == 200 && answer.json()["value"] == value).then_some(())
        });
    }
}

/// Signals a server that has a request in flight, and again once it drains.
#[track_caller]
fn stop_twice(variables: &[(&str, &str)], second: Signal) {
    let tree = tree();
    let mut server = Process::start(&tree, variables);
    let (_stream, _) = half_sent(&server);
    server.signal(Signal::INT);
    wait_for("the server to drain", || {
        server.log().contains("stopping").then_some(())
    });
    assert!(server.ended().is_none(), "a request is in flight");
    let start = Instant::now();
    server.signal(second);
    let status = wait_for("the end of the process", || server.ended());
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{}",
        server.log()
    );
    assert_eq!(status.code(), Some(1), "{}", server.log());
    // The line may be read from the pipe after the process has ended.
    wait_for("the reason in the log", || {
        server.log().contains("second signal").then_some(())
    });
}

#[test]
fn a_second_signal_ends_the_drain_delay_at_once() {
    stop_twice(&[("HIERAD_DRAIN_DELAY_MS", "120000")], Signal::INT);
}

#[test]
fn a_second_signal_drops_requests_in_flight() {
    let variables = [
        ("HIERAD_DRAIN_DELAY_MS", "0"),
        ("HIERAD_SHUTDOWN_TIMEOUT_MS", "120000"),
        ("HIERAD_REQUEST_TIMEOUT_MS", "120000"),
    ];
    stop_twice(&variables, Signal::TERM);
}
