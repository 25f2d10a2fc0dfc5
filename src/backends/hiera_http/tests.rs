//! Tests against servers on loopback. Time passes by setting the clock.

mod caching;
mod documents;
mod failures;
mod requests;
mod server;
mod tls;
mod upstreams;

use std::time::{Duration, Instant};

use hiera_resolver::Value;
use hiera_resolver::data::{Texts, read_yaml};
use hiera_resolver::data_functions::HIERA_HTTP;
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};

use self::server::{Server, answer};
use super::RemoteClient;
use crate::config::RemoteSettings;

/// A request with options as written in `hiera.yaml`.
pub(super) fn request(uri: &str, options: &str) -> RemoteRequest {
    let options = read_yaml(options.as_bytes(), &mut Texts::default()).unwrap();
    RemoteRequest {
        function: HIERA_HTTP.name,
        uri: uri.to_owned(),
        options: options.unwrap_or_default(),
    }
}

fn client() -> RemoteClient {
    RemoteClient::new(&RemoteSettings::default())
}

/// Advances the clock of everything but sockets.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

/// Lets every task run until all of them wait: with the clock paused, a timer ends only then.
async fn let_tasks_run() {
    tokio::time::pause();
    tokio::time::sleep(Duration::from_millis(1)).await;
    tokio::time::resume();
}

/// Polls until a condition holds; panics if it does not in time.
async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(
            start.elapsed() < Duration::from_secs(40),
            "timed out waiting for {what}"
        );
        tokio::task::yield_now().await;
    }
}

/// An answer as text.
fn shown(answer: RemoteAnswer) -> String {
    match answer {
        RemoteAnswer::Found(Value::Template(template)) => format!("template {}", template.source()),
        RemoteAnswer::Found(value) => {
            let mut text = String::new();
            puppet_values::ruby_text::inspect(&value, &mut text);
            text
        }
        RemoteAnswer::NotFound => "not found".to_owned(),
        RemoteAnswer::Failed { reason, .. } => format!("failed: {reason}"),
    }
}

async fn ask(client: &RemoteClient, uri: &str, options: &str) -> String {
    shown(client.answer(&request(uri, options), None).await)
}

/// Checks the answer to one response with some options.
async fn check(status: u16, body: &'static str, options: &str, expected: &str) {
    let server = Server::start(move |_| answer(status, body)).await;
    let given = ask(&client(), &server.uri("/x"), options).await;
    let expected = expected.replace("URI", &server.uri("/x"));
    assert_eq!(given, expected, "{status} {body:?} {options}");
}
