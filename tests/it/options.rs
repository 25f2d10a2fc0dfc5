//! Mistakes in `lookup_options`: found at load time with their position, and fatal only to lookups that use them.

use serde_json::{Value, json};

use crate::support::{TestServer, Tree, printed};

const CONFIG: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: json, path: common.json, data_hash: json_data}
  - {name: common, path: common.yaml}
"#;

fn tree(files: &str) -> Tree {
    Tree::new(&format!("{CONFIG}\n{files}"))
}

/// The faults and notices that `hierad check` prints, and whether it succeeds.
fn checked(tree: &Tree) -> (String, bool) {
    let output = tree.hierad("check").output().unwrap();
    let (stdout, _) = printed(&output);
    let root = tree.path("/").display().to_string();
    let lines = stdout
        .lines()
        .filter(|line| line.contains("lookup_options"));
    let lines: Vec<String> = lines.map(|line| line.replace(&root, "")).collect();
    (lines.join("\n"), output.status.success())
}

#[test]
fn an_invalid_pattern_is_a_fault_and_fails_the_nodes_that_use_the_file() {
    let tree = tree(
        "//- /data/common.yaml\nk: 1\n//- /data/nodes/a.yaml\nk: 2\nlookup_options:\n  ok: {merge: first}\n  '^a(': {merge: first}\n",
    );
    let (findings, succeeds) = checked(&tree);
    let expected = "data/nodes/a.yaml:4:3: lookup_options of `^a(`: not a regular expression: end pattern with unmatched parenthesis: /^a(/";
    assert_eq!((findings.as_str(), succeeds), (expected, false));
    let server = TestServer::of(tree, "");
    let shown = server.get("/environments/production").json();
    assert_eq!(shown["state"], "faulty", "{shown}");
    let fault = &shown["faults"][0];
    assert_eq!((&fault["line"], &fault["column"]), (&json!(4), &json!(3)));
    // As in Puppet, every key fails for a node that uses the file, and none for another node.
    let position = format!(
        "`{}`:4:3: ",
        server.tree.path("/data/nodes/a.yaml").display()
    );
    for request in [
        json!({ "key": "k", "node": "a" }),
        json!({ "key": "k", "node": "a", "merge": "first" }),
        json!({ "key": "nothing", "node": "a" }),
        json!({ "key": "k", "node": "a", "explain": true }),
    ] {
        let detail = server.failure(&request);
        assert!(detail.contains(&position), "{request}: {detail}");
    }
    let other = server.lookup(&json!({ "key": "k", "node": "b" })).json();
    assert_eq!(other["value"], json!(1));
}

#[test]
fn an_unknown_merge_fails_only_its_keys_and_names_the_position() {
    let server = TestServer::of(
        tree(
            "//- /data/common.json\n{\"lookup_options\": {\n  \"j\": {\n    \"merge\": \"nope\"}},\n \"j\": 1}\n//- /data/common.yaml\nlookup_options:\n  k: {merge: deeep}\n  '^p':\n    merge: {strategy: hash, knockout_prefix: x}\n  e: [merge, deep]\n  c: {convert_to: 'Array['}\n  n: {convert_to: Nope}\nk: 1\np1: 1\ne: 1\nc: 1\nn: 1\nfine: 1\n",
        ),
        "",
    );
    let common = server.tree.path("/data/common.yaml").display().to_string();
    let json_file = server.tree.path("/data/common.json").display().to_string();
    for (key, expected) in [
        (
            "k",
            format!("`{common}`:2:14: unknown merge strategy `deeep`"),
        ),
        ("p1", format!("`{common}`:4:12: the merge options")),
        ("pnot", format!("`{common}`:4:12: the merge options")),
        (
            "e",
            format!("`{common}`:5:6: the lookup options of a key must be a hash"),
        ),
        ("c", format!("`{common}`:6:19: Invalid data type")),
        (
            "n",
            format!("`{common}`:7:19: The convert_to lookup_option"),
        ),
        (
            "j",
            format!("`{json_file}`:3:5: unknown merge strategy `nope`"),
        ),
    ] {
        for request in [
            json!({ "key": key }),
            json!({ "key": key, "explain": true }),
        ] {
            let detail = server.failure(&request);
            assert!(detail.contains(&expected), "{request}: {detail}");
        }
    }
    assert_eq!(
        server.lookup(&json!({ "key": "fine" })).json()["value"],
        json!(1)
    );
    let first = server
        .lookup(&json!({ "key": "k", "merge": "first" }))
        .json();
    assert_eq!(first["value"], json!(1));
    let shown = server.get("/environments").json();
    let production = &shown["environments"]["production"];
    assert_eq!(production["state"], "faulty", "{shown}");
    let shown = server.get("/environments/production").json();
    assert_eq!(shown["faults"].as_array().map(Vec::len), Some(6), "{shown}");
}

