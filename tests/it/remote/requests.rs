//! What is sent to other servers, and when: addresses, headers, confined keys.

use std::fs;

use serde_json::json;

use super::{Remote, value};
use crate::encrypted::key_file;
use crate::support::{TestServer, Tree, printed};

#[test]
fn parts_of_the_key_are_inserted_into_the_uri() {
    let remote = Remote::new(|path| (200, format!("\"{path}\"")));
    let server = remote.served(
        "/__KEY__/__MODULE__/__CLASS__/__PARAMETER__",
        "{output: json, confine_to_keys: [k, 'ntp::.*']}",
    );
    assert_eq!(
        value(&server, "ntp::server"),
        json!("/ntp::server/ntp/ntp/server")
    );
    assert_eq!(value(&server, "k"), json!("/k///k"));
}

#[test]
fn facts_are_interpolated_in_the_uri() {
    let remote = Remote::new(|path| (200, json!({ "k": path }).to_string()));
    let server = remote.served(
        "/%{facts.os.family}/%{trusted.certname}?q=%{facts.text}",
        "{output: json}",
    );
    let request = json!({
        "key": "k",
        "node": "web.example.com",
        "facts": { "os": { "family": "Debian" }, "text": "a b" },
    });
    let found = server.lookup(&request).json()["value"].clone();
    // Ruby encodes the address when it parses it, and hiera_http encodes the result again.
    assert_eq!(found, json!("/Debian/web.example.com?q=a%2520b"));
}

#[test]
fn a_level_is_asked_only_for_the_keys_in_confine_to_keys() {
    let remote = Remote::with(&json!({ "k": "elsewhere", "ntp::server": "elsewhere" }));
    let server = remote.served("/", r#"{output: json, confine_to_keys: ["ntp::.*", "x"]}"#);
    assert_eq!(value(&server, "k"), json!("common"));
    assert_eq!(remote.paths().len(), 0);
    assert_eq!(value(&server, "ntp::server"), json!("elsewhere"));
    let explained = server
        .post_accepting("text/plain", r#"{"key":"k","explain":true}"#)
        .text();
    assert!(explained.contains("confine_to_keys"), "{explained}");
}

#[test]
fn headers_and_passwords_are_sent_but_never_shown() {
    let remote = Remote::new(|path| match path {
        "/good" => (200, r#"{"k": 1}"#.to_owned()),
        _ => (500, String::new()),
    });
    let options = "{output: json, headers: {X-Token: t0p-secret, X-Node: \"%{trusted.certname}\"}, use_auth: true, auth_user: me, auth_pass: 5wordfish}";
    let request = json!({ "key": "k", "node": "web", "explain": true });
    let mut said = String::new();
    for path in ["/good", "/bad"] {
        let server = remote.served(path, options);
        said += &server.lookup(&request).text();
        said += &server
            .post_accepting("text/plain", request.to_string())
            .text();
        said += &server.get("/environments/production").text();
    }
    let asked = remote.asked.lock().unwrap();
    let (_, headers) = &asked[0];
    assert_eq!(headers["x-token"], "t0p-secret");
    assert_eq!(headers["x-node"], "web");
    assert_eq!(headers["authorization"], "Basic bWU6NXdvcmRmaXNo");
    for secret in ["t0p-secret", "5wordfish", "bWU6NXdvcmRmaXNo"] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
}

#[test]
fn user_and_password_in_a_uri_are_never_shown() {
    let remote = Remote::new(|path| match path {
        "/good" => (200, r#"{"k": 1}"#.to_owned()),
        _ => (500, String::new()),
    });
    let good = remote.uri("/good").replace("//", "//me:5wordfish@");
    let bad = remote.uri("/bad").replace("//", "//me:5wordfish@");
    let mut said = String::new();
    for uri in [
        good.as_str(),
        &bad,
        // URIs that cannot be requested, each for its own reason.
        "http://me:5wordfish@ho st/x",
        "http://me:5word fish@host/x",
        "http://me:5word/fish@host/x",
        "http://me:5wordfish@host/%{facts.0}",
        "http://me:5wordfish@host/%{0}",
        "http://me:5wordfish@host/%{lookup('k')}",
        "http://me:5wordfish@host/%{'}",
        "ftp://me:5wordfish@host/x",
        "http://me:5wordfish@host/%{facts.note}",
        "me:5wordfish@host",
    ] {
        for kind in ["uri: ", "uris: "] {
            let locations = match kind {
                "uri: " => format!("uri: \"{uri}\""),
                _ => format!("uris: [\"{uri}\"]"),
            };
            let tree = remote.tree_of(&locations, "{output: json}");
            let server = TestServer::of(tree, "");
            let mut request = json!({ "key": "k", "facts": { "note": "ä b", "0": { "x": 1 } } });
            said += &server.lookup(&request).text();
            request["explain"] = json!(true);
            said += &server.lookup(&request).text();
            said += &server
                .post_accepting("text/plain", request.to_string())
                .text();
            said += &server.get("/environments/production").text();
            said += &server.get("/environments").text();
            for command in ["lookup", "check"] {
                let mut process = server.tree.hierad(command);
                if command == "lookup" {
                    process.args(["k", "--explain"]);
                }
                let (stdout, stderr) = printed(&process.output().unwrap());
                said += &stdout;
                said += &stderr;
            }
        }
    }
    for secret in ["5word", "fish", "me:"] {
        let line = said.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    assert!(said.contains("://host/x"), "{said}");
}

#[test]
fn facts_cannot_select_a_certificate_in_another_directory() {
    let remote = Remote::with(&json!({}));
    let tree = Tree::empty();
    let certificate = fs::read(key_file("public_key.pkcs7.pem")).unwrap();
    for directory in ["here", "elsewhere"] {
        tree.write(&format!("R/{directory}/ca.pem"), &certificate);
    }
    let here = tree.path("R/here").display().to_string();
    let uri = remote.uri("/");
    tree.write(
        "/hiera.yaml",
        format!("version: 5\nhierarchy: [{{name: tls, lookup_key: hiera_http, uri: '{uri}', options: {{use_ssl: true, ssl_ca_cert: '{here}/%{{facts.ca}}.pem'}}}}]\n"),
    );
    let server = TestServer::of(tree, "");
    let failure = |ca: &str| {
        let request = json!({ "key": "k", "facts": { "ca": ca } });
        server.failure(&request)
    };
    // The server does not use TLS.
    assert!(!failure("ca").contains("ssl_ca_cert"), "{}", failure("ca"));
    for ca in ["../elsewhere/ca", "x/../../elsewhere/ca"] {
        assert!(failure(ca).contains("ssl_ca_cert"), "{}", failure(ca));
        assert!(!failure(ca).contains("elsewhere"), "{}", failure(ca));
    }
}

#[test]
fn facts_cannot_leave_the_path_of_a_uri_or_add_a_query() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: remote, lookup_key: hiera_http, uri: "http://127.0.0.1:9/nodes/%{facts.role}"}
"#;
    let server = TestServer::new(fixture);
    for (role, what) in [
        ("../admin", "`..`"),
        ("a?all=1", "a query"),
        ("a#b", "a fragment"),
    ] {
        let detail = server.failure(&json!({"key": "k", "facts": {"role": role}}));
        assert!(
            detail.contains(&format!("a variable adds {what}")),
            "{detail}"
        );
    }
}
