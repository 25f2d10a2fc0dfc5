//! Server-sent events: what subscribers of an environment receive.

use std::fs;

use serde_json::json;

use super::{FIXTURE, Served};
use crate::support::Tree;
use crate::support::events::Events;
use crate::support::process::wait_for;

#[test]
fn events_report_loaded_kept_and_removed() {
    let served = Served::new(FIXTURE);
    served.write("C/environments/other/hiera.yaml", "version: 5\n");
    wait_for("the other environment", || {
        (served.server.get("/environments/other").status == 200).then_some(())
    });
    let mut events = Events::open(&served.server, "production");
    let (name, data) = events.next();
    assert_eq!(
        (name.as_str(), &data),
        (
            "loaded",
            &json!({ "revision": served.revision("production") })
        )
    );
    // Changes of other environments are not reported here.
    served.write("C/environments/other/data/common.yaml", "k: other\n");
    served.wait_for_value(
        &json!({ "key": "k", "environment": "other" }),
        &json!("other"),
    );

    served.write("/data/common.yaml", "k: 2\n");
    let (name, data) = events.next();
    assert_eq!(name, "loaded");
    assert_eq!(data["revision"], json!(served.revision("production")));
    served.is("k", &json!(2));

    served.write("/data/common.yaml", "k: [\n");
    let (name, kept) = events.next();
    assert_eq!(
        (name.as_str(), &kept["revision"]),
        ("kept", &data["revision"])
    );
    let file = served.tree.path("/data/common.yaml").display().to_string();
    assert_eq!(kept["faults"][0]["file"], json!(file), "{kept}");

    served.write("/data/common.yaml", "k: 3\n");
    assert_eq!(events.next().0, "loaded");

    fs::remove_dir_all(served.tree.path("/")).unwrap();
    // The server may load it while it is being removed.
    let last = std::iter::repeat_with(|| events.next().0).find(|name| name != "loaded");
    assert_eq!(last.as_deref(), Some("removed"));
    let answer = served.server.get("/environments/production/events");
    assert_eq!(answer.status, 404, "{}", answer.text());
}

#[test]
fn no_event_is_sent_when_a_fault_is_reverted() {
    let served = Served::new(FIXTURE);
    let mut events = Events::open(&served.server, "production");
    let (_, first) = events.next();
    served.write("/data/common.yaml", "k: [\n");
    assert_eq!(events.next().0, "kept");
    served.write("/data/common.yaml", "k: 1\nwho: anybody\n");
    served.wait_for_state("ok");
    served.write("/data/common.yaml", "k: 2\n");
    let (name, data) = events.next();
    assert_eq!(name, "loaded");
    assert_ne!(data["revision"], first["revision"]);
}

#[test]
fn the_first_event_reports_kept_data() {
    let served = Served::new(FIXTURE);
    served.write("/data/common.yaml", "k: [\n");
    served.wait_for_state("kept");
    let (name, data) = Events::open(&served.server, "production").next();
    assert_eq!(name, "kept", "{data}");
    assert!(data["faults"][0]["line"].is_u64(), "{data}");
}

#[test]
fn events_end_with_the_server() {
    let mut served = Served::with(Tree::new(FIXTURE), &[("HIERAD_DRAIN_DELAY_MS", "0")]);
    let mut events = Events::open(&served.server, "production");
    assert_eq!(events.next().0, "loaded");
    served.server.terminate();
    let status = wait_for("the end of the process", || served.server.ended());
    assert_eq!(status.code(), Some(0), "{}", served.server.log());
    let log = served.server.log();
    assert!(!log.contains("did not finish"), "{log}");
}
