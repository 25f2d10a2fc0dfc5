//! Paths, with and without variables, and limits of the search for files.

use serde_json::json;

use super::value_with;
use crate::support::{TestServer, Tree, check_request};

#[test]
fn many_paths_can_share_a_directory() {
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
    tree.write("/private/other/ops/1.yaml", "k: other environment\n");
    let server = TestServer::of(tree, "");
    assert_eq!(
        value_with(&server, &json!({"group": "ops"})),
        r#""private""#
    );
    assert_eq!(value_with(&server, &json!({"group": "web"})), r#""common""#);
    // Files that only another environment can name are not loaded for this one.
    let files = &server.get("/environments/production").json()["files"];
    assert_eq!(files, 2);
}

#[test]
fn more_files_than_the_limit_are_a_fault_and_fail_lookups() {
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
    assert_eq!(value_with(&enough, &json!({})), r#""common""#);
    let server = TestServer::of(enough.tree, "limits: {max_files: 10}");
    let detail = server.failure(&json!({"key": "k", "node": "nowhere"}));
    for part in ["/data", "more than 10 files", "limits.max_files"] {
        assert!(detail.contains(part), "{detail}");
    }
    let environment = server.get("/environments/production").json().to_string();
    assert!(environment.contains("limits.max_files"), "{environment}");
}

#[test]
fn a_path_does_not_go_through_missing_directories() {
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
fn a_directory_is_a_fault_only_if_a_location_always_names_it() {
    let faults = |location: &str| {
        let fixture = format!(
            "//- /hiera.yaml\nversion: 5\nhierarchy: [{{name: a, path: '{location}'}}, {{name: b, path: b.yaml}}]\n\
             //- /data/b.yaml\nk: b\n//- /data/roles/web/x.yaml\n{{}}\n\
             //- /data/production/x.yaml\n{{}}\n"
        );
        let server = TestServer::new(&fixture);
        let detail = server.failure(&json!({"key": "k", "facts": {"role": "web"}}));
        assert!(detail.contains("it is a directory"), "{detail}");
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
