//! Servers that fail, stall or send garbage.

use std::time::Duration;

use super::server::{self, Server, answer, closed_port, raw_server};
use super::{ask, check, client};

#[tokio::test]
async fn an_error_status_fails_unless_the_level_says_otherwise() {
    check(404, "secret", "{}", "failed: `URI`: returned status 404").await;
    check(404, "secret", "{ignore_404: true}", "not found").await;
    check(404, "secret", "{failure: graceful}", "not found").await;
    check(500, "secret", "{}", "failed: `URI`: returned status 500").await;
    check(
        500,
        "secret",
        "{ignore_404: true}",
        "failed: `URI`: returned status 500",
    )
    .await;
    check(500, "secret", "{failure: graceful}", "not found").await;
    check(304, "", "{}", "failed: `URI`: returned status 304").await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::start(|request| {
        let mut response = answer(302, "");
        if request.uri().path() == "/a" {
            let there = hyper::header::HeaderValue::from_static("/b?token=secret");
            response.headers_mut().insert("location", there);
        }
        response
    })
    .await;
    let given = ask(&client(), &server.uri("/a"), "{}").await;
    assert_eq!(
        given,
        format!("failed: `{}`: returned status 302", server.uri("/a"))
    );
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn an_unreachable_server_fails() {
    let address = closed_port().await;
    let uri = format!("http://{address}/");
    let given = ask(&client(), &uri, "{}").await;
    assert!(
        given.starts_with(&format!("failed: `{uri}`: cannot connect: ")),
        "{given}"
    );
    assert!(given.contains("refused"), "{given}");
    assert_eq!(
        ask(&client(), &uri, "{failure: graceful}").await,
        "not found"
    );
    let given = ask(&client(), "http://no-such-host.invalid/", "{}").await;
    assert!(given.contains("cannot connect: "), "{given}");
}

#[tokio::test]
async fn a_slow_response_times_out() {
    let head: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
    for bytes in [b"".as_slice(), b"HTTP/1.1 200 OK\r\n", head] {
        let address = raw_server(bytes, true).await;
        let given = ask(
            &client(),
            &format!("http://{address}/"),
            "{http_read_timeout: 0.1}",
        )
        .await;
        assert_eq!(
            given,
            format!("failed: `http://{address}/`: no response within 0.1 s")
        );
    }
}

#[tokio::test]
async fn a_response_that_never_ends_times_out() {
    let server = server::drip(Duration::from_millis(20)).await;
    let options = "{http_read_timeout: 0.1, http_connect_timeout: 0.1}";
    let given = ask(&client(), &format!("http://{server}/"), options).await;
    assert_eq!(
        given,
        format!("failed: `http://{server}/`: no response within 0.5 s")
    );
}

#[tokio::test]
async fn a_tls_handshake_that_stalls_times_out() {
    // The server does not speak TLS.
    let address = raw_server(b"", true).await;
    let options = "{http_connect_timeout: 0.1, ssl_verify: false}";
    let given = ask(&client(), &format!("https://{address}/"), options).await;
    assert_eq!(
        given,
        format!("failed: `https://{address}/`: no connection within 0.1 s")
    );
}

#[tokio::test]
async fn a_malformed_response_fails() {
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
            &client(),
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
            &client(),
            &format!("http://{address}/"),
            "{failure: graceful}",
        )
        .await;
        assert_eq!(given, "not found", "{text:?}");
    }
}
