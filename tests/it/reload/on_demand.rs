//! `POST /environments/{environment}/reload`, and what it answers.

use std::fs;

use serde_json::json;

use super::{FIXTURE, OFF, Served};
use crate::support::Tree;

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
