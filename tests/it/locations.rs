//! Locations of levels: what they may name is loaded, and what a request sends cannot choose whose data it reads.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{TestServer, Tree, check_request};

/// Asks for `k` with these facts.
fn ask(server: &TestServer, facts: &Value) -> String {
    server.value(&json!({"key": "k", "facts": facts}))
}

#[test]
fn any_number_of_paths_may_go_through_one_directory() {
    let tree = Tree::empty();
    let paths: Vec<String> = (0..80)
        .map(|index| format!("%{{facts.group}}/{index}.yaml"))
        .collect();
    let hierarchy = json!([
        {"name": "private", "datadir": "private/%{environment}", "paths": paths},
        {"name": "common", "path": "common.yaml"},
    ]);
    tree.write(
        "/hiera.yaml",
        json!({"version": 5, "hierarchy": hierarchy}).to_string(),
    );
    tree.write("/data/common.yaml", "k: common\n");
    tree.write("/private/production/ops/79.yaml", "k: private\n");
    tree.write("/private/other/ops/1.yaml", "k: another environment's\n");
    let server = TestServer::of(tree, "");
    assert_eq!(ask(&server, &json!({"group": "ops"})), r#""private""#);
    assert_eq!(ask(&server, &json!({"group": "web"})), r#""common""#);
    // What only another environment can name is not loaded for this one.
    let files = &server.get("/environments/production").json()["files"];
    assert_eq!(files, 2);
}

const GLOBS: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: globs
    globs: [plain.yaml, "x/{%{facts.list}}.yaml", "y/%{facts.role}.yaml", "z/[%{facts.class}].yaml"]
//- /data/plain.yaml
plain: 1
//- /data/x/web.yaml
k: web
//- /data/x/db.yaml
k: db
//- /data/y/a.yaml
k: a
//- /data/y/*.yaml
k: star
//- /data/y/{a,b}.yaml
k: braces
//- /data/z/a.yaml
k: class
//- /data/secure/a.yaml
k: secret
"#;

#[test]
fn globs_without_a_wildcard_and_with_variables_in_braces_find_their_files() {
    let server = TestServer::new(GLOBS);
    assert_eq!(server.value(&json!({"key": "plain"})), "1");
    let list = |list: &str| ask(&server, &json!({"list": list}));
    assert_eq!(list("db"), r#""db""#);
    assert_eq!(list("web,db"), r#""web""#);
    assert_eq!(list("db,web"), r#""db""#);
}

#[test]
fn what_comes_out_of_a_variable_is_literal_in_a_glob() {
    let server = TestServer::new(GLOBS);
    let nothing = "nothing";
    for (fact, value, expected) in [
        ("role", "a", r#""a""#),
        ("role", "*", r#""star""#),
        ("role", "{a,b}", r#""braces""#),
        ("role", "?", nothing),
        ("role", "[a-z]", nothing),
        ("role", "**/../secure/a", nothing),
        ("role", "../secure/a", nothing),
        ("role", r"\.\./secure/a", nothing),
        ("list", "w*", nothing),
        ("list", "{web}", nothing),
        ("list", "../secure/a", nothing),
        ("list", "z,../secure/a", nothing),
        ("list", r"\.\./secure/a", nothing),
        ("class", "a", r#""class""#),
        ("class", "a-z", r#""class""#),
        ("class", "!b", nothing),
        ("class", "^b", nothing),
        ("class", "b-z", nothing),
    ] {
        let reply = server.lookup(&json!({"key": "k", "facts": {fact: value}}));
        let shown = match reply.status {
            200 => reply.json()["value"].to_string(),
            404 => nothing.to_owned(),
            _ => reply.text(),
        };
        assert_eq!(shown, expected, "{fact} = {value}");
    }
}

#[test]
fn too_many_alternatives_fail_the_lookup() {
    let server = TestServer::new(GLOBS);
    let list = vec!["a"; 20_000].join(",");
    let reply = server.lookup(&json!({"key": "k", "facts": {"list": list}}));
    let detail = reply.detail(422, "lookup-failed");
    assert!(
        detail.contains("more than 10000 alternatives"),
        "{}",
        detail.chars().rev().take(200).collect::<String>()
    );
}

#[test]
fn a_search_that_goes_too_far_is_a_fault_and_lookups_that_need_it_fail() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: nodes, path: "nodes/%{trusted.certname}.yaml"}
  - {name: groups, path: "%{facts.group}/%{facts.group}.yaml"}
  - {name: common, path: common.yaml}
//- /data/common.yaml
k: common
"#;
    let tree = Tree::new(fixture);
    for index in 0..20 {
        tree.write(&format!("/data/nodes/{index}.yaml"), "k: node\n");
    }
    let enough = TestServer::of(tree, "limits: {max_files: 25}");
    assert_eq!(enough.value(&json!({"key": "k", "node": "7"})), r#""node""#);
    assert_eq!(ask(&enough, &json!({})), r#""common""#);
    let server = TestServer::of(enough.tree, "limits: {max_files: 10}");
    let reply = server.lookup(&json!({"key": "k", "node": "nowhere"}));
    let detail = reply.detail(422, "lookup-failed");
    for part in ["/data", "more than 10 files", "limits.max_files"] {
        assert!(detail.contains(part), "{detail}");
    }
    let environment = server.get("/environments/production").json().to_string();
    assert!(environment.contains("limits.max_files"), "{environment}");
}

#[test]
fn links_are_kept_inside_the_tree_where_that_is_set() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: nodes, path: "nodes/%{facts.role}.yaml"}
  - {name: fixed, path: fixed/common.yaml}
//- /data/nodes/a.yaml
k: plain
//- /inside/b.yaml
k: inside
"#;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("c.yaml"), "k: outside\n").unwrap();
    fs::write(outside.path().join("common.yaml"), "k: fixed\n").unwrap();
    let served = |policy: &str| {
        let tree = Tree::new(fixture);
        symlink("../../inside", tree.path("/data/nodes/in")).unwrap();
        symlink(outside.path(), tree.path("/data/nodes/out")).unwrap();
        symlink(
            outside.path().join("c.yaml"),
            tree.path("/data/nodes/c.yaml"),
        )
        .unwrap();
        TestServer::of(tree, &format!("reload: {{follow_links: {policy}}}"))
    };
    let answers = |server: &TestServer| {
        ["a", "in/b", "out/c", "c"].map(|name| {
            let reply = server.lookup(&json!({"key": "k", "facts": {"role": name}}));
            match reply.status {
                200 => reply.json()["value"].as_str().unwrap().to_owned(),
                status => status.to_string(),
            }
        })
    };
    assert_eq!(
        answers(&served("all")),
        ["plain", "inside", "outside", "outside"]
    );
    assert_eq!(
        answers(&served("inside")),
        ["plain", "inside", "422", "422"]
    );
    assert_eq!(answers(&served("none")), ["plain", "422", "422", "422"]);
}

#[test]
fn a_link_to_a_directory_above_it_is_followed_as_far_as_a_lookup_goes() {
    let tree = Tree::new(
        r#"
//- /hiera.yaml
version: 5
hierarchy: [{name: nodes, path: "nodes/%{facts.role}.yaml"}]
//- /data/nodes/a.yaml
k: found
"#,
    );
    symlink(".", tree.path("/data/nodes/loop")).unwrap();
    let server = TestServer::of(tree, "");
    for name in ["a", "loop/a", "loop/loop/loop/a"] {
        assert_eq!(ask(&server, &json!({"role": name})), r#""found""#, "{name}");
    }
}

#[test]
fn a_link_to_nothing_is_absent_by_a_path_and_fails_a_glob() {
    let served = |location: &str| {
        let tree = Tree::new(&format!(
            "//- /hiera.yaml\nversion: 5\nhierarchy: [{{name: a, {location}}}, {{name: b, path: b.yaml}}]\n\
             //- /data/b.yaml\nk: b\n//- /data/x/c.yaml\nother: 1\n"
        ));
        symlink("nowhere", tree.path("/data/x/a.yaml")).unwrap();
        TestServer::of(tree, "")
    };
    assert_eq!(
        ask(
            &served("path: 'x/%{facts.role}.yaml'"),
            &json!({"role": "a"})
        ),
        r#""b""#
    );
    let failed = served("glob: 'x/*.yaml'").lookup(&json!({"key": "k"}));
    assert!(failed.detail(422, "lookup-failed").contains("x/a.yaml"));
}

#[test]
fn a_path_goes_only_through_directories_that_are_there() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy: [{name: a, path: "%{facts.one}x/../a.yaml"}, {name: b, path: b.yaml/}, {name: c, path: c.yaml}]
//- /data/a.yaml
k: a
//- /data/here/file.yaml
{}
//- /data/herex/file.yaml
{}
//- /data/b.yaml
k: b
//- /data/c.yaml
k: c
"#;
    check_request(
        fixture,
        &json!({"key": "k", "facts": {"one": "here"}}),
        r#""a""#,
    );
    check_request(
        fixture,
        &json!({"key": "k", "facts": {"one": "gone"}}),
        r#""c""#,
    );
}

#[test]
fn a_fact_cannot_lead_an_address_elsewhere() {
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
        let reply = server.lookup(&json!({"key": "k", "facts": {"role": role}}));
        let detail = reply.detail(422, "lookup-failed");
        assert!(
            detail.contains(&format!("a variable adds {what}")),
            "{detail}"
        );
    }
}

#[test]
fn a_directory_is_a_fault_only_where_a_location_always_names_it() {
    let faults = |location: &str| {
        let fixture = format!(
            "//- /hiera.yaml\nversion: 5\nhierarchy: [{{name: a, path: '{location}'}}, {{name: b, path: b.yaml}}]\n\
             //- /data/b.yaml\nk: b\n//- /data/roles/web/x.yaml\n{{}}\n\
             //- /data/production/x.yaml\n{{}}\n"
        );
        let server = TestServer::new(&fixture);
        let failed = server.lookup(&json!({"key": "k", "facts": {"role": "web"}}));
        assert!(
            failed
                .detail(422, "lookup-failed")
                .contains("it is a directory")
        );
        let environment = server.get("/environments/production").json();
        environment["faults"]
            .to_string()
            .matches("it is a directory")
            .count()
    };
    assert_eq!(faults("roles/%{facts.role}"), 0);
    assert_eq!(faults("roles/web"), 1);
    assert_eq!(faults("%{environment}"), 1);
}
