//! Deployments that replace all data under load: no request sees a mix of two versions.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{OFF, Served, add_sentinel, relink};
use crate::support::process::{EVENTS_ONLY, Process};
use crate::support::{Tree, has_tool, printed};

const MARKED: &str = r#"
version: 5
hierarchy:
  - {name: parts, glob: "parts/*.yaml"}
  - {name: common, path: common.yaml}
"#;

/// Writes an environment in which every file contains the mark of its version.
fn write_marked(tree: &Tree, root: &str, mark: &str, files: usize) {
    tree.write(&format!("{root}/hiera.yaml"), MARKED);
    tree.write(
        &format!("{root}/data/common.yaml"),
        format!("mark: {mark}\n"),
    );
    for number in 0..files {
        let path = format!("{root}/data/parts/{number}.yaml");
        tree.write(&path, format!("mark_{number}: {mark}\n"));
    }
}

fn marks(files: usize) -> Vec<String> {
    let parts = (0..files).map(|number| format!("mark_{number}"));
    std::iter::once("mark".to_owned()).chain(parts).collect()
}

#[test]
fn a_linked_environment_is_swapped_atomically_under_load() {
    let tree = Tree::empty();
    let link = tree.path("E/").parent().unwrap().join("production");
    fs::remove_dir(&link).unwrap();
    write_marked(&tree, "R/v0", "v0", 20);
    symlink(tree.path("R/v0"), &link).unwrap();
    let served = Served::with(tree, &EVENTS_ONLY);
    served.is("mark", &json!("v0"));
    let seen = served.while_asking(&marks(20), || {
        for version in 1..8 {
            let mark = format!("v{version}");
            write_marked(&served.tree, &format!("R/{mark}"), &mark, 20);
            relink(&link, served.tree.path(&format!("R/{mark}")));
            served.becomes("mark", &json!(mark));
            fs::remove_dir_all(served.tree.path(&format!("R/v{}", version - 1))).unwrap();
        }
    });
    assert!(seen.len() > 1, "{seen:?}");
    // The files of the new target are watched.
    served.write("R/v7/data/common.yaml", "mark: by hand\n");
    served.becomes("mark", &json!("by hand"));
}

#[test]
fn an_environment_replaced_by_rename_is_swapped() {
    let tree = Tree::empty();
    let environment = tree.path("E/").parent().unwrap().join("production");
    fs::remove_dir(&environment).unwrap();
    write_marked(&tree, "R/v0", "v0", 3);
    symlink(tree.path("R/v0"), &environment).unwrap();
    let served = Served::with(tree, &EVENTS_ONLY);
    served.is("mark", &json!("v0"));
    for version in 1..4 {
        let mark = format!("v{version}");
        write_marked(&served.tree, &format!("R/{mark}"), &mark, 3);
        // The link is made outside of the watched directories and moved in.
        let next = served.tree.path(&format!("R/{mark}/next"));
        symlink(served.tree.path(&format!("R/{mark}")), &next).unwrap();
        fs::rename(&next, &environment).unwrap();
        served.becomes("mark", &json!(mark));
    }
}

#[test]
fn the_links_of_a_config_map_are_followed_under_load() {
    let served = Served::new("//- /hiera.yaml\nversion: 5\n");
    let data = served.tree.path("/data");
    fs::create_dir(&data).unwrap();
    let write = |version: usize| {
        for name in ["common", "other"] {
            let path = format!("/data/..v{version}/{name}.yaml");
            served.write(&path, format!("{name}: v{version}\n"));
        }
    };
    write(0);
    symlink("..v0", data.join("..data")).unwrap();
    for name in ["common.yaml", "other.yaml"] {
        symlink(Path::new("..data").join(name), data.join(name)).unwrap();
    }
    served.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: a, paths: [common.yaml, other.yaml]}]\n",
    );
    served.becomes("common", &json!("v0"));
    served.becomes("other", &json!("v0"));
    let seen = served.while_asking(&["common".to_owned(), "other".to_owned()], || {
        for version in 1..8 {
            write(version);
            relink(&data.join("..data"), format!("..v{version}"));
            // At once, like the kubelet.
            fs::remove_dir_all(data.join(format!("..v{}", version - 1))).unwrap();
            served.becomes("common", &json!(format!("v{version}")));
        }
    });
    assert!(seen.len() > 1, "{seen:?}");
}

#[test]
fn a_checkout_of_every_file_is_never_seen_half_done() {
    if !has_tool("git") {
        return;
    }
    let tree = Tree::empty();
    let git = |tree: &Tree, arguments: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args([
                "-c",
                "init.defaultBranch=a",
                "-c",
                "advice.detachedHead=false",
            ])
            .args(arguments)
            .current_dir(tree.path("/"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {:?}",
            printed(&output)
        );
    };
    git(&tree, &["init", "-q"]);
    for branch in ["a", "b"] {
        write_marked(&tree, "E", branch, 80);
        if branch == "b" {
            git(&tree, &["checkout", "-q", "-b", branch]);
        }
        git(&tree, &["add", "-A"]);
        git(&tree, &["commit", "-q", "-m", branch]);
    }
    // A checkout is not atomic: the settle time must be longer than its pauses, even on a busy machine.
    let variables = [
        ("HIERAD_SETTLE_MS", "150"),
        ("HIERAD_RESCAN_INTERVAL_S", "3600"),
    ];
    let served = Served::with(tree, &variables);
    served.is("mark", &json!("b"));
    let seen = served.while_asking(&marks(80), || {
        for branch in ["a", "b", "a", "b"] {
            git(&served.tree, &["checkout", "-q", branch]);
            served.becomes("mark", &json!(branch));
        }
    });
    assert_eq!(seen, ["b", "a", "b", "a", "b"]);
}

