//! Levels whose data comes from another server (`lookup_key: hiera_http`), against one on loopback.

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::encrypted::key_file;
use crate::process::{Process, wait_for};
use crate::support::{TestServer, Tree, printed};

/// A server with data. Its connections end with it.
pub(crate) struct Remote {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<(String, HeaderMap)>>>,
    _runtime: Runtime,
}

impl Remote {
    /// Answers by path and query.
    fn new(answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        Remote::held_until(watch::channel(true).1, answer)
    }

    /// The same, once it is released.
    fn held_until(
        released: watch::Receiver<bool>,
        answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        Remote::start(released, move |path, _| {
            let (status, body) = answer(path);
            (Duration::ZERO, status, body)
        })
    }

    /// Answers by path and headers, after a delay.
    pub(crate) fn answering(
        answer: impl Fn(&str, &HeaderMap) -> (Duration, u16, String) + Send + Sync + 'static,
    ) -> Self {
        Remote::start(watch::channel(true).1, answer)
    }

    fn start(
        released: watch::Receiver<bool>,
        answer: impl Fn(&str, &HeaderMap) -> (Duration, u16, String) + Send + Sync + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (noted, answer) = (asked.clone(), Arc::new(answer));
        let router = Router::new().fallback(move |request: Request| {
            let path = request.uri().to_string();
            let headers = request.headers().clone();
            noted.lock().unwrap().push((path.clone(), headers.clone()));
            let (answer, mut released) = (answer.clone(), released.clone());
            async move {
                // The sender may be gone already.
                _ = released.wait_for(|released| *released).await;
                let (delay, status, body) = answer(&path, &headers);
                tokio::time::sleep(delay).await;
                (StatusCode::from_u16(status).unwrap(), body)
            }
        });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Remote {
            address,
            asked,
            _runtime: runtime,
        }
    }

    /// Has one document, wherever it is asked for.
    fn with(document: &Value) -> Self {
        let document = document.to_string();
        Remote::new(move |_| (200, document.clone()))
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it was asked for.
    fn paths(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(path, _)| path.clone()).collect()
    }

    /// A tree with a level that asks this server, above one with plain data.
    fn tree(&self, path: &str, options: &str) -> Tree {
        self.tree_of(&format!("uri: \"{}\"", self.uri(path)), options)
    }

    fn tree_of(&self, locations: &str, options: &str) -> Tree {
        let tree = Tree::empty();
        tree.write(
            "/hiera.yaml",
            format!(
                "version: 5\nhierarchy:\n  - {{name: elsewhere, lookup_key: hiera_http, {locations}, options: {options}}}\n  - {{name: common, path: common.yaml}}\n"
            ),
        );
        tree.write(
            "/data/common.yaml",
            "k: common\nntp::server: common\nlist: [common]\nhash: {a: {common: 1}}\nown: 1\n",
        );
        tree
    }

    fn served(&self, path: &str, options: &str) -> TestServer {
        TestServer::of(self.tree(path, options), "")
    }
}

#[track_caller]
fn value(server: &TestServer, key: &str) -> Value {
    server.lookup(&json!({ "key": key })).json()["value"].clone()
}

#[test]
fn a_value_is_found_elsewhere_and_on_the_command_line() {
    let remote = Remote::with(&json!({ "k": { "from": ["elsewhere", 1, null] } }));
    let server = remote.served("/data", "{output: json}");
    let expected = json!({ "from": ["elsewhere", 1, null] });
    assert_eq!(value(&server, "k"), expected);
    assert_eq!(value(&server, "k.from.0"), json!("elsewhere"));
    assert_eq!(server.get("/lookup/k").json()["value"], expected);
    // What is not there is looked for further down.
    assert_eq!(value(&server, "own"), json!(1));
    assert_eq!(server.lookup(&json!({ "key": "nowhere" })).status, 404);
    let output = server
        .tree
        .hierad("lookup")
        .args(["k", "--render-as", "json"])
        .output()
        .unwrap();
    let (stdout, stderr) = printed(&output);
    assert_eq!(
        serde_json::from_str::<Value>(&stdout).ok(),
        Some(expected),
        "{stderr}"
    );
}

