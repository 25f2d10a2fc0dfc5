//! Levels, modules, the global layer and environments that are added, changed and removed.

use std::fs;

use serde_json::json;

use super::{FIXTURE, Served};
use crate::support::Tree;
use crate::support::process::{EVENTS_ONLY, Process, wait_for};

#[test]
fn an_added_level_is_searched() {
    let served = Served::new(FIXTURE);
    served.write("/elsewhere/first.yaml", "k: first\n");
    let config = "version: 5\nhierarchy:\n  - {name: first, datadir: elsewhere, path: first.yaml}\n  - {name: common, path: common.yaml}\n";
    served.write("/hiera.yaml", config);
    served.becomes("k", &json!("first"));
    served.is("who", &json!("anybody"));
    // The directory that was not part of any level before is watched now.
    served.write("/elsewhere/first.yaml", "k: second\n");
    served.becomes("k", &json!("second"));
}

#[test]
fn modules_are_added_and_removed() {
    let served = Served::new(FIXTURE);
    for modules in ["/modules", "C/modules"] {
        served.write(&format!("{modules}/ntp/hiera.yaml"), "version: 5\n");
        served.write(
            &format!("{modules}/ntp/data/common.yaml"),
            "ntp::server: a\n",
        );
        served.becomes("ntp::server", &json!("a"));
        served.write(
            &format!("{modules}/ntp/data/common.yaml"),
            "ntp::server: b\n",
        );
        served.becomes("ntp::server", &json!("b"));
        fs::remove_dir_all(served.tree.path(&format!("{modules}/ntp"))).unwrap();
        served.becomes("ntp::server", &json!({ "status": 404 }));
    }
}

#[test]
fn a_changed_module_path_is_used() {
    let served = Served::new(FIXTURE);
    served.write("/site/ntp/hiera.yaml", "version: 5\n");
    served.write("/site/ntp/data/common.yaml", "ntp::server: site\n");
    served.write("/environment.conf", "modulepath = site:modules\n");
    served.becomes("ntp::server", &json!("site"));
    served.write("/site/ntp/data/common.yaml", "ntp::server: site 2\n");
    served.becomes("ntp::server", &json!("site 2"));
}

#[test]
fn a_change_of_the_global_layer_affects_every_environment() {
    let fixture = format!(
        "{FIXTURE}\n//- C/environments/staging/hiera.yaml\nversion: 5\n\
         //- G/hiera.yaml\nversion: 5\nhierarchy: [{{name: a, datadir: a, path: a.yaml}}]\n\
         //- G/a/a.yaml\nglobal: a\n//- G/b/b.yaml\nglobal: b\n"
    );
    let served = Served::new(&fixture);
    let requests = ["production", "staging"]
        .map(|environment| json!({ "key": "global", "environment": environment }));
    for request in &requests {
        assert_eq!(served.value_of(request), json!("a"));
    }
    served.write(
        "G/hiera.yaml",
        "version: 5\nhierarchy: [{name: b, datadir: b, path: b.yaml}]\n",
    );
    for request in &requests {
        served.wait_for_value(request, &json!("b"));
    }
    served.write("G/b/b.yaml", "global: c\n");
    for request in &requests {
        served.wait_for_value(request, &json!("c"));
    }
}

#[test]
fn environments_are_added_and_removed() {
    let served = Served::new(FIXTURE);
    let request = json!({ "key": "k", "environment": "feature_1" });
    let answer = served.ask(&request);
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["type"], "/problems/unknown-environment");
    // Directories with names that Puppet refuses are not environments.
    for name in ["a-b", ".git", "lost+found"] {
        served.write(&format!("C/environments/{name}/hiera.yaml"), "version: 5\n");
        served.write(&format!("C/environments/{name}/data/common.yaml"), "k: [\n");
    }
    served.write("C/environments/README.md", "not a directory\n");
    served.write("C/environments/feature_1/hiera.yaml", "version: 5\n");
    served.write("C/environments/feature_1/data/common.yaml", "k: feature\n");
    served.wait_for_value(&request, &json!("feature"));
    let all = served.server.get("/environments").json();
    let names: Vec<&String> = all["environments"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["feature_1", "production"]);
    served.write(
        "C/environments/feature_1/data/common.yaml",
        "k: feature 2\n",
    );
    served.wait_for_value(&request, &json!("feature 2"));
    fs::remove_dir_all(served.tree.path("C/environments/feature_1")).unwrap();
    wait_for("the environment to be gone", || {
        (served.server.get("/environments/feature_1").status == 404).then_some(())
    });
    assert_eq!(
        served.ask(&request).json()["type"],
        "/problems/unknown-environment"
    );
    served.is("k", &json!(1));
}

#[test]
fn the_first_environment_can_appear_later() {
    let tree = Tree::without_environments();
    let server = Process::launch(&tree, &EVENTS_ONLY);
    let served = Served { tree, server };
    wait_for("the reason to be given", || {
        let detail = served.server.get("/readyz").json()["detail"].to_string();
        detail.contains("there is no environment").then_some(())
    });
    served.is("k", &json!({ "status": 503 }));
    served.write("/hiera.yaml", "version: 5\n");
    served.write("/data/common.yaml", "k: 1\n");
    served.becomes("k", &json!(1));
}

#[test]
fn a_removed_code_directory_is_still_served_and_found_when_it_returns() {
    let variables = [
        ("HIERAD_SETTLE_MS", "20"),
        ("HIERAD_RESCAN_INTERVAL_S", "1"),
    ];
    let served = Served::with(Tree::new(FIXTURE), &variables);
    let (code, gone) = (served.tree.codedir(), served.tree.path("R/gone"));
    fs::rename(&code, &gone).unwrap();
    fs::remove_dir_all(&gone).unwrap();
    assert_eq!(served.reload("production").json()["outcome"], "unchanged");
    served.is("k", &json!(1));
    assert_eq!(served.server.get("/readyz").status, 200);
    served.write("/hiera.yaml", "version: 5\n");
    served.write("/data/common.yaml", "k: again\n");
    served.becomes("k", &json!("again"));
    served.write("/data/common.yaml", "k: and again\n");
    served.becomes("k", &json!("and again"));
}

#[test]
fn removed_and_restored_parent_directories_are_noticed_by_events() {
    for above in ["C/environments", "C/"] {
        let tree = Tree::new(FIXTURE);
        let served = Served::with(tree, &EVENTS_ONLY);
        let directory = served.tree.path(above);
        for round in 1..4 {
            // In one step, so that the server never sees a part of the environments removed.
            let gone = served.tree.path("R/gone");
            fs::rename(&directory, &gone).unwrap();
            fs::remove_dir_all(&gone).unwrap();
            // If it came back earlier, the server would not notice that it was gone.
            wait_for("the loss to be noticed", || {
                let losses = served
                    .server
                    .log()
                    .matches("are gone; keeping the old")
                    .count();
                (losses == round).then_some(())
            });
            served.is("who", &json!("anybody"));
            served.write(
                "R/aside/data/common.yaml",
                format!("k: back {round}\nwho: anybody\n"),
            );
            served.write("R/aside/hiera.yaml", "version: 5\n");
            let environment = match above {
                "C/environments" => directory.join("production"),
                _ => directory.join("environments/production"),
            };
            fs::create_dir_all(environment.parent().unwrap()).unwrap();
            fs::rename(served.tree.path("R/aside"), environment).unwrap();
            served.becomes("k", &json!(format!("back {round}")));
        }
    }
}
