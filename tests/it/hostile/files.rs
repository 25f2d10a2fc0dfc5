//! Hostile data directories: special files, link cycles, and files that are nested too deeply or too large.

use std::fmt::Write;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{Hostile, tree, tree_of};
use crate::support::make_pipe;

#[test]
fn a_directory_named_like_a_data_file_is_refused() {
    let tree = tree();
    std::fs::create_dir_all(tree.path("/data/common.yaml")).unwrap();
    let hostile = Hostile::new(tree);
    hostile.fails("k", "is a directory");
    hostile.is_reported_by_check("common.yaml:1:1: ");
}

#[test]
fn directories_named_like_configuration_files_are_refused() {
    let tree = tree();
    std::fs::remove_file(tree.path("/hiera.yaml")).unwrap();
    std::fs::create_dir_all(tree.path("/hiera.yaml")).unwrap();
    std::fs::create_dir_all(tree.path("/modules/m/hiera.yaml")).unwrap();
    std::fs::create_dir_all(tree.path("/modules/m/metadata.json")).unwrap();
    std::fs::create_dir_all(tree.path("C/environments/other/environment.conf")).unwrap();
    let hostile = Hostile::new(tree);
    hostile.fails("k", "is a directory");
    hostile.survives(&json!({"key": "m::k"}));
    hostile.survives(&json!({"key": "k", "environment": "other"}));
}

#[test]
fn named_pipes_do_not_block() {
    let tree = tree();
    for path in [
        "/data/common.yaml",
        "C/environments/other/hiera.yaml",
        "/modules/m/hiera.yaml",
    ] {
        std::fs::create_dir_all(tree.path(path).parent().unwrap()).unwrap();
        make_pipe(&tree.path(path));
    }
    let hostile = Hostile::new(tree);
    hostile.fails("k", "a pipe");
    hostile.survives(&json!({"key": "k", "environment": "other"}));
}

#[test]
fn devices_are_not_read() {
    let tree = tree();
    std::fs::create_dir_all(tree.path("/data")).unwrap();
    symlink("/dev/zero", tree.path("/data/common.yaml")).unwrap();
    let hostile = Hostile::new(tree);
    hostile.fails("k", "a device");
    hostile.is_reported_by_check("a device");
}

#[test]
fn dangling_and_self_referencing_links_count_as_missing() {
    for target in ["/no/such/file", "common.yaml"] {
        let tree = tree();
        std::fs::create_dir_all(tree.path("/data")).unwrap();
        symlink(target, tree.path("/data/common.yaml")).unwrap();
        Hostile::new(tree).is_missing("k");
    }
}

/// Levels that make the loader search all of `data`.
const SEARCHED: &str = r#"version: 5
hierarchy:
  - {name: variable, path: "%{x}.yaml"}
  - {name: glob, glob: "**/*.yaml"}
"#;

#[test]
fn link_cycles_are_followed_once() {
    let tree = tree();
    tree.write("/hiera.yaml", SEARCHED);
    tree.write("/data/a/b/common.yaml", "k: found");
    for (target, link) in [
        ("..", "/data/a/up"),
        (".", "/data/here"),
        ("../..", "/data/a/b/top"),
        ("a", "/data/again"),
    ] {
        symlink(target, tree.path(link)).unwrap();
    }
    symlink(tree.codedir(), tree.path("C/environments/circle")).unwrap();
    Hostile::new(tree).is("k", &json!("found"));
}

#[test]
fn a_search_through_exponentially_many_links_ends() {
    let tree = tree();
    tree.write("/hiera.yaml", SEARCHED);
    // Two links from each directory to the next: 2^24 paths to the last, without a cycle.
    for number in 0..24 {
        let directory = tree.path(&format!("/data/d{number}"));
        std::fs::create_dir_all(&directory).unwrap();
        for name in ["x", "y"] {
            symlink(format!("../d{}", number + 1), directory.join(name)).unwrap();
        }
    }
    tree.write("/data/d24/common.yaml", "k: found");
    Hostile::new(tree).survives(&json!({"key": "k"}));
}