#[test]
fn mistakes_that_depend_on_facts_name_their_position() {
    let server = TestServer::of(
        tree(
            "//- /data/common.yaml\nk: 1\nlookup_options:\n  k: {merge: \"%{facts.m}\"}\n  '^%{facts.p}x': {}\n",
        ),
        "",
    );
    let shown = server.get("/environments/production").json();
    assert_eq!(shown["state"], "ok", "{shown}");
    let ask = |facts: Value| server.lookup(&json!({ "key": "k", "facts": facts }));
    assert_eq!(
        ask(json!({ "m": "first", "p": "" })).json()["value"],
        json!(1)
    );
    let position = format!(
        "`{}`:3:3: unknown",
        server.tree.path("/data/common.yaml").display()
    );
    let detail = ask(json!({ "m": "nope", "p": "" })).detail(422, "lookup-failed");
    assert!(detail.contains(&position), "{detail}");
}

#[test]
fn options_that_puppet_ignores_are_notices_and_fail_nothing() {
    let tree = tree(
        "//- /data/common.yaml\nk: 1\nlookup_options:\n  k: deep\n  l: {megre: deep}\n  m: false\n",
    );
    let (findings, succeeds) = checked(&tree);
    let expected = "data/common.yaml:3:6: lookup_options of `k`: String is ignored; write a hash (notice)\n\
         data/common.yaml:4:6: lookup_options of `l`: `megre` is ignored; there are merge and convert_to (notice)\n\
         data/common.yaml:5:6: lookup_options of `m`: FalseClass is ignored; write a hash (notice)";
    assert_eq!((findings.as_str(), succeeds), (expected, true));
    let server = TestServer::of(tree, "");
    assert_eq!(
        server.lookup(&json!({ "key": "k" })).json()["value"],
        json!(1)
    );
    let shown = server.get("/environments/production").json();
    assert_eq!(shown["state"], "ok", "{shown}");
}

#[test]
fn a_key_of_another_module_in_the_options_of_a_module_is_a_fault() {
    let tree = tree(
        "//- /data/common.yaml\nk: 1\nm::a: 1\n//- /modules/m/hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: c.yaml}]\n//- /modules/m/data/c.yaml\nlookup_options:\n  m::a: {merge: first}\n  n::b: {merge: first}\n",
    );
    let (findings, succeeds) = checked(&tree);
    let expected = "modules/m/data/c.yaml:3:3: all lookup_options keys must start with module name 'm', but there is `n::b`";
    assert_eq!((findings.as_str(), succeeds), (expected, false));
    let server = TestServer::of(tree, "");
    let position = format!(
        "`{}`:3:3: ",
        server.tree.path("/modules/m/data/c.yaml").display()
    );
    for request in [
        json!({ "key": "m::a" }),
        json!({ "key": "m::a", "explain": true }),
    ] {
        let detail = server.failure(&request);
        assert!(detail.contains(&position), "{detail}");
    }
    assert_eq!(
        server.lookup(&json!({ "key": "k" })).json()["value"],
        json!(1)
    );
}
