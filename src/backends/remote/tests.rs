//! Against servers on loopback. Where time has to pass, the clock is set.

mod server;
mod tls;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hiera_resolver::Value;
use hiera_resolver::data::{Texts, read_yaml};
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hyper::StatusCode;

use self::server::{Server, answer, closed_port, raw_server};
use super::Remotes;
use crate::config::RemoteSettings;

/// A request with options as they stand in hiera.yaml.
pub(super) fn request(uri: &str, options: &str) -> RemoteRequest {
    let options = read_yaml(options.as_bytes(), &mut Texts::default()).unwrap();
    RemoteRequest {
        uri: uri.to_owned(),
        options: options.unwrap_or_default(),
    }
}

fn remotes() -> Remotes {
    Remotes::new(&RemoteSettings::default())
}

/// Lets time pass for everything but sockets.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

/// What an answer is, in words.
fn shown(answer: RemoteAnswer) -> String {
    match answer {
        RemoteAnswer::Found(Value::Template(template)) => format!("template {}", template.source()),
        RemoteAnswer::Found(value) => {
            let mut text = String::new();
            hiera_resolver::ruby_text::inspect(&value, &mut text);
            text
        }
        RemoteAnswer::NotFound => "not found".to_owned(),
        RemoteAnswer::Failed { reason, .. } => format!("failed: {reason}"),
    }
}

async fn ask(remotes: &Remotes, uri: &str, options: &str) -> String {
    shown(remotes.answer(&request(uri, options)).await)
}

/// What comes of one body with some options.
async fn check(status: u16, body: &'static str, options: &str, expected: &str) {
    let server = Server::start(move |_| answer(status, body)).await;
    let given = ask(&remotes(), &server.uri("/x"), options).await;
    let expected = expected.replace("URI", &server.uri("/x"));
    assert_eq!(given, expected, "{status} {body:?} {options}");
}

