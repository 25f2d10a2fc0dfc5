//! Faults on disk keep the old data until they are fixed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::{FIXTURE, Served};
use crate::support::make_pipe;

#[test]
fn a_broken_file_keeps_all_of_the_old_data() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/a.yaml\nwho: a\n"));
    let before = served.revision("production");
    assert!(
        served
            .server
            .get("/metrics")
            .text()
            .contains("hierad_environments_kept 0")
    );
    // A good change and a bad one, in one step.
    served.write("R/next/common.yaml", "k: 2\nwho: nobody\n");
    served.write("R/next/nodes/a.yaml", "who: a\nbad: [1,\n  2\n");
    let (data, old) = (served.tree.path("/data"), served.tree.path("R/old"));
    fs::rename(&data, &old).unwrap();
    fs::rename(served.tree.path("R/next"), &data).unwrap();
    let shown = served.wait_for_state("kept");
    assert_eq!(shown["revision"], json!(before));
    let fault = &shown["faults"][0];
    let file = served.tree.path("/data/nodes/a.yaml").display().to_string();
    assert_eq!(fault["file"], json!(file), "{shown}");
    assert_eq!(
        (&fault["line"], &fault["column"]),
        (&json!(4), &json!(1)),
        "{shown}"
    );
    assert!(
        fault["message"].as_str().unwrap().contains("flow sequence"),
        "{shown}"
    );
    served.is("k", &json!(1));
    served.is("who", &json!("anybody"));
    let metrics = served.server.get("/metrics").text();
    assert!(metrics.contains("hierad_environments_kept 1"), "{metrics}");

    // It is logged once, however often it is loaded.
    for _ in 0..3 {
        assert_eq!(served.reload("production").json()["outcome"], "kept");
    }
    served.write("/data/other.yaml", "x: 1\n");
    assert_eq!(served.reload("production").json()["outcome"], "kept");
    let log = served.server.log();
    assert_eq!(log.matches("keeping the old data").count(), 1, "{log}");
    assert!(log.contains(&format!("{file}:4:1")), "{log}");

    served.write("/data/nodes/a.yaml", "who: a\nbad: [1, 2]\n");
    served.becomes("k", &json!(2));
    assert_eq!(served.shown("production")["state"], "ok");
    assert!(
        served
            .server
            .get("/metrics")
            .text()
            .contains("hierad_environments_kept 0")
    );
}

#[test]
fn a_reverted_fault_leaves_the_revision_unchanged() {
    let served = Served::new(FIXTURE);
    let before = served.shown("production");
    served.write("/data/common.yaml", "k: [\n");
    served.wait_for_state("kept");
    served.write("/data/common.yaml", "k: 1\nwho: anybody\n");
    let shown = served.wait_for_state("ok");
    assert_eq!(shown["revision"], before["revision"]);
    assert_eq!(shown["faults"], json!([]));
    assert_eq!(shown["last_fault"], json!(null));
}

#[test]
fn a_fault_in_a_new_directory_can_be_fixed() {
    let served = Served::new(FIXTURE);
    served.write("/data/nodes/eu/a.yaml", "who: [\n");
    served.wait_for_state("kept");
    served.write("/data/nodes/eu/a.yaml", "who: eu\n");
    served.wait_for_value(&json!({ "key": "who", "node": "eu/a" }), &json!("eu"));
    served.wait_for_state("ok");
}

#[test]
fn a_broken_configuration_keeps_the_old_data_until_it_is_fixed() {
    let served = Served::new(FIXTURE);
    served.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: x, pat: y}]\n",
    );
    let shown = served.wait_for_state("kept");
    let file = served.tree.path("/hiera.yaml").display().to_string();
    assert_eq!(shown["faults"][0]["file"], json!(file), "{shown}");
    assert_eq!(shown["faults"][0]["line"], 2, "{shown}");
    served.is("k", &json!(1));
    served.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: x, path: new/y.yaml}]\n",
    );
    served.write("/data/new/y.yaml", "k: 3\n");
    served.becomes("k", &json!(3));
}

#[test]
fn a_file_that_is_faulty_at_startup_fails_only_lookups_that_need_it() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/bad.yaml\nwho: [\n"));
    let failing = json!({ "key": "who", "node": "bad" });
    assert_eq!(served.ask(&failing).status, 422);
    served.is("who", &json!("anybody"));
    assert_eq!(
        served.value_of(&json!({ "key": "who", "node": "good" })),
        json!("anybody")
    );
    let shown = served.shown("production");
    assert_eq!(shown["state"], "faulty");
    assert_eq!(shown["faults"].as_array().unwrap().len(), 1, "{shown}");
    // A known fault does not block other changes.
    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    assert_eq!(served.ask(&failing).status, 422);
    served.write("/data/nodes/bad.yaml", "who: good\n");
    served.wait_for_value(&failing, &json!("good"));
    assert_eq!(served.shown("production")["state"], "ok");
}

/// Creates something at the path of a data file.
type Make<'a> = &'a dyn Fn(&Path);

