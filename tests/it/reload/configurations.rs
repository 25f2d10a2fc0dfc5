//! Levels, modules, the global layer and environments that come and go.

use std::fs;

use serde_json::json;

use super::{EVENTS_ONLY, FIXTURE, Served};
use crate::process::{Process, wait_for};
use crate::support::Tree;

#[test]
fn a_level_that_is_added_is_looked_into() {
    let served = Served::new(FIXTURE);
    served.write("/elsewhere/first.yaml", "k: first\n");
    let config = "version: 5\nhierarchy:\n  - {name: first, datadir: elsewhere, path: first.yaml}\n  - {name: common, path: common.yaml}\n";
    served.write("/hiera.yaml", config);
    served.becomes("k", &json!("first"));
    served.is("who", &json!("anybody"));
    // The directory that nobody cared for before is followed now.
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
fn a_module_path_that_changes_is_followed() {
    let served = Served::new(FIXTURE);
    served.write("/site/ntp/hiera.yaml", "version: 5\n");
    served.write("/site/ntp/data/common.yaml", "ntp::server: site\n");
    served.write("/environment.conf", "modulepath = site:modules\n");
    served.becomes("ntp::server", &json!("site"));
    served.write("/site/ntp/data/common.yaml", "ntp::server: site 2\n");
    served.becomes("ntp::server", &json!("site 2"));
}

#[test]
fn a_change_of_the_global_layer_concerns_every_environment() {
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
        served.comes_to(request, &json!("b"));
    }
    served.write("G/b/b.yaml", "global: c\n");
    for request in &requests {
        served.comes_to(request, &json!("c"));
    }
}

#[test]
fn environments_appear_and_vanish() {
    let served = Served::new(FIXTURE);
    let request = json!({ "key": "k", "environment": "feature_1" });
    let answer = served.ask(&request);
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["type"], "/problems/unknown-environment");
    // Names that Puppet would not accept are no environments.
    for name in ["a-b", ".git", "lost+found"] {
        served.write(&format!("C/environments/{name}/hiera.yaml"), "version: 5\n");
        served.write(&format!("C/environments/{name}/data/common.yaml"), "k: [\n");
    }
    served.write("C/environments/README.md", "not a directory\n");
    served.write("C/environments/feature_1/hiera.yaml", "version: 5\n");
    served.write("C/environments/feature_1/data/common.yaml", "k: feature\n");
    served.comes_to(&request, &json!("feature"));
    let all = served.server.get("/environments").json();
    let names: Vec<&String> = all["environments"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["feature_1", "production"]);
    served.write(
        "C/environments/feature_1/data/common.yaml",
        "k: feature 2\n",
    );
    served.comes_to(&request, &json!("feature 2"));
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
fn the_first_environment_may_come_late() {
    let tree = Tree::empty();
    fs::remove_dir_all(tree.path("C/environments")).unwrap();
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
fn a_code_directory_that_is_gone_goes_on_being_served_and_is_found_again() {
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
fn directories_above_the_data_that_go_and_come_back_are_noticed_by_events() {
    for above in ["C/environments", "C/"] {
        let tree = Tree::new(FIXTURE);
        let served = Served::with(tree, &EVENTS_ONLY);
        let directory = served.tree.path(above);
        for round in 1..4 {
            // In one step: halfway through, an environment would be gone and the others not.
            let gone = served.tree.path("R/gone");
            fs::rename(&directory, &gone).unwrap();
            fs::remove_dir_all(&gone).unwrap();
            // What comes back before that would be found by the same look.
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