#[tokio::test]
async fn a_document_is_what_output_says() {
    check(
        200,
        r#"{"a": [1, "b"]}"#,
        "{output: json}",
        r#"{"a"=>[1, "b"]}"#,
    )
    .await;
    check(200, "a: [1, b]", "{output: yaml}", r#"{"a"=>[1, "b"]}"#).await;
    check(200, "a: [1, b]", "{output: plain}", r#""a: [1, b]""#).await;
    check(200, "a: [1, b]", "{}", r#""a: [1, b]""#).await;
    check(200, "text", "{output: xml}", r#""text""#).await;
    check(200, "", "{}", r#""""#).await;
    check(200, "is %{fact}", "{}", "template is %{fact}").await;
    check(
        200,
        r#""is %{fact}""#,
        "{output: json}",
        "template is %{fact}",
    )
    .await;
    check(200, "is %{fact}", "{output: yaml}", "template is %{fact}").await;
    check(201, "5", "{output: json}", "5").await;
}

#[tokio::test]
async fn nothing_at_all_is_not_found() {
    check(200, "null", "{output: json}", "not found").await;
    check(200, "~", "{output: yaml}", "not found").await;
    check(200, "", "{output: yaml}", "not found").await;
    check(204, "", "{output: json}", "not found").await;
}

#[tokio::test]
async fn a_broken_document_is_a_failure_with_its_place() {
    for options in ["{output: json}", "{output: json, failure: graceful}"] {
        let server = Server::start(|_| answer(200, "{")).await;
        let given = ask(&remotes(), &server.uri("/x"), options).await;
        let expected = format!(
            "failed: `{}`: the document is not JSON: line 1, column",
            server.uri("/x")
        );
        assert!(given.starts_with(&expected), "{given}");
    }
    let server = Server::start(|_| answer(200, "a: [")).await;
    let given = ask(&remotes(), &server.uri("/x"), "{output: yaml}").await;
    assert!(given.contains("the document is not YAML: line"), "{given}");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_a_failure() {
    for options in ["{}", "{output: json}"] {
        let server = Server::start(|_| answer(200, &b"\"\xFF\""[..])).await;
        let given = ask(&remotes(), &server.uri("/"), options).await;
        assert!(given.ends_with(": the document is not UTF-8"), "{given}");
    }
}

#[tokio::test]
async fn a_status_is_a_failure_unless_the_level_says_otherwise() {
    check(
        404,
        "secret",
        "{}",
        "failed: `URI`: answered with status 404",
    )
    .await;
    check(404, "secret", "{ignore_404: true}", "not found").await;
    check(404, "secret", "{failure: graceful}", "not found").await;
    check(
        500,
        "secret",
        "{}",
        "failed: `URI`: answered with status 500",
    )
    .await;
    check(
        500,
        "secret",
        "{ignore_404: true}",
        "failed: `URI`: answered with status 500",
    )
    .await;
    check(500, "secret", "{failure: graceful}", "not found").await;
    check(304, "", "{}", "failed: `URI`: answered with status 304").await;
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let server = Server::start(|request| {
        let mut response = answer(302, "");
        if request.uri().path() == "/a" {
            let there = hyper::header::HeaderValue::from_static("/b?token=secret");
            response.headers_mut().insert("location", there);
        }
        response
    })
    .await;
    let given = ask(&remotes(), &server.uri("/a"), "{}").await;
    assert_eq!(
        given,
        format!("failed: `{}`: answered with status 302", server.uri("/a"))
    );
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn the_request_carries_what_the_level_wants() {
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
    ask(&remotes(), &uri, options).await;
    ask(&remotes(), &uri, "{headers: {Host: other}, auth_user: u}").await;
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
async fn nothing_secret_is_shown() {
    let server = Server::start(|_| answer(500, "secret")).await;
    let remotes = remotes();
    let options = "{headers: {X: secret}, use_auth: true, auth_user: secret, auth_pass: secret}";
    let uri = server.uri("/").replace("127", "secret:secret@127");
    let given = ask(&remotes, &uri, options).await;
    assert_eq!(
        given,
        format!("failed: `{}`: answered with status 500", server.uri("/"))
    );
    for wrong in [
        "http://secret:secret@/",
        "http://a:secret@b c/",
        "x://secret@h/",
    ] {
        let given = ask(&remotes, wrong, options).await;
        assert!(!given.contains("secret"), "{given}");
    }
    assert!(!format!("{remotes:?}").contains("secret"), "{remotes:?}");
}

#[tokio::test]
async fn no_server_is_a_failure() {
    let address = closed_port().await;
    let uri = format!("http://{address}/");
    let given = ask(&remotes(), &uri, "{}").await;
    assert!(
        given.starts_with(&format!("failed: `{uri}`: cannot connect: ")),
        "{given}"
    );
    assert!(given.contains("refused"), "{given}");
    assert_eq!(
        ask(&remotes(), &uri, "{failure: graceful}").await,
        "not found"
    );
    let given = ask(&remotes(), "http://no-such-host.invalid/", "{}").await;
    assert!(given.contains("cannot connect: "), "{given}");
}

#[tokio::test]
async fn a_slow_answer_times_out() {
    let head: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
    for bytes in [b"".as_slice(), b"HTTP/1.1 200 OK\r\n", head] {
        let address = raw_server(bytes, true).await;
        let given = ask(
            &remotes(),
            &format!("http://{address}/"),
            "{http_read_timeout: 0.1}",
        )
        .await;
        assert_eq!(
            given,
            format!("failed: `http://{address}/`: no answer within 0.1 s")
        );
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_times_out() {
    let server = server::drip(Duration::from_millis(20)).await;
    let options = "{http_read_timeout: 0.1, http_connect_timeout: 0.1}";
    let given = ask(&remotes(), &format!("http://{server}/"), options).await;
    assert_eq!(
        given,
        format!("failed: `http://{server}/`: no answer within 0.5 s")
    );
}

#[tokio::test]
async fn a_connection_that_is_not_accepted_times_out() {
    // Nobody speaks TLS at the other end.
    let address = raw_server(b"", true).await;
    let options = "{http_connect_timeout: 0.1, ssl_verify: false}";
    let given = ask(&remotes(), &format!("https://{address}/"), options).await;
    assert_eq!(
        given,
        format!("failed: `https://{address}/`: no connection within 0.1 s")
    );
}

#[tokio::test]
async fn a_document_has_a_largest_size() {
    let settings = RemoteSettings {
        max_document_size: 1000,
        ..RemoteSettings::default()
    };
    let remotes = Remotes::new(&settings);
    let server = Server::start(|request| match request.uri().path() {
        "/fits" => answer(200, "x".repeat(1000)),
        _ => answer(200, "x".repeat(1001)),
    })
    .await;
    assert_eq!(ask(&remotes, &server.uri("/fits"), "{}").await.len(), 1002);
    let given = ask(&remotes, &server.uri("/over"), "{}").await;
    assert!(
        given.ends_with("the document is larger than 1000 bytes"),
        "{given}"
    );
    // Of unknown length.
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n".to_owned()
        + &"x".repeat(500);
    let chunks = format!("{chunk}\r\n1f5\r\n{}\r\n", "x".repeat(501));
    let address = raw_server(chunks.as_bytes(), true).await;
    let given = ask(&remotes, &format!("http://{address}/"), "{}").await;
    assert!(
        given.ends_with("the document is larger than 1000 bytes"),
        "{given}"
    );
}

#[tokio::test]
async fn garbage_is_a_failure() {
    for bytes in [
        b"".as_slice(),
        b"\0\0\0",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
        b"HTTP/1.1 200 OK\r\nBad Header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"HTTP/1.1 999 \r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
    ] {
        let address = raw_server(bytes, false).await;
        let given = ask(
            &remotes(),
            &format!("http://{address}/"),
            "{http_read_timeout: 5}",
        )
        .await;
        let text = String::from_utf8_lossy(bytes).into_owned();
        assert!(
            given.starts_with(&format!("failed: `http://{address}/`: ")),
            "{text:?}: {given}"
        );
        let given = ask(
            &remotes(),
            &format!("http://{address}/"),
            "{failure: graceful}",
        )
        .await;
        assert_eq!(given, "not found", "{text:?}");
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let server = Server::start(|request| match request.uri().path() {
        "/missing" => answer(404, "there is nothing"),
        _ => answer(200, "x"),
    })
    .await;
    let remotes = remotes();
    for path in ["/1", "/2", "/missing", "/3"] {
        ask(&remotes, &server.uri(path), "{ignore_404: true}").await;
        // The connection goes back to the pool in a task of its own.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((server.hits(), server.connections()), (4, 1));
}

#[tokio::test]
async fn a_connection_that_closes_when_it_is_used_again_is_replaced() {
    let address = server::one_answer_each().await;
    let remotes = remotes();
    for path in ["1", "2", "3"] {
        let given = ask(&remotes, &format!("http://{address}/{path}"), "{}").await;
        assert_eq!(given, r#""ok""#);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn equal_requests_at_the_same_time_are_fetched_once() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(100));
        answer(200, "x")
    })
    .await;
    let remotes = remotes();
    let asking: Vec<_> = (0..100)
        .map(|_| {
            let (remotes, uri) = (remotes.clone(), server.uri("/"));
            tokio::spawn(async move { ask(&remotes, &uri, "{}").await })
        })
        .collect();
    for asked in asking {
        assert_eq!(asked.await.unwrap(), r#""x""#);
    }
    assert_eq!(server.hits(), 1);
    ask(&remotes, &server.uri("/"), "{output: yaml}").await;
    assert_eq!(server.hits(), 2);
}

#[tokio::test]
async fn a_fetch_goes_on_when_nobody_waits_for_it_any_more() {
    let server = Server::start(|_| answer(200, "x")).await;
    let remotes = remotes();
    let uri = server.uri("/");
    tokio::select! {
        biased;
        given = ask(&remotes, &uri, "{}") => panic!("{given}"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(ask(&remotes, &uri, "{}").await, r#""x""#);
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn an_answer_is_fetched_again_when_its_time_is_over() {
    let count = AtomicUsize::new(0);
    let server =
        Server::start(move |_| answer(200, count.fetch_add(1, Ordering::SeqCst).to_string())).await;
    let remotes = remotes();
    let mut given = Vec::new();
    for seconds in [0, 15, 14, 2, 29] {
        pass(seconds).await;
        given.push(ask(&remotes, &server.uri("/"), "{output: yaml}").await);
    }
    assert_eq!(given, ["0", "0", "0", "1", "1"]);
}

#[tokio::test]
async fn a_failure_is_remembered_for_a_second() {
    let server = Server::start(|_| answer(500, "")).await;
    let remotes = remotes();
    for _ in 0..5 {
        ask(&remotes, &server.uri("/"), "{}").await;
    }
    assert_eq!(server.hits(), 1);
    pass(1).await;
    ask(&remotes, &server.uri("/"), "{}").await;
    assert_eq!(server.hits(), 2);
}

#[tokio::test]
async fn an_old_answer_serves_while_its_server_is_down() {
    let server = Server::start(|_| answer(200, "old")).await;
    let address = server.address;
    let (remotes, uri) = (remotes(), server.uri("/"));
    for options in ["{}", "{failure: graceful}"] {
        assert_eq!(ask(&remotes, &uri, options).await, r#""old""#);
    }
    server.stop().await;
    pass(60).await;
    for options in ["{}", "{failure: graceful}"] {
        assert_eq!(ask(&remotes, &uri, options).await, r#""old""#);
    }
    // Once it is back, the next answer is a new one: the first lookup only sets off the fetch.
    let server = Server::start_at(address, |_| answer(200, "new")).await;
    pass(2).await;
    assert_eq!(ask(&remotes, &uri, "{}").await, r#""old""#);
    server.wait_for_hits(1).await;
    while ask(&remotes, &uri, "{}").await != r#""new""# {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.hits(), 1);
    server.stop().await;
    pass(3700).await;
    let given = ask(&remotes, &uri, "{}").await;
    assert!(given.contains("cannot connect"), "{given}");
    assert_eq!(
        ask(&remotes, &uri, "{failure: graceful}").await,
        "not found"
    );
}

#[tokio::test]
async fn an_old_answer_does_not_serve_when_the_server_says_no() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = is_gone.clone();
    let server = Server::start(move |_| match gone.load(Ordering::SeqCst) {
        true => answer(403, ""),
        false => answer(200, "x"),
    })
    .await;
    let remotes = remotes();
    assert_eq!(ask(&remotes, &server.uri("/"), "{}").await, r#""x""#);
    is_gone.store(true, Ordering::SeqCst);
    pass(60).await;
    let given = ask(&remotes, &server.uri("/"), "{}").await;
    assert!(given.ends_with("answered with status 403"), "{given}");
}

#[tokio::test]
async fn what_serves_for_a_failing_server_is_logged_once_a_minute() {
    let log = server::Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = Server::start(|_| answer(200, "x")).await;
    let (remotes, uri) = (remotes(), server.uri("/").replace("127", "me:secret@127"));
    let options = "{headers: {X: secret}}";
    ask(&remotes, &uri, options).await;
    server.stop().await;
    for _ in 0..25 {
        pass(31).await;
        ask(&remotes, &uri, options).await;
        ask(&remotes, &uri, options).await;
    }
    let text = log.text();
    let warnings = text.lines().filter(|line| line.contains("WARN")).count();
    // 25 times 31 seconds.
    assert!((11..=13).contains(&warnings), "{text}");
    assert!(
        text.contains("serving a stale response (31 s old): upstream failed: `http://127.0.0.1:"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn no_more_answers_are_kept_than_allowed() {
    let settings = RemoteSettings {
        cache_entries: 5,
        ..RemoteSettings::default()
    };
    let remotes = Remotes::new(&settings);
    let server = Server::start(|_| answer(200, "x")).await;
    for number in 0..20 {
        ask(&remotes, &server.uri(&format!("/{number}")), "{}").await;
    }
    assert!(format!("{remotes:?}").contains("entries: 5"), "{remotes:?}");
    ask(&remotes, &server.uri("/19"), "{}").await;
    assert_eq!(server.hits(), 20);
    ask(&remotes, &server.uri("/0"), "{}").await;
    assert_eq!(server.hits(), 21);
}

#[tokio::test]
async fn no_more_is_fetched_at_a_time_than_allowed() {
    let settings = RemoteSettings {
        max_requests: 1,
        ..RemoteSettings::default()
    };
    let remotes = Remotes::new(&settings);
    let address: SocketAddr = raw_server(b"", true).await;
    let slow = format!("http://{address}/slow");
    let quick = format!("http://{address}/quick");
    let (slow, quick) = tokio::join!(
        ask(&remotes, &slow, "{http_read_timeout: 0.3}"),
        ask(&remotes, &quick, "{http_connect_timeout: 0.1}"),
    );
    assert!(slow.ends_with("no answer within 0.3 s"), "{slow}");
    assert!(
        quick.ends_with("too many other requests are under way"),
        "{quick}"
    );
}

#[tokio::test]
async fn settings_of_nothing_still_answer() {
    let settings = RemoteSettings {
        ttl_s: 0,
        stale_s: u64::MAX,
        cache_entries: 0,
        cache_bytes: 0,
        max_document_size: usize::MAX,
        max_requests: 0,
    };
    let remotes = Remotes::new(&settings);
    let server = Server::start(|_| answer(StatusCode::OK.as_u16(), "x")).await;
    for hits in 1..3 {
        assert_eq!(ask(&remotes, &server.uri("/"), "{}").await, r#""x""#);
        assert_eq!(server.hits(), hits);
    }
}
