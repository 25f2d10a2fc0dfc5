//! `hierad lookup` and `hierad check` as processes: output and exit codes.

mod explanations;
mod failures;
mod hierad_check;
mod values;

use crate::support::Tree;

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: os
    path: "os/%{facts.os.family}.yaml"
  - name: common
    path: common.yaml
//- /data/nodes/web1.example.com.yaml
who: web1
settings: {ports: [443], --old: 1}
users: [zoe, --amy]
//- /data/os/Debian.yaml
package: apache2
//- /data/common.yaml
lookup_options: {secret: {convert_to: Sensitive}}
who: anybody
package: httpd
number: 5
list: [1, two, ~]
table: {z: 1, a: {b: true}}
settings: {ports: [80], old: 2}
users: [amy, ben]
secret: hunter2
broken: "%{lookup('broken')}"
//- C/environments/staging/hiera.yaml
version: 5
//- C/environments/staging/data/common.yaml
who: staging
//- R/facts.yaml
os: {family: Debian}
//- R/facts.json
{"os": {"family": "Debian"}}
//- R/facts
{"os": {"family": "Debian"}}
//- R/list.yaml
[1, 2]
//- R/broken.yaml
a: [1
"#;

/// Runs `hierad lookup` on the fixture; in arguments, `@` is the root of the tree.
fn run(arguments: &str) -> (Option<i32>, String, String) {
    let tree = Tree::new(FIXTURE);
    let root = tree.root().display().to_string();
    let arguments = arguments
        .split_whitespace()
        .map(|word| word.replace('@', &root));
    tree.run(tree.hierad("lookup").args(arguments))
}

#[track_caller]
fn check(arguments: &str, expected: &str) {
    let (code, stdout, stderr) = run(arguments);
    assert_eq!(
        (code, stdout.as_str()),
        (Some(0), expected),
        "{arguments}: {stderr}"
    );
}

/// Checks that a command fails with a code, nothing on standard output, and a message.
#[track_caller]
fn check_failure(arguments: &str, expected: i32, message: &str) {
    let (code, stdout, stderr) = run(arguments);
    assert_eq!(
        (code, stdout.as_str()),
        (Some(expected), ""),
        "{arguments}: {stderr}"
    );
    assert!(stderr.contains(message), "{arguments}: {stderr}");
}
