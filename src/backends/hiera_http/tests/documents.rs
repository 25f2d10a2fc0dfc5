//! Bodies → values.

use super::server::{Server, answer, raw_server};
use super::{ask, check, client};
use crate::backends::hiera_http::RemoteClient;
use crate::config::RemoteSettings;

#[tokio::test]
async fn a_document_is_parsed_as_output_says() {
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
async fn an_empty_document_is_not_found() {
    check(200, "null", "{output: json}", "not found").await;
    check(200, "~", "{output: yaml}", "not found").await;
    check(200, "", "{output: yaml}", "not found").await;
    check(204, "", "{output: json}", "not found").await;
}

#[tokio::test]
async fn a_broken_document_fails_with_line_and_column() {
    for options in ["{output: json}", "{output: json, failure: graceful}"] {
        let server = Server::start(|_| answer(200, "{")).await;
        let given = ask(&client(), &server.uri("/x"), options).await;
        let expected = format!(
            "failed: `{}`: the document is not JSON: line 1, column",
            server.uri("/x")
        );
        assert!(given.starts_with(&expected), "{given}");
    }
    let server = Server::start(|_| answer(200, "a: [")).await;
    let given = ask(&client(), &server.uri("/x"), "{output: yaml}").await;
    assert!(given.contains("the document is not YAML: line"), "{given}");
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_fail() {
    for options in ["{}", "{output: json}"] {
        let server = Server::start(|_| answer(200, &b"\"\xFF\""[..])).await;
        let given = ask(&client(), &server.uri("/"), options).await;
        assert!(given.ends_with(": the document is not UTF-8"), "{given}");
    }
}

#[tokio::test]
async fn the_size_of_a_document_is_limited() {
    let settings = RemoteSettings {
        max_document_size: 1000,
        ..RemoteSettings::default()
    };
    let client = RemoteClient::new(&settings);
    let server = Server::start(|request| match request.uri().path() {
        "/fits" => answer(200, "x".repeat(1000)),
        _ => answer(200, "x".repeat(1001)),
    })
    .await;
    assert_eq!(ask(&client, &server.uri("/fits"), "{}").await.len(), 1002);
    let given = ask(&client, &server.uri("/over"), "{}").await;
    assert!(
        given.ends_with("the document is larger than 1000 bytes"),
        "{given}"
    );
    // Without Content-Length.
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n".to_owned()
        + &"x".repeat(500);
    let chunks = format!("{chunk}\r\n1f5\r\n{}\r\n", "x".repeat(501));
    let address = raw_server(chunks.as_bytes(), true).await;
    let given = ask(&client, &format!("http://{address}/"), "{}").await;
    assert!(
        given.ends_with("the document is larger than 1000 bytes"),
        "{given}"
    );
}
