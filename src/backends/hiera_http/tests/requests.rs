//! What is sent, over which connections, and how often.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use super::server::{self, Server, answer, raw_server};
use super::{ask, client, let_tasks_run};
use crate::backends::hiera_http::RemoteClient;
use crate::config::RemoteSettings;

#[tokio::test]
async fn the_request_has_the_headers_of_the_level() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = heads.clone();
    let server = Server::start(move |request| {
        let header = |name: &str| {
            let value = request.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        let line = format!("{} {}", request.method(), request.uri());
        let headers = ["host", "x-token", "authorization", "user-agent", "accept"].map(header);
        seen.lock().unwrap().push((line, headers));
        answer(200, "")
    })
    .await;
    let uri = server.uri("/a b?c=ü").replace("127", "me:secret@127");
    let options = "{headers: {X-Token: t}, use_auth: true, auth_user: u, auth_pass: p}";
    ask(&client(), &uri, options).await;
    ask(&client(), &uri, "{headers: {Host: other}, auth_user: u}").await;
    let (host, agent) = (
        server.address.to_string(),
        concat!("hierad/", env!("CARGO_PKG_VERSION")),
    );
    let line = "GET /a%20b?c=%C3%BC".to_owned();
    let expect =
        |values: [Option<&str>; 5]| (line.clone(), values.map(|value| value.map(str::to_owned)));
    assert_eq!(
        *heads.lock().unwrap(),
        [
            expect([
                Some(&host),
                Some("t"),
                Some("Basic dTpw"),
                Some(agent),
                Some("*/*")
            ]),
            expect([Some("other"), None, None, Some(agent), Some("*/*")]),
        ]
    );
}

#[tokio::test]
async fn secrets_are_not_in_errors() {
    let server = Server::start(|_| answer(500, "secret")).await;
    let client = client();
    let options = "{headers: {X: secret}, use_auth: true, auth_user: secret, auth_pass: secret}";
    let uri = server.uri("/").replace("127", "secret:secret@127");
    let given = ask(&client, &uri, options).await;
    assert_eq!(
        given,
        format!("failed: `{}`: returned status 500", server.uri("/"))
    );
    for wrong in [
        "http://secret:secret@/",
        "http://a:secret@b c/",
        "x://secret@h/",
    ] {
        let given = ask(&client, wrong, options).await;
        assert!(!given.contains("secret"), "{given}");
    }
    assert!(!format!("{client:?}").contains("secret"), "{client:?}");
}

#[tokio::test]
async fn a_connection_is_reused() {
    let server = Server::start(|request| match request.uri().path() {
        "/missing" => answer(404, "there is nothing"),
        _ => answer(200, "x"),
    })
    .await;
    let client = client();
    for path in ["/1", "/2", "/missing", "/3"] {
        ask(&client, &server.uri(path), "{ignore_404: true}").await;
        // The connection returns to the pool in a task of its own.
        let_tasks_run().await;
    }
    assert_eq!((server.hits(), server.connections()), (4, 1));
}

#[tokio::test]
async fn a_connection_that_closes_when_reused_is_replaced() {
    let address = server::one_answer_each().await;
    let client = client();
    for path in ["1", "2", "3"] {
        let given = ask(&client, &format!("http://{address}/{path}"), "{}").await;
        assert_eq!(given, r#""ok""#);
        let_tasks_run().await;
    }
}

#[tokio::test]
async fn equal_concurrent_requests_are_fetched_once() {
    let server = Server::start(|_| answer(200, "x")).await;
    let client = client();
    // On one thread, all of them have asked before the first fetch begins.
    let asking: Vec<_> = (0..100)
        .map(|_| {
            let (client, uri) = (client.clone(), server.uri("/"));
            tokio::spawn(async move { ask(&client, &uri, "{}").await })
        })
        .collect();
    for asked in asking {
        assert_eq!(asked.await.unwrap(), r#""x""#);
    }
    assert_eq!(server.hits(), 1);
    ask(&client, &server.uri("/"), "{output: yaml}").await;
    assert_eq!(server.hits(), 2);
}

#[tokio::test]
async fn a_fetch_continues_when_its_caller_is_gone() {
    let server = Server::start(|_| answer(200, "x")).await;
    let client = client();
    let uri = server.uri("/");
    tokio::select! {
        biased;
        given = ask(&client, &uri, "{}") => panic!("{given}"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(ask(&client, &uri, "{}").await, r#""x""#);
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn concurrent_fetches_are_limited() {
    let settings = RemoteSettings {
        max_requests: 1,
        ..RemoteSettings::default()
    };
    let client = RemoteClient::new(&settings);
    let address: SocketAddr = raw_server(b"", true).await;
    let slow = format!("http://{address}/slow");
    let quick = format!("http://{address}/quick");
    let (slow, quick) = tokio::join!(
        ask(&client, &slow, "{http_read_timeout: 0.3}"),
        ask(&client, &quick, "{http_connect_timeout: 0.1}"),
    );
    assert!(slow.ends_with("no response within 0.3 s"), "{slow}");
    assert!(
        quick.ends_with("too many other requests are in progress (`remote.max_requests`)"),
        "{quick}"
    );
}
