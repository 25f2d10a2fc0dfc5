//! Several servers beside each other: limits, circuit breakers, and one deadline for all of them.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::Remote;
use crate::support::events::Events;
use crate::support::process::{Process, wait_for};
use crate::support::{TestServer, Tree};

/// A tree whose levels ask these addresses, in order.
fn tree_of(uris: &[String], options: &str) -> Tree {
    let tree = Tree::empty();
    let levels = uris.iter().enumerate().map(|(number, uri)| {
        format!(
            "  - {{name: l{number}, lookup_key: hiera_http, uri: \"{uri}\", options: {options}}}\n"
        )
    });
    let levels: String = levels.collect();
    tree.write("/hiera.yaml", format!("version: 5\nhierarchy:\n{levels}"));
    tree
}

/// A server that answers every request with a status that can be changed.
fn remote_with(status: &Arc<AtomicU16>) -> Remote {
    let status = status.clone();
    Remote::new(move |_| (status.load(Ordering::SeqCst), r#"{"k": 1}"#.to_owned()))
}

fn lookup(number: usize) -> Value {
    json!({ "key": "k", "facts": { "number": number } })
}

#[test]
fn a_slow_server_does_not_delay_lookups_that_ask_another() {
    let (release, released) = watch::channel(false);
    let slow = Remote::held_until(released, |_| (200, r#"{"k": "slow"}"#.to_owned()));
    let fast = Remote::with(&json!({ "k": "fast" }));
    let options = "{output: json, http_connect_timeout: 60, http_read_timeout: 60}";
    let tree = tree_of(&[slow.uri("/%{facts.number}")], options);
    tree.write(
        "C/environments/fast/hiera.yaml",
        format!(
            "version: 5\nhierarchy: [{{name: l, lookup_key: hiera_http, uri: \"{}\", options: {options}}}]\n",
            fast.uri("/%{facts.number}")
        ),
    );
    let settings = [
        ("HIERAD_REMOTE_MAX_REQUESTS", "8"),
        ("HIERAD_REMOTE_MAX_REQUESTS_PER_SERVER", "4"),
        ("HIERAD_REMOTE_DEADLINE_S", "60"),
    ];
    let server = Process::start(&tree, &settings);
    std::thread::scope(|scope| {
        // More lookups than there are requests in all.
        let (answered, answers) = mpsc::channel();
        for number in 0..20 {
            let (server, answered) = (&server, answered.clone());
            scope.spawn(move || {
                let answer = server.lookup(lookup(number).to_string().as_bytes());
                answered.send(answer.value_or_status()).unwrap();
            });
        }
        drop(answered);
        wait_for("the requests", || (slow.paths().len() == 4).then_some(()));
        for number in 0..20 {
            let mut request = lookup(number);
            request["environment"] = json!("fast");
            let answer = server.lookup(request.to_string().as_bytes());
            assert_eq!(answer.value_or_status(), json!("fast"));
        }
        // All of the others still wait.
        assert!(answers.try_recv().is_err());
        assert_eq!(slow.paths().len(), 4);
        release.send(true).unwrap();
        assert_eq!(answers.iter().collect::<Vec<_>>(), vec![json!("slow"); 20]);
    });
}

#[test]
fn a_server_that_fails_repeatedly_gets_no_more_requests() {
    let status = Arc::new(AtomicU16::new(503));
    let remote = remote_with(&status);
    let tree = tree_of(&[remote.uri("/%{facts.number}")], "{output: json}");
    let server = TestServer::of(tree, "remote: {breaker_failures: 3}");
    let metric = |name: &str| {
        let text = server.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim().to_owned())
    };
    let gauge = format!(
        "hierad_remote_circuit_open{{server=\"{}\"}}",
        remote.uri("")
    );
    assert_eq!(metric(&gauge), None);
    for number in 0..3 {
        let detail = server.failure(&lookup(number));
        assert!(detail.contains("returned status 503"), "{detail}");
    }
    // The first pause is a second, which is over quickly on a busy machine; the trial fails as well.
    let detail = (3..).map(|number| server.failure(&lookup(number)));
    let detail = detail
        .take(1000)
        .find(|detail| detail.contains("circuit breaker is open"))
        .unwrap();
    let expected = "no requests to this server until ";
    assert!(detail.contains(expected), "{detail}");
    assert_eq!(metric(&gauge).as_deref(), Some("1"));
    let refused = "hierad_remote_requests_total{outcome=\"refused\"}";
    assert_ne!(metric(refused).as_deref(), Some("0"));
    assert_ne!(
        metric("hierad_remote_circuit_opened_total").as_deref(),
        Some("0")
    );
    status.store(200, Ordering::SeqCst);
    wait_for("the trial", || {
        (server.lookup(&lookup(0)).status == 200).then_some(())
    });
    assert_eq!(metric(&gauge).as_deref(), Some("0"));
}

#[test]
fn circuit_breakers_are_reported_as_events() {
    let status = Arc::new(AtomicU16::new(503));
    let remote = remote_with(&status);
    let tree = tree_of(&[remote.uri("/%{facts.number}")], "{output: json}");
    tree.write("C/environments/local/hiera.yaml", "version: 5\n");
    tree.write("C/environments/local/data/common.yaml", "k: 1\n");
    let settings = [
        ("HIERAD_REMOTE_BREAKER_FAILURES", "2"),
        ("HIERAD_SETTLE_MS", "20"),
    ];
    let server = Process::start(&tree, &settings);
    let mut events = Events::open(&server, "production");
    let mut local = Events::open(&server, "local");
    assert_eq!(
        (events.next().0, local.next().0),
        ("loaded".into(), "loaded".into())
    );
    for number in 0..2 {
        let answer = server.lookup(lookup(number).to_string().as_bytes());
        assert_eq!(answer.status, 422, "{}", answer.text());
    }
    let (name, data) = events.next();
    assert_eq!(name, "circuit_open");
    assert_eq!(data["server"], json!(remote.uri("")));
    assert_eq!(data["failures"], 2);
    assert_eq!(data["reason"], "returned status 503");
    assert!(data["until"].as_str().unwrap().ends_with('Z'), "{data}");
    // A new stream starts with the state.
    let mut late = Events::open(&server, "production");
    assert_eq!(late.next().0, "loaded");
    let (name, later) = late.next();
    assert_eq!(
        (name.as_str(), &later["server"]),
        ("circuit_open", &data["server"])
    );
    status.store(200, Ordering::SeqCst);
    server.wait_for_value(&lookup(2), &json!(1));
    let closed = std::iter::repeat_with(|| events.next()).find(|(name, _)| name != "circuit_open");
    let expected = json!({ "server": remote.uri("") });
    assert_eq!(closed, Some(("circuit_closed".to_owned(), expected)));
    // An environment that asks no other server does not get these.
    tree.write("C/environments/local/data/common.yaml", "k: 2\n");
    assert_eq!(local.next().0, "loaded");
}

#[test]
fn all_answers_of_a_lookup_share_one_deadline() {
    let (_release, released) = watch::channel(false);
    let remote = Remote::held_until(released, |_| (200, "{}".to_owned()));
    let uris: Vec<String> = (0..4)
        .map(|number| remote.uri(&format!("/{number}")))
        .collect();
    let settings = "remote: {deadline_s: 2}";
    let lookup_within = |options: &str, limit: Duration| {
        let server = TestServer::of(tree_of(&uris, options), settings);
        let start = Instant::now();
        let reply = server.lookup(&json!({ "key": "k" }));
        let took = start.elapsed();
        assert!(took < limit, "{took:?}");
        reply
    };
    // Without the shared deadline, each level would wait for its own timeout.
    let options = "{output: json, failure: graceful, http_read_timeout: 60}";
    let reply = lookup_within(options, Duration::from_secs(6));
    assert_eq!(reply.status, 404, "{}", reply.text());
    let asked = remote.paths();
    assert_eq!(asked, ["/0"], "{asked:?}");
    let options = "{output: json, http_read_timeout: 60}";
    let reply = lookup_within(options, Duration::from_secs(6));
    let detail = reply.detail(422, "lookup-failed");
    assert!(
        detail.contains("2 s in all (`remote.deadline_s`)"),
        "{detail}"
    );
    assert!(detail.contains(&remote.uri("/0")), "{detail}");
}