#[test]
fn a_document_is_taken_apart_or_whole() {
    let document =
        json!({ "k": "dug", "data": { "k": "deep" }, "some": { "ntp::server": "named" } });
    for (options, key, expected) in [
        ("output: json", "k", json!("dug")),
        ("output: json, dig: true", "k", json!("dug")),
        ("output: json, dig: false", "k", document.clone()),
        ("output: json, dig_key: data.k", "k", json!("deep")),
        ("output: json, dig_key: data.__KEY__", "k", json!("deep")),
        (
            "output: json, dig_key: some.__KEY__",
            "ntp::server",
            json!("named"),
        ),
        ("output: json, dig_key: data.nothing", "k", json!("common")),
        ("output: json, dig_key: k.k", "k", json!("common")),
    ] {
        // Else it would be asked for `lookup_options` as well, as Puppet does, and the whole is none.
        let options = format!("{{confine_to_keys: [k, 'ntp::.*'], {options}}}");
        let server = Remote::with(&document);
        assert_eq!(
            value(&server.served("/", &options), key),
            expected,
            "{options}"
        );
    }
}

#[test]
fn a_document_may_be_the_data_of_a_level() {
    let remote = Remote::with(&json!({ "k": "%{facts.who}", "lookup_options": {} }));
    let tree = remote.tree("/level", "{http_read_timeout: 5}");
    let config = std::fs::read_to_string(tree.path("/hiera.yaml")).unwrap();
    tree.write(
        "/hiera.yaml",
        config.replace("lookup_key: hiera_http", "data_hash: hiera_http"),
    );
    let server = TestServer::of(tree, "");
    let answer = server.lookup(&json!({ "key": "k", "facts": { "who": "me" } }));
    assert_eq!(answer.json()["value"], json!("me"));
    assert_eq!(value(&server, "own"), json!(1));
}

