//! The revision of an environment: the same data has the same revision.

use serde_json::{Value, json};

use super::FIXTURE;
use crate::support::{TestServer, Tree};

fn revision(fixture: &str) -> String {
    revision_of(&TestServer::new(fixture))
}

fn revision_of(server: &TestServer) -> String {
    let shown = server.get("/environments/production").json();
    shown["revision"].as_str().unwrap().to_owned()
}

#[test]
fn the_same_tree_in_another_directory_has_the_same_revision() {
    assert_eq!(revision(FIXTURE), revision(FIXTURE));
}

#[test]
fn global_layer_and_modules_have_the_same_revision_in_another_directory() {
    let fixture = "//- /hiera.yaml\nversion: 5\n//- G/hiera.yaml\nversion: 5\n//- G/data/common.yaml\ng: 1\n\
         //- C/modules/ntp/hiera.yaml\nversion: 5\n//- C/modules/ntp/data/common.yaml\nntp::a: 1\n\
         //- /modules/web/hiera.yaml\nversion: 5\n//- /modules/web/data/common.yaml\nweb::a: 1\n";
    assert_eq!(revision(fixture), revision(fixture));
    assert_ne!(
        revision(fixture),
        revision(&fixture.replace("web::a: 1", "web::a: 2"))
    );
    assert_ne!(
        revision(fixture),
        revision(&fixture.replace("data/common", "data/other"))
    );
}

#[test]
fn everything_that_can_change_an_answer_changes_the_revision() {
    let before = revision(FIXTURE);
    for (what, old, new) in [
        ("a value", "a: 3", "a: 33"),
        ("the name of a file", "nodes/n2.yaml\na", "nodes/n3.yaml\na"),
        (
            "the hierarchy",
            "globs: [\"groups/*.yaml\"",
            "globs: [\"group/*.yaml\"",
        ),
        (
            "a value in a module",
            "ntp::servers: []",
            "ntp::servers: [x]",
        ),
        (
            "a configuration of a module",
            "/modules/ntp/hiera.yaml\nversion: 5",
            "/modules/ntp/hiera.yaml\nversion: 5\n#",
        ),
        (
            "the global layer",
            "//- G/hiera.yaml\nversion: 5",
            "//- G/hiera.yaml\nversion: 5\nhierarchy: [{name: g}]",
        ),
        (
            "environment.conf",
            "//- G/hiera",
            "//- /environment.conf\nmodulepath = x\n//- G/hiera",
        ),
    ] {
        let changed = FIXTURE.replace(old, new);
        assert_ne!(changed, FIXTURE, "{what}");
        assert_ne!(revision(&changed), before, "{what}");
    }
}

#[test]
fn files_that_cannot_change_an_answer_do_not_change_the_revision() {
    let before = revision(FIXTURE);
    for fixture in [
        FIXTURE.replace("//- G/hiera", "//- /README.md\nhello\n//- G/hiera"),
        FIXTURE.replace("//- G/hiera", "//- /manifests/site.pp\nhello\n//- G/hiera"),
        FIXTURE.replace("a: [1", "a: [2"), // in another environment
    ] {
        assert_eq!(revision(&fixture), before);
    }
}

#[test]
fn a_revision_does_not_depend_on_times_or_the_order_of_writes() {
    let tree = Tree::empty();
    let mut parts: Vec<&str> = FIXTURE.split("//- ").skip(1).collect();
    parts.reverse();
    for part in parts {
        let (path, content) = part.split_once('\n').unwrap();
        tree.write(path, content);
    }
    assert_eq!(revision_of(&TestServer::of(tree, "")), revision(FIXTURE));
}

#[test]
fn answers_have_the_revision_of_their_environment() {
    let server = TestServer::new(FIXTURE);
    let all = server.get("/environments").json();
    for name in ["production", "faulty"] {
        let body = server
            .lookup(&json!({"keys": ["a"], "environment": name}))
            .json();
        assert_eq!(body["revision"], all["environments"][name]["revision"]);
        let shown: Value = server.get(&format!("/environments/{name}")).json();
        assert_eq!(body["revision"], shown["revision"]);
    }
}
