//! Values from other servers: documents, keys, addresses, merges.

use serde_json::{Value, json};

use super::{Remote, value};
use crate::support::{TestServer, printed};

#[test]
fn a_value_is_found_over_http_and_on_the_command_line() {
    let remote = Remote::with(&json!({ "k": { "from": ["elsewhere", 1, null] } }));
    let server = remote.served("/data", "{output: json}");
    let expected = json!({ "from": ["elsewhere", 1, null] });
    assert_eq!(value(&server, "k"), expected);
    assert_eq!(value(&server, "k.from.0"), json!("elsewhere"));
    assert_eq!(server.get("/lookup/k").json()["value"], expected);
    // Keys that the server does not have are looked up in lower levels.
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
fn the_options_choose_a_part_of_the_document() {
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
        // Otherwise it would be asked for `lookup_options` too, as in Puppet, and the document does not contain any.
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
fn a_document_can_be_the_data_hash_of_a_level() {
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
fn a_document_is_parsed_as_the_level_configures() {
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
fn several_uris_are_asked_in_order_and_merged() {
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
fn a_merge_with_a_knockout_prefix_includes_values_of_other_servers() {
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
    // The other way round: the level of the server is below.
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
fn a_key_with_interpolation_syntax_in_its_name_is_found_as_written() {
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
fn interpolation_looks_up_remote_values() {
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
fn an_explanation_shows_the_uri() {
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
