use super::*;
use crate::backends::hiera_http::tests::request;

fn check(uri: &str, options: &str) -> Result<Call, String> {
    Call::check(&request(uri, options)).map_err(|error| error.to_string())
}

#[test]
fn options_are_those_of_lookup_http() {
    let call = check("http://host/", "{}").unwrap();
    assert_eq!(call.output, OutputFormat::Plain);
    assert_eq!(call.read_timeout, Duration::from_secs(10));
    assert_eq!(call.connection.timeout, Duration::from_secs(10));
    assert!(!call.ignores_404);
    let call = check(
        "https://host/",
        "{output: yaml, http_read_timeout: 2, http_connect_timeout: '0.5', ignore_404: true, ssl_verify: false, ssl_cert: /c}",
    )
    .unwrap();
    assert_eq!(call.output, OutputFormat::Yaml);
    assert_eq!(call.read_timeout, Duration::from_secs(2));
    assert_eq!(call.connection.timeout, Duration::from_millis(500));
    assert!(call.ignores_404);
    let tls = call.connection.tls.unwrap();
    assert!(!tls.verify);
    assert_eq!(tls.cert.as_deref(), Some("/c"));
}

#[test]
fn invalid_options_are_named_and_not_quoted() {
    for (options, expected) in [
        (
            "{http_read_timeout: 0}",
            "option `http_read_timeout` must be a number of seconds above 0",
        ),
        (
            "{http_connect_timeout: x}",
            "option `http_connect_timeout` must be a number of seconds above 0",
        ),
        (
            "{http_connect_timeout: .nan}",
            "option `http_connect_timeout` must be a number of seconds above 0",
        ),
        ("{headers: secret}", "option `headers` must be a hash"),
        (
            r#"{headers: {X-Token: "secret\r\nHost: other"}}"#,
            "header `X-Token` cannot be sent",
        ),
        (
            r#"{headers: {"X\nY": secret}}"#,
            r"header `X\nY` cannot be sent",
        ),
        (
            "{headers: {Content-Length: 5}}",
            "header `Content-Length` cannot be sent",
        ),
        ("{headers: {X: {a: secret}}}", "header `X` cannot be sent"),
        (
            "{use_auth: true, auth_pass: [secret]}",
            "option `auth_pass` must be a string",
        ),
        (
            "{use_ssl: true, ssl_key: 5}",
            "option `ssl_key` must be the path of a file",
        ),
    ] {
        assert_eq!(check("http://host/", options).err().unwrap(), expected);
    }
}

#[test]
fn headers_of_the_level_are_added_and_not_shown() {
    let call = check(
        "http://host/",
        "{headers: {Accept: a/b, X-Number: 5, X-List: [c, d]}, use_auth: yes, auth_user: Aladdin, auth_pass: open sesame}",
    )
    .unwrap();
    let sent = |name: &str| -> Vec<&str> {
        let values = call.headers.get_all(name).iter();
        values.map(|value| value.to_str().unwrap()).collect()
    };
    assert_eq!(sent("accept"), ["*/*, a/b"]);
    assert_eq!(sent("x-number"), ["5"]);
    assert_eq!(sent("x-list"), ["c, d"]);
    assert_eq!(
        sent("authorization"),
        ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]
    );
    let shown = format!("{:?}", call.headers);
    assert!(!shown.contains("QWxh") && !shown.contains("a/b"), "{shown}");
}
