//! What clients may do on their connections: how many, how much, how slowly, and from where.

mod browsers;
mod framing;
mod limits;
mod memory;
mod streams;

use crate::support::Tree;
use crate::support::process::Process;

fn tree() -> Tree {
    Tree::new("//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\nk: 1\n")
}

/// The value of a metric.
#[track_caller]
fn metric(server: &Process, name: &str) -> u64 {
    let text = server.get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let value = line.unwrap_or_else(|| panic!("no {name}:\n{text}"));
    value.trim().parse().unwrap()
}

/// How often something was refused for this reason.
#[track_caller]
fn refused(server: &Process, reason: &str) -> u64 {
    metric(
        server,
        &format!("hierad_refused_total{{reason=\"{reason}\"}}"),
    )
}

/// Checks that the server answers a lookup.
#[track_caller]
fn check_lookup(server: &Process) {
    let answer = server.lookup(br#"{"key":"k"}"#);
    assert_eq!(answer.status, 200, "{} {}", answer.head, server.log());
}