#[test]
fn environments_that_share_data_by_links_are_all_reloaded() {
    let tree = Tree::new("//- R/shared/data/common.yaml\nk: 1\n");
    let environments = ["production", "staging", "testing"];
    for environment in environments {
        tree.write(
            &format!("C/environments/{environment}/hiera.yaml"),
            "version: 5\n",
        );
        let link = tree.path(&format!("C/environments/{environment}/data"));
        symlink(tree.path("R/shared/data"), link).unwrap();
    }
    let served = Served::with(tree, &EVENTS_ONLY);
    let become_all = |environments: &[&str], expected: &Value| {
        for environment in environments {
            served.wait_for_value(&json!({ "key": "k", "environment": environment }), expected);
        }
    };
    served.write("R/shared/data/common.yaml", "k: 2\n");
    become_all(&environments, &json!(2));
    // Two of them get data of their own; the shared data is still watched for the other.
    for gone in ["testing", "production"] {
        served.write("R/own/common.yaml", "k: own\n");
        relink(
            &served.tree.path(&format!("C/environments/{gone}/data")),
            served.tree.path("R/own"),
        );
        become_all(&[gone], &json!("own"));
    }
    served.write("R/shared/data/common.yaml", "k: 3\n");
    become_all(&["staging"], &json!(3));
    served.write("R/own/common.yaml", "k: 4\n");
    become_all(&["production", "testing"], &json!(4));
}

#[test]
fn a_long_pause_in_a_checkout_is_waited_for() {
    let tree = Tree::empty();
    write_marked(&tree, "E", "a", 10);
    fs::create_dir(tree.path("/.git")).unwrap();
    let served = Served::with_sentinel(tree, &EVENTS_ONLY);
    served.is("mark", &json!("a"));
    let seen = served.while_asking(&marks(10), || {
        for mark in ["b", "c"] {
            served.write("/.git/index.lock", "");
            write_marked(&served.tree, "E", mark, 5);
            served.wait_for_sentinel();
            write_marked(&served.tree, "E", mark, 10);
            fs::remove_file(served.tree.path("/.git/index.lock")).unwrap();
            served.becomes("mark", &json!(mark));
        }
    });
    assert_eq!(seen, ["a", "b", "c"]);
}

#[test]
fn starting_and_reloading_wait_for_the_end_of_a_checkout() {
    let tree = Tree::empty();
    let lock = tree.path("/.git/index.lock");
    tree.write("/.git/index.lock", "");
    write_marked(&tree, "E", "a", 10);
    write_marked(&tree, "E", "b", 5);
    add_sentinel(&tree);
    let end_checkout = |served: &Served, mark: &str| {
        write_marked(&served.tree, "E", mark, 10);
        fs::remove_file(&lock).unwrap();
    };
    let server = Process::launch(&tree, &OFF);
    let served = Served { tree, server };
    // Environments are loaded by name, so production has had its turn when the sentinel is loaded.
    served.wait_for_value(
        &json!({ "key": "round", "environment": "sentinel" }),
        &json!(0),
    );
    assert_ne!(served.server.get("/readyz").status, 200);
    end_checkout(&served, "b");
    served.becomes("mark", &json!("b"));
    assert_eq!(served.while_asking(&marks(10), || ()), ["b"]);

    served.write("/.git/index.lock", "");
    write_marked(&served.tree, "E", "c", 5);
    let seen = served.while_asking(&marks(10), || {
        std::thread::scope(|scope| {
            let reload = scope.spawn(|| served.reload("production"));
            for _ in 0..3 {
                assert_eq!(served.reload("sentinel").json()["outcome"], "unchanged");
            }
            assert!(!reload.is_finished(), "the checkout is not over");
            end_checkout(&served, "c");
            assert_eq!(reload.join().unwrap().json()["outcome"], "loaded");
        });
    });
    assert_eq!(seen, ["b", "c"]);
}

#[test]
fn a_checkout_in_one_environment_does_not_delay_others() {
    let tree = Tree::new(
        "//- C/environments/aaa/data/common.yaml\nk: 1\n//- /data/common.yaml\nk: 1\n//- C/environments/aaa/.git/index.lock\n",
    );
    for environment in ["aaa", "production"] {
        let path = format!("C/environments/{environment}/hiera.yaml");
        tree.write(&path, "version: 5\n");
    }
    let server = Process::launch(&tree, &OFF);
    let served = Served { tree, server };
    served.becomes("k", &json!(1));
    assert_ne!(served.server.get("/readyz").status, 200);
    fs::remove_file(served.tree.path("C/environments/aaa/.git/index.lock")).unwrap();
    served.wait_for_value(&json!({ "key": "k", "environment": "aaa" }), &json!(1));
}
