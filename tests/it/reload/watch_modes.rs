//! Changes are found by polling, or only on request.

use std::fs;

use serde_json::json;

use super::{FIXTURE, OFF, POLLING, Served};
use crate::support::Tree;
use crate::support::process::wait_for;

#[test]
fn changes_are_found_by_polling() {
    let served = Served::with(Tree::new(FIXTURE), &POLLING);
    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    served.write("/data/nodes/eu/a.yaml", "who: eu\n");
    served.wait_for_value(&json!({ "key": "who", "node": "eu/a" }), &json!("eu"));
    served.write("/data/common.yaml", "k: [\n");
    served.wait_for_state("kept");
    served.write("/data/common.yaml", "k: 3\n");
    served.becomes("k", &json!(3));
    served.write("C/environments/late/hiera.yaml", "version: 5\n");
    wait_for("a late environment", || {
        (served.server.get("/environments/late").status == 200).then_some(())
    });
    fs::remove_dir_all(served.tree.path("C/environments/late")).unwrap();
    wait_for("its end", || {
        (served.server.get("/environments/late").status == 404).then_some(())
    });
}

#[test]
fn without_watching_only_a_request_reloads() {
    let served = Served::with(Tree::new(FIXTURE), &OFF);
    served.write("C/environments/other/hiera.yaml", "version: 5\n");
    served.write("/data/common.yaml", "k: 2\n");
    // Reloading another environment does not reload this one.
    assert_eq!(served.reload("other").json()["outcome"], "loaded");
    served.is("k", &json!(1));
    assert_eq!(served.reload("production").json()["outcome"], "loaded");
    served.is("k", &json!(2));
}