#[test]
fn pipes_and_huge_files_keep_the_old_data() {
    let served = Served::new(FIXTURE);
    let (nodes, bad) = (
        "/data/nodes/x.yaml",
        served.tree.path("/data/nodes/bad.yaml"),
    );
    served.write(nodes, "who: x\n");
    served.wait_for_value(&json!({ "key": "who", "node": "x" }), &json!("x"));
    let directory = |path: &Path| fs::create_dir(path).unwrap();
    let pipe = |path: &Path| make_pipe(path);
    let huge = |path: &Path| {
        // A sparse file: 200 MB that use no disk space.
        let file = fs::File::create(path).unwrap();
        file.set_len(200_000_000).unwrap();
    };
    let dangling = |path: &Path| symlink("nowhere", path).unwrap();
    let itself = |path: &Path| symlink("bad.yaml", path).unwrap();
    // A directory named like the file of a node is not a fault, and dangling links count as absent.
    let kinds: [(Make<'_>, Option<&str>); 5] = [
        (&directory, None),
        (&pipe, Some("it is a pipe")),
        (&huge, Some("larger than 67108864 bytes")),
        (&dangling, None),
        (&itself, None),
    ];
    for (number, (make, reason)) in (2..).zip(kinds) {
        make(&bad);
        served.write("/data/common.yaml", format!("k: {number}\nwho: anybody\n"));
        match reason {
            Some(reason) => {
                let shown = served.wait_for_state("kept");
                let fault = &shown["faults"][0];
                assert_eq!(fault["file"], json!(bad.display().to_string()), "{shown}");
                let message = fault["message"].as_str().unwrap();
                assert!(message.contains(reason), "{shown}");
                served.is("k", &json!(number - 1));
            }
            None => served.becomes("k", &json!(number)),
        }
        assert_eq!(
            served.value_of(&json!({ "key": "who", "node": "x" })),
            json!("x")
        );
        if bad.is_dir() {
            fs::remove_dir(&bad).unwrap();
        } else {
            fs::remove_file(&bad).unwrap();
        }
        served.becomes("k", &json!(number));
        served.wait_for_state("ok");
    }
}

#[test]
fn link_cycles_are_not_a_fault() {
    let served = Served::new(FIXTURE);
    served.write("/data/nodes/x.yaml", "who: x\n");
    symlink(".", served.tree.path("/data/nodes/here")).unwrap();
    symlink("..", served.tree.path("/data/nodes/up")).unwrap();
    symlink("b", served.tree.path("/data/nodes/a")).unwrap();
    symlink("a", served.tree.path("/data/nodes/b")).unwrap();
    served.wait_for_value(&json!({ "key": "who", "node": "x" }), &json!("x"));
    served.write("/data/common.yaml", "k: 2\n");
    served.becomes("k", &json!(2));
    assert_eq!(served.shown("production")["state"], "ok");
}

#[test]
fn wrong_lookup_options_keep_the_old_data() {
    let served = Served::new(FIXTURE);
    let before = served.revision("production");
    for (options, line, column) in [
        ("  '^k(': {merge: first}", 3, 3),
        ("  k: {merge: deeep}", 3, 14),
        ("  k:\n    merge: {strategy: deep, knockout: x}", 4, 12),
        ("  k: {convert_to: 'Array['}", 3, 19),
        ("  k: [merge, deep]", 3, 6),
        ("  - k", 3, 3),
    ] {
        served.write(
            "/data/common.yaml",
            format!("k: 2\nlookup_options:\n{options}\nwho: somebody\n"),
        );
        let answer = served.reload("production").json();
        assert_eq!(answer["outcome"], "kept", "{options}: {answer}");
        let shown = served.shown("production");
        assert_eq!(shown["state"], "kept", "{options}");
        assert_eq!(shown["revision"], json!(before));
        let fault = &shown["faults"][0];
        let position = (&fault["line"], &fault["column"]);
        assert_eq!(
            position,
            (&json!(line), &json!(column)),
            "{options}: {fault}"
        );
        served.is("k", &json!(1));
        served.is("who", &json!("anybody"));
    }
    served.write(
        "/data/common.yaml",
        "k: 2\nlookup_options:\n  k: {merge: first}\n",
    );
    served.becomes("k", &json!(2));
    assert_eq!(served.shown("production")["state"], "ok");
}

#[test]
fn a_known_fault_that_moves_to_another_line_does_not_block_a_reload() {
    let fixture = FIXTURE.replace("k: 1\n", "k: 1\nlookup_options: {x: {merge: nope}}\n");
    let served = Served::new(&fixture);
    assert_eq!(served.shown("production")["state"], "faulty");
    served.write(
        "/data/common.yaml",
        "k: 2\n\n\nlookup_options: {x: {merge: nope}}\n",
    );
    served.becomes("k", &json!(2));
    let shown = served.shown("production");
    assert_eq!(
        (&shown["state"], &shown["faults"][0]["line"]),
        (&json!("faulty"), &json!(4))
    );
}
