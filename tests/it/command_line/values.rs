//! Values that `hierad lookup` prints, and in which form.

use std::process::Command;

use super::{FIXTURE, check, check_failure};
use crate::support::{Tree, hierad, printed};

fn tree_of(who: &str) -> Tree {
    Tree::new(&format!(
        "//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\nwho: {who}\n"
    ))
}

#[test]
fn a_value_is_printed_as_yaml_by_default() {
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
fn of_several_keys_the_first_found_answers() {
    check("no number who", "--- 5\n");
}

#[test]
fn node_environment_and_facts_select_the_data() {
    check("who --node web1.example.com", "--- web1\n");
    check("who --environment staging", "--- staging\n");
    check("package --facts @/facts.yaml", "--- apache2\n");
    check("package --facts @/facts.json", "--- apache2\n");
    check("package --facts @/facts", "--- apache2\n");
    check("package", "--- httpd\n");
}

#[test]
fn merge_strategies_have_options() {
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
fn a_default_answers_if_nothing_is_found() {
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
fn a_lookup_reads_only_the_files_that_it_needs() {
    let tree = Tree::new(FIXTURE);
    tree.write("/data/os/Broken.yaml", "a: [1");
    let output = tree.hierad("lookup").arg("who").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
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
