//! `hierad lookup` and `hierad check` as processes: output and exit codes.

use std::process::{Command, Output};

use crate::support::{TestServer, Tree, hierad, printed};

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

/// Runs `hierad lookup` on the fixture; `@/name` stands for a file above the code directory.
fn run(arguments: &str) -> (Option<i32>, String, String) {
    let tree = Tree::new(FIXTURE);
    let root = tree.root().display().to_string();
    let arguments = arguments
        .split_whitespace()
        .map(|word| word.replace('@', &root));
    let output = tree.hierad("lookup").args(arguments).output().unwrap();
    let (stdout, stderr) = printed(&output);
    (
        output.status.code(),
        stdout.replace(&root, "<ROOT>"),
        stderr.replace(&root, "<ROOT>"),
    )
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

#[test]
fn a_value_is_printed_as_yaml_unless_another_form_is_asked_for() {
    check("who", "--- anybody\n");
    check("list", "---\n- 1\n- two\n-\n");
    check("table", "---\nz: 1\na:\n  b: true\n");
    check("table --render-as yaml", "---\nz: 1\na:\n  b: true\n");
    check("table --render-as json", "{\"z\":1,\"a\":{\"b\":true}}\n");
    check("table --render-as s", "{\"z\"=>1, \"a\"=>{\"b\"=>true}}\n");
    check("number --render-as s", "5\n");
    check("table.a.b", "--- true\n");
}

#[test]
fn the_first_key_that_is_found_answers() {
    check("no number who", "--- 5\n");
}

#[test]
fn node_environment_and_facts_are_heeded() {
    check("who --node web1.example.com", "--- web1\n");
    check("who --environment staging", "--- staging\n");
    check("package --facts @/facts.yaml", "--- apache2\n");
    check("package --facts @/facts.json", "--- apache2\n");
    check("package --facts @/facts", "--- apache2\n");
    check("package", "--- httpd\n");
}

#[test]
fn merges_are_heeded_with_their_options() {
    check(
        "users --node web1.example.com --merge unique",
        "---\n- zoe\n- \"--amy\"\n- amy\n- ben\n",
    );
    check(
        "users --node web1.example.com --merge first",
        "---\n- zoe\n- \"--amy\"\n",
    );
    check(
        "settings --node web1.example.com --merge hash",
        "---\nports:\n- 443\nold: 2\n\"--old\": 1\n",
    );
    let deep = "users --node web1.example.com --merge deep --knock-out-prefix=-- --render-as json";
    check(deep, "[\"ben\",\"zoe\"]\n");
    check(
        &format!("{deep} --sort-merged-arrays"),
        "[\"ben\",\"zoe\"]\n",
    );
    let ports =
        "settings.ports --node web1.example.com --merge deep --sort-merged-arrays --render-as json";
    check(ports, "[80,443]\n");
}

#[test]
fn a_default_answers_where_nothing_is_found() {
    check("no --default x", "--- x\n");
    check("who --default x", "--- anybody\n");
}

#[test]
fn a_type_is_checked() {
    check("number --type Integer[5,5]", "--- 5\n");
    check_failure(
        "number --type String",
        1,
        "expects a String value, got Integer",
    );
}

#[test]
fn nothing_found_is_exit_code_1_without_a_word_on_standard_output() {
    check_failure("no", 1, "");
}

#[test]
fn a_failed_lookup_is_exit_code_1_with_the_reason() {
    check_failure("broken", 1, "[broken]");
    check_failure("who.x", 1, "who.x");
}

#[test]
fn an_unknown_environment_is_named() {
    check_failure("who --environment nowhere", 1, "`nowhere`");
    check_failure(
        "who --environment ../environments/production",
        1,
        "there is no environment",
    );
}

#[test]
fn facts_that_cannot_be_used_are_named() {
    check_failure("who --facts @/none.yaml", 1, "<ROOT>/none.yaml");
    check_failure("who --facts @/list.yaml", 1, "<ROOT>/list.yaml");
    check_failure("who --facts @/broken.yaml", 1, "<ROOT>/broken.yaml");
}

#[test]
fn usage_errors_are_exit_code_2() {
    for arguments in [
        "who --no-such-flag",
        "who --render-as xml",
        "who --node",
        "who --explain=5",
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(
            (code, stdout.as_str()),
            (Some(2), ""),
            "{arguments}: {stderr}"
        );
    }
    for arguments in [&[][..], &["nonsense"], &["serve", "x"]] {
        assert_eq!(
            hierad().args(arguments).output().unwrap().status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
}

#[test]
fn what_no_lookup_can_do_is_a_usage_error() {
    for (arguments, message) in [
        ("", "key"),
        ("who --merge sum", "--merge"),
        ("users --sort-merged-arrays", "--merge deep"),
        ("users --merge hash --knock-out-prefix=--", "--merge deep"),
        ("who --type Strin[", "--type"),
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(
            (code, stdout.as_str()),
            (Some(2), ""),
            "{arguments}: {stderr}"
        );
        assert!(stderr.contains(message), "{arguments}: {stderr}");
    }
}

#[test]
fn an_explanation_is_text_unless_another_form_is_asked_for() {
    let (code, stdout, _) = run("package --facts @/facts.json --explain");
    assert_eq!(code, Some(0));
    insta::assert_snapshot!("explain", stdout);
    let (code, stdout, _) = run("package --explain --render-as json");
    let parsed: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, Some(0));
    assert!(parsed["branches"].is_array(), "{stdout}");
    let (code, stdout, _) = run("package --explain --render-as yaml");
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("---\nbranches:\n"), "{stdout}");
}

#[test]
fn nothing_found_is_explained_with_exit_code_0_as_puppet_does() {
    let (code, stdout, _) = run("no --explain");
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains("did not find a value for the name 'no'"),
        "{stdout}"
    );
}

