//! Symbolic links.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::value_with;
use crate::support::{TestServer, Tree};

#[test]
fn follow_links_limits_which_links_are_followed() {
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
fn a_link_to_its_own_directory_is_followed_as_often_as_a_path_names_it() {
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
        assert_eq!(
            value_with(&server, &json!({"role": name})),
            r#""found""#,
            "{name}"
        );
    }
}

#[test]
fn a_dangling_link_is_absent_for_a_path_and_fails_a_glob() {
    let served = |location: &str| {
        let tree = Tree::new(&format!(
            "//- /hiera.yaml\nversion: 5\nhierarchy: [{{name: a, {location}}}, {{name: b, path: b.yaml}}]\n\
             //- /data/b.yaml\nk: b\n//- /data/x/c.yaml\nother: 1\n"
        ));
        symlink("nowhere", tree.path("/data/x/a.yaml")).unwrap();
        TestServer::of(tree, "")
    };
    assert_eq!(
        value_with(
            &served("path: 'x/%{facts.role}.yaml'"),
            &json!({"role": "a"})
        ),
        r#""b""#
    );
    let detail = served("glob: 'x/*.yaml'").failure(&json!({"key": "k"}));
    assert!(detail.contains("x/a.yaml"), "{detail}");
}