#[test]
fn parts_of_the_key_are_filled_into_the_address() {
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
fn a_document_is_read_as_its_level_says() {
    for (output, document, expected) in [
        ("json", r#"{"k": [1, 2.5, true]}"#, json!([1, 2.5, true])),
        ("yaml", "k: [1, 2.5, yes]", json!([1, 2.5, true])),
        ("plain", "k: [1]", json!("k: [1]")),
        ("json", r#"{"k": "is %{facts.host}"}"#, json!("is web")),
        ("plain", "is %{facts.host}", json!("is web")),
    ] {
        let remote = Remote::new(move |_| (200, document.to_owned()));
        let server = remote.served("/", &format!("{{output: {output}, confine_to_keys: [k]}}"));
        let request = json!({ "key": "k", "facts": { "host": "web" } });
        assert_eq!(
            server.lookup(&request).json()["value"],
            expected,
            "{output} {document}"
        );
    }
}

#[test]
fn a_document_that_is_not_what_it_should_be_fails_the_lookup() {
    for (output, document) in [("json", "{"), ("yaml", "a: [")] {
        let remote = Remote::new(move |_| (200, document.to_owned()));
        let server = remote.served("/doc", &format!("{{output: {output}}}"));
        let detail = server
            .lookup(&json!({ "key": "k" }))
            .detail(422, "lookup-failed");
        assert!(detail.contains(&remote.uri("/doc")), "{detail}");
    }
}

#[test]
fn a_status_fails_the_lookup_and_names_the_address_unless_the_level_says_otherwise() {
    for (status, options, passes) in [
        (404, "{}", false),
        (404, "{ignore_404: true}", true),
        (404, "{failure: graceful}", true),
        (500, "{}", false),
        (500, "{ignore_404: true}", false),
        (500, "{failure: graceful}", true),
        (403, "{ignore_404: true}", false),
    ] {
        let remote = Remote::new(move |_| (status, "told to nobody".to_owned()));
        let server = remote.served("/x", options);
        let answer = server.lookup(&json!({ "key": "k" }));
        if passes {
            assert_eq!(answer.json()["value"], "common", "{status} {options}");
            continue;
        }
        let detail = answer.detail(422, "lookup-failed");
        assert!(detail.contains(&remote.uri("/x")), "{detail}");
        assert!(
            detail.contains(&status.to_string()) && detail.contains("elsewhere"),
            "{detail}"
        );
        assert!(!detail.contains("told to nobody"), "{detail}");
        let output = server.tree.hierad("lookup").arg("k").output().unwrap();
        let (_, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(&remote.uri("/x")), "{stderr}");
    }
}

#[test]
fn a_server_that_is_not_there_fails_the_lookups_that_come_to_it() {
    let remote = Remote::with(&json!({}));
    let (server, uri) = (remote.served("/x", "{}"), remote.uri("/x"));
    let graceful = remote.served("/x", "{failure: graceful}");
    drop(remote);
    let detail = server
        .lookup(&json!({ "key": "k" }))
        .detail(422, "lookup-failed");
    assert!(
        detail.contains(&uri) && detail.contains("cannot connect"),
        "{detail}"
    );
    assert_eq!(value(&graceful, "k"), json!("common"));
    let batch = server.lookup(&json!({ "keys": ["k", "own"] })).json();
    assert_eq!(
        batch["results"]["k"]["error"]["type"], "/problems/lookup-failed",
        "{batch}"
    );
}

#[test]
fn a_level_is_asked_only_for_the_keys_it_is_confined_to() {
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
fn headers_and_passwords_are_sent_and_not_shown() {
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
fn a_merge_with_knock_outs_has_the_values_of_other_servers() {
    let remote = Remote::with(&json!({
        "list": ["elsewhere", "--common"],
        "hash": { "a": { "elsewhere": 2, "--common": 0 } },
    }));
    let server = remote.served("/data", "{output: json}");
    let merged = |key: &str| {
        let merge = json!({ "strategy": "deep", "knockout_prefix": "--" });
        let request = json!({ "key": key, "merge": merge });
        server.lookup(&request).json()["value"].clone()
    };
    assert_eq!(merged("list"), json!(["elsewhere"]));
    assert_eq!(merged("hash")["a"]["elsewhere"], json!(2));
    assert_eq!(merged("own"), json!(1));
    // The other way round: what a server has is below.
    let tree = remote.tree("/data", "{output: json}");
    let config = std::fs::read_to_string(tree.path("/hiera.yaml")).unwrap();
    let mut lines: Vec<&str> = config.lines().collect();
    lines.swap(2, 3);
    tree.write("/hiera.yaml", lines.join("\n"));
    tree.write("/data/common.yaml", "list: [common, --elsewhere]\n");
    let server = TestServer::of(tree, "");
    let request =
        json!({ "key": "list", "merge": { "strategy": "deep", "knockout_prefix": "--" } });
    let answer = server.lookup(&request).json();
    assert_eq!(answer["value"], json!(["--common", "common"]), "{answer}");
}

#[test]
fn a_key_with_a_token_in_its_name_is_found_as_it_is_written() {
    let remote = Remote::with(&json!({ "%{facts_k}": "%{facts.k}" }));
    for kind in ["lookup_key", "data_hash"] {
        let tree = remote.tree("/data", "{output: json}");
        let config = std::fs::read_to_string(tree.path("/hiera.yaml")).unwrap();
        tree.write("/hiera.yaml", config.replace("lookup_key", kind));
        let server = TestServer::of(tree, "");
        let answer = server.lookup(&json!({ "key": "'%{facts_k}'", "facts": { "k": 1 } }));
        assert_eq!(answer.json()["value"], json!("1"), "{kind}");
    }
}

#[test]
fn the_user_of_an_address_is_shown_nowhere() {
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
        // None that could be asked, each in its way.
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
fn facts_are_filled_into_the_address() {
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
    // hiera_http encodes a second time what Ruby encoded when it read the address.
    assert_eq!(found, json!("/Debian/web.example.com?q=a%2520b"));
}

#[test]
fn facts_lead_to_no_certificate_elsewhere() {
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
        server.lookup(&request).detail(422, "lookup-failed")
    };
    // The server speaks no TLS.
    assert!(!failure("ca").contains("ssl_ca_cert"), "{}", failure("ca"));
    for ca in ["../elsewhere/ca", "x/../../elsewhere/ca"] {
        assert!(failure(ca).contains("ssl_ca_cert"), "{}", failure(ca));
        assert!(!failure(ca).contains("elsewhere"), "{}", failure(ca));
    }
}

#[test]
fn several_addresses_are_asked_in_order_and_merged() {
    let remote = Remote::new(|path| {
        let document = match path {
            "/first" => json!({ "list": ["first", "both"], "hash": { "a": { "first": 1 } } }),
            _ => {
                json!({ "k": "second", "list": ["both", "second"], "hash": { "a": { "second": 2 } } })
            }
        };
        (200, document.to_string())
    });
    let locations = format!(
        "uris: [\"{}\", \"{}\"]",
        remote.uri("/first"),
        remote.uri("/second")
    );
    let server = TestServer::of(remote.tree_of(&locations, "{output: json}"), "");
    assert_eq!(value(&server, "k"), json!("second"));
    let merged = |key: &str, merge: &str| {
        server.lookup(&json!({ "key": key, "merge": merge })).json()["value"].clone()
    };
    assert_eq!(
        merged("list", "unique"),
        json!(["first", "both", "second", "common"])
    );
    assert_eq!(
        merged("hash", "deep"),
        json!({ "a": { "common": 1, "second": 2, "first": 1 } })
    );
}

#[test]
fn an_explanation_shows_the_address() {
    let remote = Remote::with(&json!({ "k": "elsewhere" }));
    let server = remote.served("/data/%{facts.os}", "{output: json}");
    let request = json!({ "key": "k", "explain": true, "facts": { "os": "Debian" } });
    let uri = remote.uri("/data/Debian");
    let text = server
        .post_accepting("text/plain", request.to_string())
        .text();
    assert!(
        text.contains(&uri) && text.contains("\"elsewhere\""),
        "{text}"
    );
    let json = server.lookup(&request).json();
    assert!(json["explanation"].to_string().contains(&uri), "{json}");
    let output = server
        .tree
        .hierad("lookup")
        .args(["k", "--explain"])
        .output()
        .unwrap();
    let (stdout, stderr) = printed(&output);
    assert!(stdout.contains(&remote.uri("/data/")), "{stdout}{stderr}");
}

#[test]
fn a_batch_asks_once_and_what_was_answered_is_kept_for_a_while() {
    let document: serde_json::Map<String, Value> = (0..50)
        .map(|number| (format!("k{number}"), json!(number)))
        .collect();
    let keys: Vec<String> = document.keys().cloned().collect();
    let remote = Remote::with(&Value::Object(document));
    let server = remote.served("/all", "{output: json}");
    for _ in 0..3 {
        let batch = server.lookup(&json!({ "keys": keys })).json();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(batch["results"][key]["value"], json!(number));
        }
    }
    assert_eq!(value(&server, "k7"), json!(7));
    assert_eq!(remote.paths(), ["/all"]);
    // Another node is another question only where its name is in the address.
    assert_eq!(server.value(&json!({ "key": "k7", "node": "other" })), "7");
    assert_eq!(remote.paths().len(), 1);
}

#[test]
fn how_long_an_answer_is_kept_is_a_setting() {
    let remote = Remote::with(&json!({ "k": "elsewhere" }));
    let options = "{output: json}";
    for (settings, asked) in [
        ("", 1),
        ("remote: {ttl_s: 0}", 3),
        ("remote: {cache_entries: 0}", 3),
        ("remote: {cache_bytes: 5}", 3),
    ] {
        remote.asked.lock().unwrap().clear();
        let server = TestServer::of(remote.tree("/", options), settings);
        for _ in 0..3 {
            assert_eq!(value(&server, "k"), json!("elsewhere"), "{settings}");
        }
        assert_eq!(remote.paths().len(), asked, "{settings}");
    }
    let settings = "remote: {max_document_size: 5}";
    let server = TestServer::of(remote.tree("/", options), settings);
    let detail = server
        .lookup(&json!({ "key": "k" }))
        .detail(422, "lookup-failed");
    assert!(detail.contains("larger than 5 bytes"), "{detail}");

    // With neither, a server that is gone leaves nothing.
    let settings = "remote: {ttl_s: 0, stale_s: 0}";
    let forgetful = TestServer::of(remote.tree("/", options), settings);
    let faithful = TestServer::of(remote.tree("/", options), "remote: {ttl_s: 0}");
    for server in [&forgetful, &faithful] {
        assert_eq!(value(server, "k"), json!("elsewhere"));
    }
    drop(remote);
    assert_eq!(value(&faithful, "k"), json!("elsewhere"));
    assert_eq!(forgetful.lookup(&json!({ "key": "k" })).status, 422);
}

#[test]
fn what_was_answered_serves_while_the_server_is_down() {
    let remote = Remote::new(|_| (200, r#""elsewhere""#.to_owned()));
    let server = remote.served("/__KEY__", "{output: json, confine_to_keys: [k, own]}");
    assert_eq!(value(&server, "k"), json!("elsewhere"));
    drop(remote);
    assert_eq!(value(&server, "k"), json!("elsewhere"));
    assert_eq!(server.lookup(&json!({ "key": "own" })).status, 422);
}

#[test]
fn an_answer_with_data_from_elsewhere_has_no_tag() {
    let remote = Remote::with(&json!({ "k": "elsewhere" }));
    let tree = remote.tree("/", "{output: json}");
    tree.write("C/environments/own/hiera.yaml", "version: 5\n");
    tree.write("C/environments/own/data/common.yaml", "k: own\n");
    let server = TestServer::of(tree, "");
    assert!(!server.get("/lookup/k").headers.contains_key("etag"));
    assert!(!server.get("/lookup/own").headers.contains_key("etag"));
    assert!(
        server
            .get("/lookup/k?environment=own")
            .headers
            .contains_key("etag")
    );
    let request = Request::get("/lookup/k").header("if-none-match", "*");
    let answer = server.send(request.body(axum::body::Body::empty()).unwrap());
    assert_eq!(answer.json()["value"], "elsewhere");
}

#[test]
fn interpolation_reaches_data_from_elsewhere() {
    let remote = Remote::with(&json!({ "host": "db", "port": 5432 }));
    let tree = remote.tree("/", "{output: json}");
    tree.write(
        "/data/common.yaml",
        "url: \"pg://%{lookup('host')}:%{lookup('port')}\"\n",
    );
    assert_eq!(
        value(&TestServer::of(tree, ""), "url"),
        json!("pg://db:5432")
    );
    assert_eq!(remote.paths().len(), 1);
}

#[test]
fn sixty_four_slow_answers_delay_nothing_else() {
    let (release, released) = watch::channel(false);
    let remote = Remote::held_until(released, |path| (200, json!({ "k": path }).to_string()));
    let tree = remote.tree("/%{facts.number}", "{output: json, http_read_timeout: 60}");
    let server = Process::start(&tree, &[]);
    std::thread::scope(|scope| {
        for number in 0..64 {
            let server = &server;
            scope.spawn(move || {
                let body = json!({ "key": "k", "facts": { "number": number } }).to_string();
                let answer = server.lookup(body.as_bytes());
                assert_eq!(answer.status, 200, "{}", answer.text());
                assert_eq!(answer.json()["value"], json!(format!("/{number}")));
            });
        }
        wait_for("all requests to arrive", || {
            (remote.paths().len() == 64).then_some(())
        });
        // All of them wait, and will until the end of this.
        assert_eq!(server.get("/livez").status, 200);
        assert_eq!(server.get("/environments").status, 200);
        assert_eq!(server.get("/lookup/k?environment=other").status, 404);
        release.send(true).unwrap();
    });
}
