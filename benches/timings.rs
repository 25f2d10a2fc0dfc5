//! CPU time of lookups in the resolver, and of requests without a socket on one and on two threads.
//!
//!     cargo bench --bench timings     one line of JSON
//!
//! `peers.py` runs it in turn with the programs that it compares; absolute times mean little.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that cannot run should say so and stop"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Request as HttpRequest;
use hiera_resolver::Snapshot;
use hierad::config::Limits;
use hierad::http::{App, Gate};
use http_body_util::BodyExt;
use tower::ServiceExt;
use workload::{Lookup, bodies, load, tree};

#[path = "workload/workload.rs"]
mod workload;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const KINDS: [&str; 9] = [
    "first_common",
    "first_node",
    "unique",
    "hash",
    "deep",
    "bigdeep",
    "interp",
    "module",
    "miss",
];
/// Lookups per kind.
const LOOKUPS: usize = 1000;
/// The CPU time over which each value is measured. The resolution of the kernel is up to 4 ms.
const SPAN: Duration = Duration::from_millis(200);

fn main() {
    if std::env::args().any(|argument| argument == "--test") {
        // `cargo test --benches` only checks that it builds and starts.
        return;
    }
    let tree = tree("medium");
    let environments = load(&tree);
    let environment = environments.get("production").unwrap();
    let snapshot = &environment.snapshot;
    let (mut fresh, mut warm) = (BTreeMap::new(), BTreeMap::new());
    for kind in KINDS {
        let bodies = bodies(&tree, kind, LOOKUPS);
        let lookups: Vec<Lookup> = bodies.iter().map(|body| Lookup::read(body)).collect();
        fresh.insert(kind, fresh_cost(snapshot, &lookups));
        warm.insert(kind, warm_cost(snapshot, &lookups));
    }
    let bodies = bodies(&tree, "first_common", LOOKUPS);
    let gate = App::new(environments, Limits::default()).service();
    let request = || request_cost(&gate, &bodies);
    let small: Vec<String> = bodies.iter().map(|body| without_facts(body)).collect();
    let private = || private_cost(&bodies);
    println!(
        "{}",
        serde_json::json!({
            "resolver": {"fresh": fresh, "warm": warm},
            "request": {"1": on_threads(1, request), "2": on_threads(2, request)},
            "without facts": request_cost(&gate, &small),
            "nothing shared": {"1": on_threads(1, private), "2": on_threads(2, private)},
        })
    );
}

/// Lookups for a different node each.
fn fresh_cost(snapshot: &Snapshot, lookups: &[Lookup]) -> f64 {
    let mut out = Vec::with_capacity(1 << 20);
    cost(lookups.len(), || {
        for lookup in lookups {
            out.clear();
            lookup.resolve(&mut lookup.session(snapshot), &mut out);
            black_box(&out);
        }
    })
}

/// Lookups for one node, a hundred per session, as for a catalog.
fn warm_cost(snapshot: &Snapshot, lookups: &[Lookup]) -> f64 {
    let mut out = Vec::with_capacity(1 << 20);
    let node = lookups.first().unwrap();
    cost(lookups.len(), || {
        for lookups in lookups.chunks(100) {
            let mut session = node.session(snapshot);
            for lookup in lookups {
                out.clear();
                lookup.resolve(&mut session, &mut out);
                black_box(&out);
            }
        }
    })
}

/// A request for the same node that sends only its name.
fn without_facts(body: &str) -> String {
    let mut body: serde_json::Value = serde_json::from_str(body).unwrap();
    serde_json::json!({"key": body["key"].take(), "trusted": body["trusted"].take()}).to_string()
}

/// Whole requests, from the bytes of the body to the bytes of the answer.
fn request_cost(gate: &Gate, bodies: &[String]) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    cost(bodies.len(), || {
        runtime.block_on(async {
            for body in bodies {
                let request = HttpRequest::post("/lookup")
                    .header("content-type", "application/json")
                    .body(Body::from(Bytes::from(body.clone())))
                    .unwrap();
                let response = gate.clone().oneshot(request).await.unwrap();
                assert!(response.status().is_success());
                black_box(response.into_body().collect().await.unwrap().to_bytes());
            }
        });
    })
}

/// The floor for scaling: threads that share nothing but the machine.
fn private_cost(bodies: &[String]) -> f64 {
    let bodies = bodies.to_vec();
    cost(bodies.len(), || {
        for body in &bodies {
            black_box(serde_json::from_str::<serde_json::Value>(body).unwrap());
        }
    })
}

/// The mean cost while this number of threads do the same work.
fn on_threads(count: usize, work: impl Fn() -> f64 + Sync) -> f64 {
    let together = Barrier::new(count);
    let total: f64 = thread::scope(|scope| {
        let run = || {
            together.wait();
            work()
        };
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    total / count as f64
}

/// CPU time of this thread in microseconds per operation. `work` does `count` operations, and is repeated over [`SPAN`].
fn cost(count: usize, mut work: impl FnMut()) -> f64 {
    work();
    let (start, mut rounds) = (cpu_time(), 0_usize);
    loop {
        work();
        rounds += 1;
        let spent = cpu_time() - start;
        if spent >= SPAN {
            return spent.as_secs_f64() * 1e6 / (rounds * count) as f64;
        }
    }
}

fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux is needed");
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}
