//! What is served from the cache, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyper::StatusCode;

use super::server::{self, Server, answer};
use super::{ask, client, pass, wait_until};
use crate::backends::hiera_http::RemoteClient;
use crate::config::RemoteSettings;

#[tokio::test]
async fn an_expired_document_is_fetched_again() {
    let count = AtomicUsize::new(0);
    let server =
        Server::start(move |_| answer(200, count.fetch_add(1, Ordering::SeqCst).to_string())).await;
    let client = client();
    let mut given = Vec::new();
    for seconds in [0, 15, 14, 2, 29] {
        pass(seconds).await;
        given.push(ask(&client, &server.uri("/"), "{output: yaml}").await);
    }
    assert_eq!(given, ["0", "0", "0", "1", "1"]);
}

#[tokio::test]
async fn a_failure_is_cached_for_a_second() {
    let server = Server::start(|_| answer(500, "")).await;
    let client = client();
    for _ in 0..5 {
        ask(&client, &server.uri("/"), "{}").await;
    }
    assert_eq!(server.hits(), 1);
    pass(1).await;
    ask(&client, &server.uri("/"), "{}").await;
    assert_eq!(server.hits(), 2);
}

#[tokio::test]
async fn a_stale_document_is_served_while_its_server_is_down() {
    let server = Server::start(|_| answer(200, "old")).await;
    let address = server.address;
    let (client, uri) = (client(), server.uri("/"));
    for options in ["{}", "{failure: graceful}"] {
        assert_eq!(ask(&client, &uri, options).await, r#""old""#);
    }
    server.stop().await;
    pass(60).await;
    for options in ["{}", "{failure: graceful}"] {
        assert_eq!(ask(&client, &uri, options).await, r#""old""#);
    }
    // When the server is back, the first lookup starts the fetch, and a later one gets its document.
    let server = Server::start_at(address, |_| answer(200, "new")).await;
    pass(2).await;
    assert_eq!(ask(&client, &uri, "{}").await, r#""old""#);
    wait_until("the new answer", async || {
        ask(&client, &uri, "{}").await == r#""new""#
    })
    .await;
    assert_eq!(server.hits(), 1);
    server.stop().await;
    pass(3700).await;
    let given = ask(&client, &uri, "{}").await;
    assert!(given.contains("cannot connect"), "{given}");
    assert_eq!(ask(&client, &uri, "{failure: graceful}").await, "not found");
}

#[tokio::test]
async fn a_stale_document_is_not_served_after_status_403() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = is_gone.clone();
    let server = Server::start(move |_| match gone.load(Ordering::SeqCst) {
        true => answer(403, ""),
        false => answer(200, "x"),
    })
    .await;
    let client = client();
    assert_eq!(ask(&client, &server.uri("/"), "{}").await, r#""x""#);
    is_gone.store(true, Ordering::SeqCst);
    pass(60).await;
    let given = ask(&client, &server.uri("/"), "{}").await;
    assert!(given.ends_with("returned status 403"), "{given}");
}

#[tokio::test]
async fn stale_documents_are_logged_once_a_minute() {
    let log = server::Log::start();
    let server = Server::start(|_| answer(200, "x")).await;
    let (client, uri) = (client(), server.uri("/").replace("127", "me:secret@127"));
    let options = "{headers: {X: secret}}";
    ask(&client, &uri, options).await;
    server.stop().await;
    for _ in 0..25 {
        pass(31).await;
        ask(&client, &uri, options).await;
        ask(&client, &uri, options).await;
    }
    let text = log.text();
    let warnings = text.matches("WARN").count() - text.matches("circuit breaker opened").count();
    // 25 times 31 seconds, once a minute.
    assert!((11..=13).contains(&warnings), "{text}");
    assert!(
        text.contains("serving a stale response (31 s old): upstream failed: `http://127.0.0.1:"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn the_number_of_cached_documents_is_limited() {
    let settings = RemoteSettings {
        cache_entries: 5,
        ..RemoteSettings::default()
    };
    let client = RemoteClient::new(&settings);
    let server = Server::start(|_| answer(200, "x")).await;
    for number in 0..20 {
        ask(&client, &server.uri(&format!("/{number}")), "{}").await;
    }
    assert!(format!("{client:?}").contains("entries: 5"), "{client:?}");
    ask(&client, &server.uri("/19"), "{}").await;
    assert_eq!(server.hits(), 20);
    ask(&client, &server.uri("/0"), "{}").await;
    assert_eq!(server.hits(), 21);
}

#[tokio::test]
async fn limits_of_zero_still_answer() {
    let settings = RemoteSettings {
        ttl_s: 0,
        stale_s: u64::MAX,
        cache_entries: 0,
        cache_bytes: 0,
        max_document_size: usize::MAX,
        max_requests: 0,
        max_requests_per_server: 0,
        deadline_s: 0,
        breaker_failures: 0,
        breaker_max_pause_s: 0,
    };
    let client = RemoteClient::new(&settings);
    let server = Server::start(|_| answer(StatusCode::OK.as_u16(), "x")).await;
    for hits in 1..3 {
        assert_eq!(ask(&client, &server.uri("/"), "{}").await, r#""x""#);
        assert_eq!(server.hits(), hits);
    }
}
