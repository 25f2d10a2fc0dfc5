//! A web page in the browser of someone who runs a server: it must not be able to ask or to change anything.

use super::{refused, tree};
use crate::support::process::{Answer, Process};

const LOOKUP: &str = r#"{"key":"k"}"#;

/// Sends a request with these fields.
fn send(server: &Process, line: &str, fields: &str, body: &str) -> Answer {
    let request = format!(
        "{line} HTTP/1.1\r\n{fields}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    server.send(request.as_bytes())
}

#[track_caller]
fn is_refused(answer: &Answer, status: u16, kind: &str, setting: &str) {
    assert_eq!(answer.status, status, "{} {}", answer.head, answer.text());
    let problem = answer.json();
    assert_eq!(problem["type"], format!("/problems/{kind}"));
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(setting), "{detail}");
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn a_page_of_another_server_gets_nothing() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let own = format!("Host: {}\r\n", server.address);

    // DNS rebinding: the page's own name leads to this machine.
    for line in [
        "POST /lookup",
        "POST /environments/production/reload",
        "GET /lookup/k",
        "GET /metrics",
    ] {
        let answer = send(
            &server,
            line,
            &format!("Host: attacker.example\r\n{JSON}"),
            LOOKUP,
        );
        is_refused(&answer, 403, "host-not-allowed", "`http.allowed_hosts`");
        let page = "Host: attacker.example:8080\r\nOrigin: http://attacker.example:8080\r\n";
        let answer = send(&server, line, &format!("{page}{JSON}"), LOOKUP);
        is_refused(&answer, 403, "host-not-allowed", "`http.allowed_hosts`");
    }
    // What proxies are sent: the host in the target counts.
    let answer = send(&server, "GET http://attacker.example/lookup/k", &own, "");
    is_refused(&answer, 403, "host-not-allowed", "`attacker.example`");

    // A form or a script of a page on another server.
    for fields in [
        "Origin: https://attacker.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Origin: http://localhost:1\r\nSec-Fetch-Site: same-site\r\n",
    ] {
        for line in [
            "POST /lookup",
            "POST /environments/production/reload",
            "GET /lookup/k",
        ] {
            let answer = send(&server, line, &format!("{own}{fields}{JSON}"), LOOKUP);
            is_refused(&answer, 403, "origin-not-allowed", "`http.cors_origins`");
        }
    }
    // The types that a page can send without asking.
    for fields in [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
    ] {
        let answer = send(&server, "POST /lookup", &format!("{own}{fields}"), LOOKUP);
        is_refused(
            &answer,
            415,
            "unsupported-media-type",
            "send `Content-Type: application/json`",
        );
    }
    assert_eq!(
        (refused(&server, "host"), refused(&server, "origin")),
        (9, 12)
    );
}

#[test]
fn the_own_page_and_other_clients_are_answered() {
    let tree = tree();
    let server = Process::start(&tree, &[]);
    let port = server.address.port();
    for fields in [
        format!("Host: 127.0.0.1:{port}\r\n"),
        format!(
            "Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\nSec-Fetch-Site: same-origin\r\n"
        ),
        format!("Host: hierad.localhost:{port}\r\nSec-Fetch-Site: none\r\n"),
        "Host: [::1]\r\n".to_owned(),
        // A forwarded port.
        "Host: localhost:9\r\nOrigin: http://localhost:9\r\n".to_owned(),
    ] {
        let answer = send(&server, "POST /lookup", &format!("{fields}{JSON}"), LOOKUP);
        assert_eq!(answer.status, 200, "{fields} {}", answer.text());
        let answer = send(&server, "POST /environments/production/reload", &fields, "");
        assert_eq!(answer.status, 200, "{fields} {}", answer.text());
    }
}

#[test]
fn hosts_and_origins_can_be_allowed() {
    let tree = tree();
    let variables = [
        ("HIERAD_ALLOWED_HOSTS", "hierad.example.com"),
        ("HIERAD_CORS_ORIGINS", "https://explorer.example.com"),
    ];
    let server = Process::start(&tree, &variables);
    let fields = "Host: hierad.example.com\r\nOrigin: https://explorer.example.com\r\nSec-Fetch-Site: cross-site\r\n";
    let answer = send(&server, "POST /lookup", &format!("{fields}{JSON}"), LOOKUP);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = send(&server, "GET /lookup/k", "Host: other.example.com\r\n", "");
    is_refused(&answer, 403, "host-not-allowed", "`other.example.com`");
    // A page that may send requests can read why one is refused.
    let page = "Origin: https://explorer.example.com\r\n";
    let answer = send(
        &server,
        "GET /lookup/k",
        &format!("Host: other.example.com\r\n{page}"),
        "",
    );
    is_refused(&answer, 403, "host-not-allowed", "`other.example.com`");
    let head = answer.head.to_lowercase();
    assert!(
        head.contains("access-control-allow-origin: https://explorer"),
        "{head}"
    );
    let answer = send(
        &server,
        "GET /lookup/k",
        "Host: localhost\r\nOrigin: https://other.example.com\r\n",
        "",
    );
    is_refused(
        &answer,
        403,
        "origin-not-allowed",
        "`https://other.example.com`",
    );
}

#[test]
fn beyond_loopback_any_host_is_served_unless_hosts_are_set() {
    let tree = tree();
    let start = |variables: &[(&str, &str)]| {
        let mut server = tree.hierad("serve");
        server.args(["--listen", "0.0.0.0:0"]);
        let server = Process::launch_command(server, variables);
        server.wait_until_ready();
        server
    };
    let ask = |server: &Process, host: &str| {
        let answer = send(server, "GET /lookup/k", &format!("Host: {host}\r\n"), "");
        answer.status
    };
    let server = start(&[]);
    assert_eq!(ask(&server, "hierad.example.com"), 200);
    let server = start(&[("HIERAD_ALLOWED_HOSTS", "hierad.example.com")]);
    assert_eq!(ask(&server, "hierad.example.com"), 200);
    assert_eq!(ask(&server, "10.0.0.1:8080"), 200);
    assert_eq!(ask(&server, "other.example.com"), 403);
}
