//! Files that are written slowly and in place: no request sees an incomplete one.

use std::fs::{self, File};
use std::io::Write;

use serde_json::json;

use super::{POLLING, Served};
use crate::support::Tree;
use crate::support::process::{EVENTS_ONLY, wait_for};

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: parts, glob: "parts/*.yaml"}
  - {name: node, path: "nodes/%{facts.where}/x.yaml"}
  - {name: common, path: common.yaml}
//- /data/common.yaml
first: v0
second: v0
"#;

fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Writes all files in place: the first half of each, and the other half after the server has had time to read them.
fn write_slowly(served: &Served, files: Vec<(File, String, String)>) {
    let mut open = Vec::new();
    for (mut file, first, second) in files {
        file.write_all(first.as_bytes()).unwrap();
        open.push((file, second));
    }
    served.wait_for_sentinel();
    for (mut file, second) in open {
        file.write_all(second.as_bytes()).unwrap();
    }
}

fn write_common_slowly(served: &Served, mark: &str) {
    let file = File::create(served.tree.path("/data/common.yaml")).unwrap();
    let lines = ["first", "second"].map(|key| format!("{key}: {mark}\n"));
    let [first, second] = lines;
    write_slowly(served, vec![(file, first, second)]);
}

#[test]
fn a_file_written_with_a_pause_is_never_seen_half_written() {
    for variables in [EVENTS_ONLY.as_slice(), &POLLING] {
        let served = Served::with_sentinel(Tree::new(FIXTURE), variables);
        let seen = served.while_asking(&keys(&["first", "second"]), || {
            for mark in ["v1", "v2"] {
                write_common_slowly(&served, mark);
                served.becomes("second", &json!(mark));
            }
        });
        assert_eq!(seen, ["v0", "v1", "v2"], "{variables:?}");
    }
}

#[test]
fn a_truncated_and_rewritten_file_is_never_seen_empty() {
    let served = Served::with_sentinel(Tree::new(FIXTURE), &EVENTS_ONLY);
    let seen = served.while_asking(&keys(&["first", "second"]), || {
        let mut file = File::create(served.tree.path("/data/common.yaml")).unwrap();
        served.wait_for_sentinel();
        file.write_all(b"first: v1\nsecond: v1\n").unwrap();
        drop(file);
        served.becomes("first", &json!("v1"));
    });
    assert_eq!(seen, ["v0", "v1"]);
}

#[test]
fn many_files_written_with_a_pause_are_never_seen_half_written() {
    const FILES: usize = 30;
    let tree = Tree::new(FIXTURE);
    for number in 0..FILES {
        let text = format!("first_{number}: v0\nsecond_{number}: v0\n");
        tree.write(&format!("/data/parts/{number}.yaml"), text);
    }
    let served = Served::with_sentinel(tree, &EVENTS_ONLY);
    let numbers = 0..FILES;
    let keys: Vec<String> = numbers
        .flat_map(|number| [format!("first_{number}"), format!("second_{number}")])
        .collect();
    let seen = served.while_asking(&keys, || {
        let files = (0..FILES).map(|number| {
            let path = served.tree.path(&format!("/data/parts/{number}.yaml"));
            let [first, second] = ["first", "second"].map(|key| format!("{key}_{number}: v1\n"));
            (File::create(path).unwrap(), first, second)
        });
        write_slowly(&served, files.collect());
        served.becomes("second_0", &json!("v1"));
    });
    assert_eq!(seen, ["v0", "v1"]);
}

#[test]
fn a_new_file_is_seen_only_when_it_is_complete() {
    let served = Served::with_sentinel(Tree::new(FIXTURE), &EVENTS_ONLY);
    fs::create_dir_all(served.tree.path("/data/nodes/known")).unwrap();
    served.write("/data/nodes/known/y.yaml", "");
    for directory in ["known", "new"] {
        let path = format!("/data/nodes/{directory}");
        fs::create_dir_all(served.tree.path(&path)).unwrap();
        let file = File::create(served.tree.path(&format!("{path}/x.yaml"))).unwrap();
        let request =
            json!({ "keys": ["first", "second"], "facts": { "where": directory } }).to_string();
        let values = || {
            let answer = served.server.lookup(request.as_bytes()).json();
            ["first", "second"].map(|key| answer["results"][key]["value"].clone())
        };
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let halves = (file, "first: v1\n".into(), "second: v1\n".into());
                write_slowly(&served, vec![halves]);
            });
            while !writer.is_finished() {
                let [first, second] = values();
                assert_eq!(first, second, "{directory}\n{}", served.server.log());
            }
        });
        wait_for("the new file", || (values()[0] == "v1").then_some(()));
        assert_eq!(values()[1], "v1");
    }
}

#[test]
fn a_writer_that_never_closes_its_file_is_not_waited_for_forever() {
    let variables = [
        EVENTS_ONLY[0],
        EVENTS_ONLY[1],
        ("HIERAD_WRITE_TIMEOUT_MS", "300"),
    ];
    let served = Served::with(Tree::new(FIXTURE), &variables);
    let mut file = File::create(served.tree.path("/data/common.yaml")).unwrap();
    file.write_all(b"first: v1\nsecond: v1\n").unwrap();
    served.becomes("first", &json!("v1"));
    drop(file);
}

#[test]
fn a_writer_of_another_file_is_not_waited_for() {
    let variables = [
        EVENTS_ONLY[0],
        EVENTS_ONLY[1],
        ("HIERAD_WRITE_TIMEOUT_MS", "3600000"),
    ];
    let served = Served::with(Tree::new(FIXTURE), &variables);
    let mut log = File::create(served.tree.path("/data/deploy.log")).unwrap();
    log.write_all(b"started\n").unwrap();
    served.write("/data/common.yaml", "first: v1\nsecond: v1\n");
    served.becomes("first", &json!("v1"));
    drop(log);
}
