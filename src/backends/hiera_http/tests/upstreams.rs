//! Servers beside each other: limits of requests, circuit breakers, deadlines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::task::JoinSet;

use super::server::{self, HeldServer, Server, answer};
use super::*;
use crate::backends::hiera_http::circuit_event::CircuitEvent;

const PATIENT: &str = "{http_connect_timeout: 60, http_read_timeout: 60}";

/// Asks for so many documents of a server at the same time.
fn ask_for_many(client: &RemoteClient, server: &HeldServer, count: usize) -> JoinSet<String> {
    let mut asking = JoinSet::new();
    for number in 0..count {
        let (client, uri) = (client.clone(), server.uri(&format!("/{number}")));
        asking.spawn(async move { ask(&client, &uri, PATIENT).await });
    }
    asking
}

/// A server whose status can be changed.
async fn server_with(status: &Arc<AtomicU16>) -> Server {
    let status = status.clone();
    Server::start(move |_| answer(status.load(Ordering::SeqCst), "x")).await
}

#[tokio::test]
async fn a_slow_server_does_not_delay_requests_to_another() {
    let client = RemoteClient::new(&RemoteSettings {
        max_requests: 3,
        max_requests_per_server: 2,
        ..RemoteSettings::default()
    });
    let slow = HeldServer::start().await;
    let mut asking = ask_for_many(&client, &slow, 20);
    wait_until("two requests", async || slow.arrived() == 2).await;
    let_tasks_run().await;
    assert_eq!(slow.arrived(), 2);
    let fast = Server::start(|_| answer(200, "fast")).await;
    for number in 0..10 {
        let uri = fast.uri(&format!("/{number}"));
        assert_eq!(ask(&client, &uri, "{}").await, r#""fast""#);
    }
    assert!(asking.try_join_next().is_none());
    slow.release();
    while let Some(given) = asking.join_next().await {
        assert_eq!(given.unwrap(), r#""held""#);
    }
    assert_eq!(slow.arrived(), 20);
}

#[tokio::test]
async fn a_request_that_waits_too_long_for_its_turn_fails() {
    let client = RemoteClient::new(&RemoteSettings {
        max_requests_per_server: 1,
        ..RemoteSettings::default()
    });
    let slow = HeldServer::start().await;
    let _asking = ask_for_many(&client, &slow, 1);
    wait_until("a request", async || slow.arrived() == 1).await;
    let options = "{http_connect_timeout: 0.05}";
    let given = ask(&client, &slow.uri("/other"), options).await;
    let setting = "too many other requests are in progress (`remote.max_requests_per_server`)";
    assert!(given.ends_with(setting), "{given}");
}

#[tokio::test]
async fn a_request_whose_callers_hung_up_is_not_sent() {
    let client = RemoteClient::new(&RemoteSettings {
        max_requests_per_server: 1,
        ..RemoteSettings::default()
    });
    let slow = HeldServer::start().await;
    let mut first = ask_for_many(&client, &slow, 1);
    wait_until("a request", async || slow.arrived() == 1).await;
    let mut others = ask_for_many(&client, &slow, 10);
    let_tasks_run().await;
    others.shutdown().await;
    let_tasks_run().await;
    // The first one is asked for by both.
    assert_eq!(client.inner.shared().in_progress.len(), 1);
    // A caller that comes later is not affected.
    slow.release();
    assert_eq!(ask(&client, &slow.uri("/3"), PATIENT).await, r#""held""#);
    assert_eq!(first.join_next().await.unwrap().unwrap(), r#""held""#);
    assert_eq!(slow.arrived(), 2);
}

#[tokio::test]
async fn a_server_that_fails_repeatedly_gets_one_request_after_each_pause() {
    let status = Arc::new(AtomicU16::new(200));
    let server = server_with(&status).await;
    let client = client();
    let mut numbers = 0..;
    let mut ask_for_another = async || {
        let uri = server.uri(&format!("/{}", numbers.next().unwrap()));
        ask(&client, &uri, "{}").await
    };
    assert_eq!(ask_for_another().await, r#""x""#);
    status.store(503, Ordering::SeqCst);
    for hits in 2..=6 {
        let given = ask_for_another().await;
        assert!(given.ends_with("returned status 503"), "{given}");
        assert_eq!(server.hits(), hits);
    }
    for (pause, hits) in [(1, 7), (2, 8), (4, 9)] {
        // From here on nothing is sent, until the pause is over.
        for _ in 0..3 {
            let given = ask_for_another().await;
            assert!(given.contains("`: circuit breaker is open: "), "{given}");
            let failures = format!("Z (failures in a row: {}, ", hits - 2);
            assert!(given.contains(&failures), "{given}");
            assert!(
                given.ends_with(", the last: returned status 503)"),
                "{given}"
            );
        }
        assert_eq!(server.hits(), hits - 1);
        pass(pause).await;
        let given = ask_for_another().await;
        assert!(given.ends_with("returned status 503"), "{given}");
        assert_eq!(server.hits(), hits);
    }
    status.store(200, Ordering::SeqCst);
    pass(8).await;
    for hits in 10..13 {
        assert_eq!(ask_for_another().await, r#""x""#);
        assert_eq!(server.hits(), hits);
    }
    let stats = client.stats();
    assert_eq!((stats.answered, stats.failed, stats.refused), (4, 8, 9));
    assert_eq!(stats.opened, 4);
    let address = format!("http://{}", server.address);
    assert_eq!(stats.circuits, [(address, false)]);
}

#[tokio::test]
async fn during_a_trial_other_requests_fail_at_once() {
    let client = RemoteClient::new(&RemoteSettings {
        breaker_failures: 1,
        ..RemoteSettings::default()
    });
    let held = HeldServer::start().await;
    let options = "{http_read_timeout: 0.05}";
    let given = ask(&client, &held.uri("/a"), options).await;
    assert!(given.ends_with("no response within 0.05 s"), "{given}");
    pass(1).await;
    let mut trial = ask_for_many(&client, &held, 1);
    wait_until("the trial", async || held.arrived() == 2).await;
    let given = ask(&client, &held.uri("/b"), "{}").await;
    let until = "no requests to this server until a trial request succeeds (failures in a row: 1, ";
    assert!(given.contains(until), "{given}");
    assert_eq!(client.open_circuits().len(), 1);
    held.release();
    assert_eq!(trial.join_next().await.unwrap().unwrap(), r#""held""#);
    assert_eq!(ask(&client, &held.uri("/b"), "{}").await, r#""held""#);
    assert_eq!(held.arrived(), 3);
}

#[tokio::test]
async fn a_stale_document_is_served_at_once_while_the_circuit_breaker_is_open() {
    let status = Arc::new(AtomicU16::new(200));
    let server = server_with(&status).await;
    let client = client();
    assert_eq!(ask(&client, &server.uri("/old"), "{}").await, r#""x""#);
    pass(31).await;
    status.store(500, Ordering::SeqCst);
    for number in 0..5 {
        ask(&client, &server.uri(&format!("/{number}")), "{}").await;
    }
    assert_eq!(ask(&client, &server.uri("/old"), "{}").await, r#""x""#);
    let given = ask(&client, &server.uri("/new"), "{failure: graceful}").await;
    assert_eq!(given, "not found");
    assert_eq!(server.hits(), 6);
}

#[tokio::test]
async fn answers_that_are_no_failures_of_the_server_do_not_open_the_circuit_breaker() {
    let status = Arc::new(AtomicU16::new(404));
    let server = server_with(&status).await;
    let client = client();
    for number in 0..10 {
        ask(&client, &server.uri(&format!("/{number}")), "{}").await;
    }
    status.store(200, Ordering::SeqCst);
    for number in 10..20 {
        let options = "{output: json}";
        let given = ask(&client, &server.uri(&format!("/{number}")), options).await;
        assert!(given.contains("not JSON"), "{given}");
    }
    assert_eq!((server.hits(), client.stats().answered), (20, 20));
}

#[tokio::test]
async fn a_server_that_fails_does_not_affect_another() {
    let client = client();
    let status = Arc::new(AtomicU16::new(503));
    let server = server_with(&status).await;
    for number in 0..10 {
        ask(&client, &server.uri(&format!("/{number}")), "{}").await;
    }
    assert_eq!(server.hits(), 5);
    let other = Server::start(|_| answer(200, "other")).await;
    assert_eq!(ask(&client, &other.uri("/"), "{}").await, r#""other""#);
}

#[tokio::test]
async fn a_circuit_breaker_is_logged_and_reported() {
    let log = server::Log::start();
    let status = Arc::new(AtomicU16::new(503));
    let server = server_with(&status).await;
    let client = client();
    let mut events = client.subscribe();
    for number in 0..10 {
        let uri = server
            .uri(&format!("/{number}"))
            .replace("//", "//me:secret@");
        ask(&client, &uri, "{}").await;
    }
    let address = format!("http://{}", server.address);
    let CircuitEvent { server: at, open } = events.try_recv().unwrap();
    let open = open.unwrap();
    assert_eq!((at, open.failures), (address.clone(), 5));
    assert_eq!(open.reason, "returned status 503");
    assert!(open.until.is_some());
    assert!(events.try_recv().is_err());
    assert_eq!(client.stats().circuits, [(address.clone(), true)]);
    status.store(200, Ordering::SeqCst);
    pass(1).await;
    ask(&client, &server.uri("/last"), "{}").await;
    let closed = events.try_recv().unwrap();
    assert!(
        closed.server == address && closed.open.is_none(),
        "{closed:?}"
    );
    let text = log.text();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains(&address))
        .collect();
    assert_eq!(lines.len(), 2, "{text}");
    let opened = format!("no requests to `{address}` until ");
    assert!(lines[0].contains(&opened), "{text}");
    assert!(
        lines[0].contains("(failures in a row: 5, the last: returned status 503)"),
        "{text}"
    );
    assert!(
        lines[1].contains("answers again; circuit breaker closed"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn the_number_of_servers_is_limited() {
    let client = client();
    // Nothing listens there, so each of them has a failure.
    for number in 1..=300 {
        let uri = format!("http://127.0.{}.{}:1/", number / 100, number % 100 + 1);
        ask(&client, &uri, "{}").await;
    }
    let count = client.stats().circuits.len();
    assert!((1..=256).contains(&count), "{count}");
}

#[tokio::test]
async fn an_answer_is_not_waited_for_after_the_deadline() {
    let client = client();
    let held = HeldServer::start().await;
    let fetched = request(&held.uri("/a"), PATIENT);
    let text = "no response in time: a lookup waits for other servers for 10 s in all (`remote.deadline_s`)";
    let expected = format!("failed: `{}`: {text}", held.uri("/a"));
    let soon = tokio::time::Instant::now() + Duration::from_millis(50);
    assert_eq!(shown(client.answer(&fetched, Some(soon)).await), expected);
    assert_eq!(held.arrived(), 1);
    // After it, nothing more is sent.
    let unsent = request(&held.uri("/b"), PATIENT);
    let given = shown(client.answer(&unsent, Some(soon)).await);
    assert_eq!(given, expected.replace("/a`", "/b`"));
    assert_eq!(held.arrived(), 1);
    // What was sent reaches the cache, and what is there needs no time.
    held.release();
    wait_until("the document", async || {
        shown(client.answer(&fetched, Some(soon)).await) == r#""held""#
    })
    .await;
    let graceful = request(&held.uri("/b"), "{failure: graceful}");
    assert_eq!(
        shown(client.answer(&graceful, Some(soon)).await),
        "not found"
    );
}

#[tokio::test]
async fn a_stale_document_is_served_at_the_deadline() {
    let server = Server::start(|_| answer(200, "old")).await;
    let client = client();
    let asked = request(&server.uri("/"), "{}");
    assert_eq!(shown(client.answer(&asked, None).await), r#""old""#);
    pass(31).await;
    let now = tokio::time::Instant::now();
    assert_eq!(shown(client.answer(&asked, Some(now)).await), r#""old""#);
    assert_eq!(server.hits(), 1);
}
