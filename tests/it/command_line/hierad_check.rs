//! `hierad check`: every fault with its position.

use super::FIXTURE;
use crate::support::{TestServer, Tree};

fn check_tree(tree: &Tree) -> (Option<i32>, String, String) {
    tree.run(&mut tree.hierad("check"))
}

/// The faults and notices, without the summary.
fn without_summary(stdout: &str) -> String {
    let (findings, _) = stdout
        .split_once("environment ")
        .expect("a line for each environment");
    findings.to_owned()
}

#[test]
fn a_tree_without_faults_passes() {
    let (code, stdout, stderr) = check_tree(&Tree::new(FIXTURE));
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{stdout}");
    assert_eq!(lines[2], "2 environments, 0 faults, 0 notices");
}

#[test]
fn the_revision_of_each_environment_is_printed() {
    let server = TestServer::new(FIXTURE);
    let (_, stdout, _) = check_tree(&server.tree);
    for (name, files) in [("production", "3 files"), ("staging", "1 file")] {
        let revision = &server.get(&format!("/environments/{name}")).json()["revision"];
        let revision = revision.as_str().unwrap();
        let line = format!("environment {name}: revision {revision}, {files}");
        assert!(
            stdout.lines().any(|known| known == line),
            "{line}: {stdout}"
        );
    }
}

#[test]
fn every_fault_of_every_environment_is_printed_with_its_position() {
    let tree = Tree::new(
        r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: one
    path: "%{x}.yaml"
  - name: two
    data_hash: json_data
    path: "%{x}.json"
//- /data/bad.yaml
a: 1
b: [1
//- /data/tab.yaml
a:
	b: 1
//- /data/bad.json
{"a": 1,
 "b": }
//- /data/list.json
[1]
//- /data/good.yaml
a: 1
//- C/environments/other/hiera.yaml
version: 5
hierarchy:
  - name: a
    path: a.yaml
    glob: b.yaml
  - nam: b
  - name: c
    data_hash: yaml_data
    lookup_key: x
    path: c.yaml
//- C/environments/third/hiera.yaml
version: 6
"#,
    );
    let (code, stdout, _) = check_tree(&tree);
    assert_eq!(code, Some(1));
    let stdout = without_summary(&stdout);
    insta::assert_snapshot!("check", stdout);
    for line in stdout.lines() {
        let mut parts = line.split(':');
        assert!(
            parts
                .next()
                .is_some_and(|path| path.starts_with("<ROOT>/code/environments/")),
            "{line}"
        );
        assert!(
            parts
                .next()
                .is_some_and(|number| number.parse::<u32>().is_ok()),
            "{line}"
        );
        assert!(
            parts
                .next()
                .is_some_and(|number| number.parse::<u32>().is_ok()),
            "{line}"
        );
    }
    let file = "<ROOT>/code/environments/production/data/bad.json:2:7: ";
    assert!(stdout.contains(file), "{stdout}");
    assert!(
        stdout.matches("other/hiera.yaml").count() >= 3,
        "all mistakes at once: {stdout}"
    );
}

#[test]
fn a_fault_of_the_global_layer_is_printed_once() {
    let tree = Tree::new(
        "
//- G/hiera.yaml
version: 5
hierarchy: [{nam: x}]
//- C/environments/one/hiera.yaml
version: 5
",
    );
    let (code, stdout, _) = check_tree(&tree);
    assert_eq!(code, Some(1));
    let lines: Vec<&str> = stdout.lines().collect();
    let mut unique = lines.clone();
    unique.dedup();
    assert_eq!(lines, unique);
    assert!(
        stdout.starts_with("<ROOT>/global/hiera.yaml:2:"),
        "{stdout}"
    );
}