#[test]
fn an_error_that_no_explanation_tells_of_is_printed_alone_as_puppet_does() {
    for form in ["", " --render-as json"] {
        let (code, stdout, stderr) = run(&format!("who --type Integer --explain{form}"));
        assert_eq!(code, Some(1));
        assert_eq!(stdout, "");
        assert!(stderr.contains("expects an Integer value"), "{stderr}");
    }
}

#[test]
fn options_are_explained_with_and_without_a_key() {
    for arguments in ["--explain-options", "secret --explain-options"] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(
            stdout.contains("lookup_options") && stdout.contains("convert_to"),
            "{stdout}"
        );
        assert!(!stdout.contains("hunter2"), "{stdout}");
    }
}

#[test]
fn only_what_a_lookup_needs_has_to_be_right() {
    let tree = Tree::new(FIXTURE);
    tree.write("/data/os/Broken.yaml", "a: [1");
    let output = tree.hierad("lookup").arg("who").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn without_a_code_directory_nothing_runs() {
    for command in ["lookup", "check", "serve"] {
        let mut process = hierad();
        process.args([command, "--codedir", "/no/such/directory"]);
        if command == "lookup" {
            process.arg("k");
        }
        let output = process.output().unwrap();
        let (_, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{command}: {stderr}");
        assert!(stderr.contains("/no/such/directory"), "{command}: {stderr}");
    }
}

#[test]
fn settings_come_from_flags_then_variables_then_the_file() {
    let (file, variable, flag) = (tree_of("file"), tree_of("variable"), tree_of("flag"));
    file.write("R/hierad.yaml", "codedir: code\n");
    let config = file.path("R/hierad.yaml");
    let who = |process: &mut Command| printed(&process.output().unwrap()).0;
    let mut process = hierad();
    process.args(["lookup", "who", "--config"]).arg(&config);
    assert_eq!(who(&mut process), "--- file\n");
    process.env("HIERAD_CODEDIR", variable.codedir());
    assert_eq!(who(&mut process), "--- variable\n");
    process.arg("--codedir").arg(flag.codedir());
    assert_eq!(who(&mut process), "--- flag\n");
    let mut process = hierad();
    process
        .args(["lookup", "who"])
        .env("HIERAD_CONFIG", &config);
    assert_eq!(who(&mut process), "--- file\n");
}

fn tree_of(who: &str) -> Tree {
    Tree::new(&format!(
        "//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\nwho: {who}\n"
    ))
}

fn check_tree(tree: &Tree) -> (Option<i32>, String, String) {
    let output: Output = tree.hierad("check").output().unwrap();
    let (stdout, stderr) = printed(&output);
    let root = tree.root().display().to_string();
    (
        output.status.code(),
        stdout.replace(&root, "<ROOT>"),
        stderr,
    )
}

/// The faults and notices of a check, without the lines that say what was checked.
fn without_summary(stdout: &str) -> String {
    let (findings, _) = stdout
        .split_once("environment ")
        .expect("a line for each environment");
    findings.to_owned()
}

#[test]
fn a_clean_tree_passes_the_check() {
    let (code, stdout, stderr) = check_tree(&Tree::new(FIXTURE));
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{stdout}");
    assert_eq!(lines[2], "2 environments, 0 faults, 0 notices");
}

#[test]
fn a_check_says_which_revision_of_each_environment_it_saw() {
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
fn every_fault_of_every_environment_is_told_with_its_place() {
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
fn a_fault_of_the_global_layer_is_told_once() {
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

#[test]
fn a_closed_pipe_ends_a_lookup_without_a_panic() {
    let tree = Tree::new(FIXTURE);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut process = tree.hierad("lookup");
    let output = process.arg("table").stdout(writer).output().unwrap();
    let (_, stderr) = printed(&output);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
}
