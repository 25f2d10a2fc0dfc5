//! Data files: changed, added, removed, replaced.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{FIXTURE, Served};
use crate::support::process::wait_for;

#[test]
fn a_changed_file_becomes_visible() {
    let served = Served::new(FIXTURE);
    let before = served.revision("production");
    served.write("/data/common.yaml", "k: 2\n");
    served.becomes("k", &json!(2));
    assert_ne!(served.revision("production"), before);
    assert_eq!(served.shown("production")["state"], "ok");
}

#[test]
fn a_change_of_the_target_of_a_link_becomes_visible() {
    let served = Served::new(FIXTURE);
    served.write("R/elsewhere/real.yaml", "k: linked\n");
    let link = served.tree.path("E/data/common.yaml");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(served.tree.path("R/elsewhere/real.yaml"), &link).unwrap();
    served.becomes("k", &json!("linked"));
    served.write("R/elsewhere/real.yaml", "k: changed\n");
    served.becomes("k", &json!("changed"));
}

#[test]
fn a_new_file_in_a_new_directory_becomes_visible() {
    let served = Served::new(FIXTURE);
    let request = json!({ "key": "who", "node": "eu/web/1" });
    assert_eq!(served.value_of(&request), json!("anybody"));
    served.write("/data/nodes/eu/web/1.yaml", "who: web\n");
    served.wait_for_value(&request, &json!("web"));
    // The new directory is watched.
    served.write("/data/nodes/eu/web/1.yaml", "who: web again\n");
    served.wait_for_value(&request, &json!("web again"));
}

#[test]
fn two_hundred_files_in_new_nested_directories_become_visible() {
    let served = Served::new(FIXTURE);
    let nodes: Vec<String> = (0..200)
        .map(|number| format!("{}/{}/{number}", number % 7, number % 5))
        .collect();
    for node in &nodes {
        served.write(
            &format!("/data/nodes/{node}.yaml"),
            format!("who: {node}\n"),
        );
    }
    wait_for("all files", || {
        (served.shown("production")["files"] == 201).then_some(())
    });
    for node in &nodes {
        let request = json!({ "key": "who", "node": node });
        assert_eq!(served.value_of(&request), json!(node));
    }
}

#[test]
fn a_removed_file_is_gone() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/a.yaml\nwho: a\n"));
    let request = json!({ "key": "who", "node": "a" });
    assert_eq!(served.value_of(&request), json!("a"));
    fs::remove_file(served.tree.path("/data/nodes/a.yaml")).unwrap();
    served.wait_for_value(&request, &json!("anybody"));
    fs::remove_dir(served.tree.path("/data/nodes")).unwrap();
    served.write("/data/nodes/a.yaml", "who: a again\n");
    served.wait_for_value(&request, &json!("a again"));
}

#[test]
fn a_file_that_is_renamed_over_another_becomes_visible() {
    let served = Served::new(FIXTURE);
    for number in 2..6 {
        served.write("/data/.common.yaml.Xq3", format!("k: {number}\n"));
        let (from, to) = ("/data/.common.yaml.Xq3", "/data/common.yaml");
        fs::rename(served.tree.path(from), served.tree.path(to)).unwrap();
        served.becomes("k", &json!(number));
    }
}

#[test]
fn a_change_with_the_same_size_and_time_becomes_visible() {
    let served = Served::new(FIXTURE);
    let path = served.tree.path("/data/common.yaml");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for number in 2..5 {
        served.write("/data/common.yaml", format!("k: {number}\n"));
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        served.becomes("k", &json!(number));
    }
}

#[test]
fn the_last_of_many_quick_changes_is_served() {
    let served = Served::new(FIXTURE);
    for round in 1..6 {
        for number in 0..40 {
            served.write("/data/common.yaml", format!("k: {round}{number:02}\n"));
        }
        served.becomes("k", &json!(format!("{round}39").parse::<u32>().unwrap()));
    }
}