#[test]
fn deep_nesting_in_files_is_refused() {
    const DEPTH: usize = 100_000;
    for (path, content) in [
        ("common.yaml", format!("k: {}", "[".repeat(DEPTH))),
        (
            "common.yaml",
            format!("k: {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        ),
        (
            "common.yaml",
            format!("k: {}1{}", "{a: ".repeat(DEPTH), "}".repeat(DEPTH)),
        ),
        ("common.yaml", format!("k:\n  {}x", "- ".repeat(DEPTH))),
        ("common.yaml", format!("{}x", "? ".repeat(DEPTH))),
        ("data.json", format!(r#"{{"k": {}"#, "[".repeat(DEPTH))),
        (
            "data.json",
            format!(r#"{{"k": {}{}}}"#, "[".repeat(DEPTH), "]".repeat(DEPTH)),
        ),
        (
            "data.json",
            format!(
                r#"{{"k": {}1{}}}"#,
                r#"{"a":"#.repeat(DEPTH),
                "}".repeat(DEPTH)
            ),
        ),
    ] {
        let hostile = Hostile::new(tree_of(path, content));
        hostile.fails("k", path);
        hostile.is_reported_by_check(path);
    }
}

#[test]
fn block_mappings_of_a_thousand_levels_are_refused() {
    let mut content = String::new();
    for depth in 0..1_000 {
        writeln!(content, "{}a:", " ".repeat(depth)).unwrap();
    }
    Hostile::new(tree_of("common.yaml", content)).fails("a", "common.yaml");
}

#[test]
fn deep_nesting_is_refused_on_every_loader_thread() {
    let tree = tree();
    tree.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: n, path: \"%{x}.yaml\"}]\n",
    );
    for number in 0..40 {
        tree.write(
            &format!("/data/{number}.yaml"),
            format!("k: {}", "[".repeat(100_000)),
        );
        let nested = format!("k: {}{}", "[".repeat(400), "]".repeat(400));
        tree.write(&format!("/data/ok{number}.yaml"), nested);
    }
    let hostile = Hostile::new(tree);
    assert_eq!(
        hostile.survives(&json!({"key": "k", "facts": {"x": "7"}})),
        422
    );
    hostile.survives(&json!({"key": "k", "facts": {"x": "ok7"}}));
}

#[test]
fn nesting_of_ninety_levels_is_answered() {
    // The limit of Ruby's JSON parser is 100.
    let nested = format!("{}1{}", "[".repeat(90), "]".repeat(90));
    let value: Value = serde_json::from_str(&nested).unwrap();
    Hostile::new(tree_of("common.yaml", format!("k: {nested}"))).is("k", &value);
    Hostile::new(tree_of("data.json", format!(r#"{{"k": {nested}}}"#))).is("k", &value);
}

#[test]
fn aliases_that_expand_exponentially_are_refused() {
    let mut content = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for number in 1..10 {
        let alias = format!("*a{}, ", number - 1).repeat(10);
        writeln!(content, "a{number}: &a{number} [{alias}]").unwrap();
    }
    let hostile = Hostile::new(tree_of("common.yaml", &content));
    assert_eq!(hostile.survives(&json!({"key": "a9"})), 422);
    hostile.survives(&json!({"key": "a9", "merge": "unique"}));
    hostile.survives(&json!({"key": "a9", "merge": "deep"}));
    hostile.survives(&json!({"key": "a9", "type": "Array[Array[Array]]"}));
    hostile.survives(&json!({"key": "a9", "explain": true}));
    hostile.run(&["lookup", "a9"]);
    hostile.run(&["check"]);
}

#[test]
fn aliases_in_hashes_and_merge_keys_that_expand_exponentially_are_refused() {
    let mut content = "a0: &a0 {a: x, b: x, c: x}\n".to_owned();
    for number in 1..30 {
        let last = number - 1;
        writeln!(
            content,
            "a{number}: &a{number} {{a: *a{last}, b: *a{last}, c: {{<<: [*a{last}, *a{last}]}}}}"
        )
        .unwrap();
    }
    let hostile = Hostile::new(tree_of("common.yaml", &content));
    assert_eq!(hostile.survives(&json!({"key": "a29"})), 422);
    assert_eq!(
        hostile.survives(&json!({"key": "a29", "merge": "deep"})),
        422
    );
}

#[test]
fn an_alias_to_its_own_parent_is_refused() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: &k [*k]\nh: &h {a: *h}\n"));
    assert_eq!(hostile.survives(&json!({"key": "k"})), 422);
    assert_eq!(hostile.survives(&json!({"key": "h", "merge": "deep"})), 422);
}

#[test]
fn invalid_utf_8_is_refused_and_the_file_named() {
    Hostile::new(tree_of("common.yaml", b"k: caf\xe9\n")).fails("k", "common.yaml");
    Hostile::new(tree_of("data.json", b"{\"k\": \"caf\xe9\"}")).survives(&json!({"key": "k"}));
    Hostile::new(tree_of("common.yaml", b"\0\0\0\0")).survives(&json!({"key": "k"}));
    Hostile::new(tree_of("common.yaml", b"\xff\xfek\0:\0 \x001\0\n\0"))
        .survives(&json!({"key": "k"}));
}

#[test]
fn files_larger_than_the_limit_are_not_read() {
    let tree = tree_of("common.yaml", format!("k: {}", "x".repeat(2_000)));
    let hostile = Hostile::with(tree, &[("HIERAD_MAX_FILE_SIZE", "1000")]);
    let answer = hostile.ask(br#"{"key":"k"}"#);
    assert_eq!(answer.status, 422);
    assert!(
        answer.text().contains("larger than 1000 bytes"),
        "{}",
        answer.text()
    );
    drop(hostile);
    // A sparse file of 100 GB.
    let tree = tree_of("common.yaml", "k: 1\n");
    let file = std::fs::File::options()
        .write(true)
        .open(tree.path("/data/common.yaml"))
        .unwrap();
    file.set_len(100_000_000_000).unwrap();
    Hostile::new(tree).fails("k", "larger than");
}
