//! `POST /environments/{environment}/reload`, and what it answers.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{FIXTURE, OFF, Served, SetOnDrop, reload_request};
use crate::support::Tree;
use crate::support::process::{Answer, EVENTS_ONLY, lookup_head, wait_for};

#[test]
fn a_reload_reports_what_changed() {
    let served = Served::with(
        Tree::new(&format!("{FIXTURE}\n//- /data/nodes/a.yaml\nwho: a\n")),
        &OFF,
    );
    let path = |path: &str| served.tree.path(path).display().to_string();
    let before = served.revision("production");
    let unchanged = served.reload("production").json();
    assert_eq!(
        unchanged,
        json!({ "environment": "production", "outcome": "unchanged", "revision": before })
    );
    served.write("/data/common.yaml", "k: 2\n");
    served.write("/data/nodes/b.yaml", "who: b\n");
    fs::remove_file(served.tree.path("/data/nodes/a.yaml")).unwrap();
    let loaded = served.reload("production").json();
    assert_eq!(loaded["outcome"], "loaded");
    assert_eq!(loaded["added"], json!([path("/data/nodes/b.yaml")]));
    assert_eq!(loaded["changed"], json!([path("/data/common.yaml")]));
    assert_eq!(loaded["removed"], json!([path("/data/nodes/a.yaml")]));
    assert_ne!(loaded["revision"], json!(before));
    assert_eq!(loaded["revision"], json!(served.revision("production")));
    served.is("k", &json!(2));

    served.write("/data/common.yaml", "k: [\n");
    let kept = served.reload("production").json();
    assert_eq!(kept["outcome"], "kept");
    assert_eq!(kept["revision"], loaded["revision"]);
    assert_eq!(kept["faults"][0]["file"], json!(path("/data/common.yaml")));
    assert!(kept["faults"][0]["line"].is_u64(), "{kept}");
    served.is("k", &json!(2));
}

#[test]
fn a_reload_of_an_unknown_environment_is_refused() {
    let served = Served::with(Tree::new(FIXTURE), &OFF);
    for name in ["nowhere", "a-b", "..%2Fproduction"] {
        let answer = served.reload(name);
        assert_eq!(answer.status, 404, "{name}: {}", answer.text());
        assert_eq!(answer.json()["type"], "/problems/unknown-environment");
    }
    // A new environment is loaded, and a removed one is no longer served.
    served.write("C/environments/late/hiera.yaml", "version: 5\n");
    assert_eq!(served.reload("late").json()["outcome"], "loaded");
    assert_eq!(served.server.get("/environments/late").status, 200);
    fs::remove_dir_all(served.tree.path("C/environments/late")).unwrap();
    assert_eq!(served.reload("late").status, 404);
    assert_eq!(served.server.get("/environments/late").status, 404);
}

/// The environment `production` and one called `other`.
fn two_environments() -> Tree {
    let tree = Tree::new(FIXTURE);
    for path in ["hiera.yaml", "data/common.yaml"] {
        let text = fs::read(tree.path(&format!("/{path}"))).unwrap();
        tree.write(&format!("C/environments/other/{path}"), text);
    }
    tree
}

/// Two thousand reloads, hung up at once, once delayed a change in another environment for minutes.
#[test]
fn callers_do_not_delay_a_change_elsewhere() {
    let tree = two_environments();
    for number in 0..500 {
        tree.write(&format!("/data/nodes/{number}.yaml"), "k: node\n");
    }
    let served = Served::with(tree, &EVENTS_ONLY);
    let start = Instant::now();
    assert_eq!(served.reload("production").status, 200);
    let one_load = start.elapsed();
    let is_over = AtomicBool::new(false);
    let request = reload_request("production", "");
    let wait_for_reloads = || {
        let mut connection = served.server.connect().unwrap();
        while !is_over.load(Ordering::Acquire) {
            connection.write_all(request.as_bytes()).unwrap();
            let answer = Answer::read(&mut connection).unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    };
    let hang_up = || {
        for _ in 0..2000 {
            let mut connection = served.server.connect().unwrap();
            connection.write_all(request.as_bytes()).unwrap();
        }
    };
    // One connection for all lookups: a new one would have to wait behind all the others.
    let mut connection = served.server.connect().unwrap();
    let body = json!({ "key": "k", "environment": "other" }).to_string();
    let lookup = lookup_head(body.len(), "") + &body;
    let mut value = || {
        connection.write_all(lookup.as_bytes()).unwrap();
        Answer::read(&mut connection).unwrap().value_or_status()
    };
    let slowest = std::thread::scope(|scope| {
        let _end = SetOnDrop(&is_over);
        for _ in 0..8 {
            scope.spawn(wait_for_reloads);
        }
        let hanging_up = scope.spawn(hang_up);
        let times = (0..).map_while(|number| {
            let text = format!("k: {number}\n");
            served.write("C/environments/other/data/common.yaml", text);
            let start = Instant::now();
            wait_for("the change", || (value() == number).then_some(()));
            let is_done = number > 4 && hanging_up.is_finished();
            (!is_done).then(|| start.elapsed())
        });
        times.max().unwrap()
    });
    // The quiet time, and at most two loads: one that is running, and one that is due already.
    let limit = one_load * 4 + Duration::from_millis(500);
    assert!(
        slowest < limit,
        "it took {slowest:?}, one load {one_load:?}"
    );
}

#[test]
fn callers_at_the_same_time_share_a_reload() {
    let served = Served::with(two_environments(), &OFF);
    served.write("/data/common.yaml", "k: 2\n");
    let request = reload_request("production", "");
    let mut connections: Vec<_> = (0..100)
        .map(|_| {
            let mut connection = served.server.connect().unwrap();
            connection.write_all(request.as_bytes()).unwrap();
            connection
        })
        .collect();
    let answers = connections.iter_mut().map(|connection| {
        let answer = Answer::read(connection).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    });
    let answers: Vec<_> = answers.collect();
    // Callers of the first load see the change, and all others the data that contains it.
    let revision = json!(served.revision("production"));
    assert!(answers.iter().all(|answer| answer["revision"] == revision));
    assert!(answers.iter().any(|answer| answer["outcome"] == "loaded"));
    served.is("k", &json!(2));
}
