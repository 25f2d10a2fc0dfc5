//! Reloads on demand and what they say; events.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use super::{FIXTURE, OFF, Served};
use crate::process::{PATIENCE, Process, wait_for};
use crate::support::Tree;

#[test]
fn a_reload_tells_what_is_different() {
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
    // One that is there by now is loaded, and one that is gone is served no longer.
    served.write("C/environments/late/hiera.yaml", "version: 5\n");
    assert_eq!(served.reload("late").json()["outcome"], "loaded");
    assert_eq!(served.server.get("/environments/late").status, 200);
    fs::remove_dir_all(served.tree.path("C/environments/late")).unwrap();
    assert_eq!(served.reload("late").status, 404);
    assert_eq!(served.server.get("/environments/late").status, 404);
}

/// What `GET /environments/{environment}/events` tells.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn open(server: &Process, environment: &str) -> Self {
        let mut stream = server.connect().unwrap();
        let request = format!("GET /environments/{environment}/events HTTP/1.1\r\nHost: h\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Events {
            lines: BufReader::new(stream),
        }
    }

    /// The next one: its name and its data.
    #[track_caller]
    fn next(&mut self) -> (String, Value) {
        let (mut name, start) = (String::new(), Instant::now());
        loop {
            // Signs of life come even where nothing happens.
            assert!(start.elapsed() < PATIENCE, "waited in vain for an event");
            let mut line = String::new();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "no more events"
            );
            match line.trim_end().split_once(": ") {
                Some(("event", event)) => name = event.to_owned(),
                Some(("data", data)) => return (name, serde_json::from_str(data).unwrap()),
                _ => {}
            }
        }
    }
}

#[test]
fn events_tell_what_is_loaded_kept_and_removed() {
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
    // What befalls others is not told here.
    served.write("C/environments/other/data/common.yaml", "k: other\n");
    served.comes_to(
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
    // Halfway through, there may be less of it.
    let last = std::iter::repeat_with(|| events.next().0).find(|name| name != "loaded");
    assert_eq!(last.as_deref(), Some("removed"));
    let answer = served.server.get("/environments/production/events");
    assert_eq!(answer.status, 404, "{}", answer.text());
}

#[test]
fn events_tell_nothing_where_the_disk_comes_back_to_what_is_served() {
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
fn events_start_with_what_is_kept() {
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