/// Levels of every kind that is searched for, all below one directory.
const MANY_KINDS: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: node, path: "n/%{trusted.certname}.yaml"}
  - {name: json, data_hash: json_data, path: "n/%{trusted.certname}.json"}
  - {name: both, data_hash: json_data, path: "n/%{x}both.yaml"}
  - {name: globs, glob: "n/*.glob.yaml"}
  - {name: literal, path: literal.yaml}
  - {name: common, path: common.yaml}
//- /data/n/a.yaml
who: a
//- /data/common.yaml
k: 0
who: anybody
lookup_options: {all: {merge: unique}}
"#;

#[test]
fn an_incremental_load_equals_a_full_load() {
    let served = Served::new(MANY_KINDS);
    let path = |path: &str| served.tree.path(path);
    let steps: [&dyn Fn(); 12] = [
        &|| served.write("/data/n/a.yaml", "who: a 2\n"),
        &|| served.write("/data/n/b.yaml", "who: b\n"),
        &|| served.write("/data/n/b.json", r#"{"all": ["json"]}"#),
        &|| served.write("/data/n/both.yaml", r#"{"all": ["both"]}"#),
        &|| served.write("/data/n/x.glob.yaml", "all: [x]\n"),
        &|| served.write("/data/n/w.glob.yaml", "all: [w]\n"),
        &|| served.write("/data/n/README", "no data\n"),
        &|| served.write("/data/literal.yaml", "all: [literal]\n"),
        &|| fs::rename(path("/data/n/b.yaml"), path("/data/n/c.yaml")).unwrap(),
        &|| fs::remove_file(path("/data/n/x.glob.yaml")).unwrap(),
        &|| fs::remove_file(path("/data/literal.yaml")).unwrap(),
        &|| fs::remove_file(path("/data/n/README")).unwrap(),
    ];
    for (number, step) in (1..).zip(steps) {
        step();
        let common =
            format!("k: {number}\nwho: anybody\nlookup_options: {{all: {{merge: unique}}}}\n");
        served.write("/data/common.yaml", common);
        served.becomes("k", &json!(number));
        let (files, revision) = (
            served.shown("production")["files"].clone(),
            served.revision("production"),
        );
        let full = served.reload("production").json();
        assert_eq!(full["outcome"], "unchanged", "step {number}: {full}");
        assert_eq!(full["revision"], json!(revision), "step {number}");
        assert_eq!(served.shown("production")["files"], files, "step {number}");
        if number == 8 {
            let request = json!({ "key": "all", "node": "b" });
            let expected = json!(["json", "both", "w", "x", "literal"]);
            assert_eq!(served.value_of(&request), expected);
        }
    }
    served.is("all", &json!(["both", "w"]));
    let of = |node: &str| served.value_of(&json!({ "key": "who", "node": node }));
    assert_eq!(["a", "b", "c"].map(of), ["a 2", "anybody", "b"]);
}

#[test]
fn a_file_with_two_names_changes_under_both() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/a.yaml\nwho: a\n"));
    let path = |name: &str| served.tree.path(&format!("/data/nodes/{name}.yaml"));
    fs::hard_link(path("a"), path("hard")).unwrap();
    for (round, other) in (1..).zip(["hard", "soft"]) {
        if other == "soft" {
            fs::remove_file(path("hard")).unwrap();
            symlink("a.yaml", path(other)).unwrap();
        }
        let request = json!({ "key": "who", "node": other });
        served.wait_for_value(
            &request,
            &served.value_of(&json!({ "key": "who", "node": "a" })),
        );
        // In place: file events name only the path that is written to.
        let value = format!("round {round}");
        served.write("/data/nodes/a.yaml", format!("who: {value}\n"));
        served.wait_for_value(&request, &json!(value));
    }
}

#[test]
fn a_file_in_a_directory_with_two_names_changes_under_both() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/eu/a.yaml\nwho: a\n"));
    symlink("eu", served.tree.path("/data/nodes/us")).unwrap();
    let requests = ["eu/a", "us/a"].map(|node| json!({ "key": "who", "node": node }));
    for value in ["a", "b", "c"] {
        served.write("/data/nodes/eu/a.yaml", format!("who: {value}\n"));
        for request in &requests {
            served.wait_for_value(request, &json!(value));
        }
    }
}
