//! Server-sent events: what subscribers of an environment receive.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use super::{FIXTURE, Served};
use crate::support::Tree;
use crate::support::process::{PATIENCE, Process, wait_for};

/// The stream of `GET /environments/{environment}/events`.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn open(server: &Process, environment: &str) -> Self {
        let mut stream = server.connect().unwrap();
        let request =
            format!("GET /environments/{environment}/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Events {
            lines: BufReader::new(stream),
        }
    }

    /// The name and the data of the next event.
    #[track_caller]
    fn next(&mut self) -> (String, Value) {
        let (mut name, start) = (String::new(), Instant::now());
        loop {
            // Keep-alive comments arrive even if nothing happens.
            assert!(start.elapsed() < PATIENCE, "timed out waiting for an event");
            let mut line = String::new();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "the stream has ended"
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
