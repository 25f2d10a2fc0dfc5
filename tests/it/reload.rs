//! Changes on disk under a running server: which become visible, which are held back, who is notified.
//!
//! The binary runs as a process and rescans once an hour, so that what a test sees came from file events. Tests wait for
//! answers and revisions, never for time to pass.

mod configurations;
mod deployments;
mod entity_tags;
mod events;
mod faults;
mod files;
mod noise;
mod on_demand;
mod strict;
mod unreadable;
mod watch_modes;
mod writers;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::support::Tree;
use crate::support::process::{Answer, EVENTS_ONLY, Process, lookup_head, wait_for};

/// Changes are noticed only on request, so that one request reports all of them.
const OFF: [(&str, &str); 1] = [("HIERAD_WATCH", "off")];

/// Changes are found by polling.
const POLLING: [(&str, &str); 3] = [
    ("HIERAD_WATCH", "poll"),
    ("HIERAD_POLL_INTERVAL_MS", "50"),
    ("HIERAD_SETTLE_MS", "20"),
];

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: common
    path: common.yaml
//- /data/common.yaml
k: 1
who: anybody
"#;

/// A server and the tree it serves.
struct Served {
    tree: Tree,
    server: Process,
}

impl Served {
    #[track_caller]
    fn new(fixture: &str) -> Self {
        Served::with(Tree::new(fixture), &EVENTS_ONLY)
    }

    #[track_caller]
    fn with(tree: Tree, variables: &[(&str, &str)]) -> Self {
        let server = Process::start(&tree, variables);
        Served { tree, server }
    }

    /// The same with an environment `sentinel`, for [`Served::wait_for_sentinel`].
    #[track_caller]
    fn with_sentinel(tree: Tree, variables: &[(&str, &str)]) -> Self {
        add_sentinel(&tree);
        Served::with(tree, variables)
    }

    /// Changes the environment `sentinel` and waits for it, a few times. After that the server has processed earlier
    /// changes in other environments: they are due earlier, and environments that are due together are loaded by name.
    #[track_caller]
    fn wait_for_sentinel(&self) {
        let request = json!({ "key": "round", "environment": "sentinel" });
        let first = self.value_of(&request).as_u64().unwrap() + 1;
        for round in first..first + 3 {
            self.write(
                &format!("R/sentinel/{round}/common.yaml"),
                format!("round: {round}\n"),
            );
            // A directory that is swapped in counts as complete at once, with file events and without.
            relink(
                &self.tree.path("C/environments/sentinel/data"),
                self.tree.path(&format!("R/sentinel/{round}")),
            );
            self.wait_for_value(&request, &json!(round));
        }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.tree.write(path, content);
    }

    fn ask(&self, request: &Value) -> Answer {
        self.server.lookup(request.to_string().as_bytes())
    }

    /// The value of a key, or the status of the failure.
    fn value(&self, key: &str) -> Value {
        self.value_of(&json!({ "key": key }))
    }

    fn value_of(&self, request: &Value) -> Value {
        self.ask(request).value_or_status()
    }

    #[track_caller]
    fn is(&self, key: &str, expected: &Value) {
        assert_eq!(self.value(key), *expected, "{key}\n{}", self.server.log());
    }

    #[track_caller]
    fn becomes(&self, key: &str, expected: &Value) {
        self.wait_for_value(&json!({ "key": key }), expected);
    }

    #[track_caller]
    fn wait_for_value(&self, request: &Value, expected: &Value) {
        self.server.wait_for_value(request, expected);
    }

    /// What `GET /environments/{environment}` shows.
    #[track_caller]
    fn shown(&self, environment: &str) -> Value {
        let answer = self.server.get(&format!("/environments/{environment}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    fn revision(&self, environment: &str) -> String {
        self.shown(environment)["revision"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[track_caller]
    fn wait_for_state(&self, state: &str) -> Value {
        wait_for(&format!("state {state}"), || {
            Some(self.shown("production")).filter(|shown| shown["state"] == state)
        })
    }

    /// `POST /environments/{environment}/reload`.
    fn reload(&self, environment: &str) -> Answer {
        self.server
            .send(reload_request(environment, "Connection: close\r\n").as_bytes())
    }

    fn get_with(&self, path: &str, header: &str) -> Answer {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n\r\n"
        );
        self.server.send(request.as_bytes())
    }

    /// Looks these keys up repeatedly while `work` runs. In each version of the data they all have the same value, so an
    /// answer with different values mixes versions. Returns the values in the order in which they were seen.
    #[track_caller]
    fn while_asking(&self, keys: &[String], work: impl FnOnce()) -> Vec<Value> {
        let is_over = AtomicBool::new(false);
        let (seen, wrong) = (Mutex::new(Vec::<Value>::new()), Mutex::new(Vec::new()));
        let body = json!({ "keys": keys }).to_string();
        let ask = || {
            let mut stream = self.server.connect().unwrap();
            let mut is_last = false;
            // Once more after the end, to see the final state.
            while !is_last {
                is_last = is_over.load(Ordering::Acquire);
                let request = lookup_head(body.len(), "") + &body;
                stream.write_all(request.as_bytes()).unwrap();
                let answer = Answer::read(&mut stream).unwrap();
                match one_value(&answer) {
                    Some(value) => {
                        let mut seen = seen.lock().unwrap();
                        if seen.last() != Some(&value) {
                            seen.push(value);
                        }
                    }
                    None => {
                        wrong
                            .lock()
                            .unwrap()
                            .push(format!("{} {}", answer.status, answer.text()))
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let _end = SetOnDrop(&is_over);
            scope.spawn(ask);
            work();
        });
        let wrong = wrong.into_inner().unwrap();
        assert!(
            wrong.is_empty(),
            "{} mixed answers, such as {}\n{}",
            wrong.len(),
            wrong[0],
            self.server.log()
        );
        seen.into_inner().unwrap()
    }
}

fn reload_request(environment: &str, header: &str) -> String {
    format!(
        "POST /environments/{environment}/reload HTTP/1.1\r\nHost: localhost\r\n{header}Content-Length: 0\r\n\r\n"
    )
}

/// Ends a thread of a test, even if the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The value that all keys of a batch have.
fn one_value(answer: &Answer) -> Option<Value> {
    if answer.status != 200 {
        return None;
    }
    let answer = answer.json();
    let mut values = answer["results"].as_object()?.values();
    let first = values.next()?["value"].clone();
    (!first.is_null() && values.all(|result| result["value"] == first)).then_some(first)
}

/// Adds an environment `sentinel` to a tree.
fn add_sentinel(tree: &Tree) {
    tree.write("C/environments/sentinel/hiera.yaml", "version: 5\n");
    tree.write("R/sentinel/0/common.yaml", "round: 0\n");
    let data = tree.path("C/environments/sentinel/data");
    symlink(tree.path("R/sentinel/0"), data).unwrap();
}

/// Points a link to another target, atomically.
fn relink(link: &Path, target: impl AsRef<Path>) {
    let next = PathBuf::from(format!("{}_next", link.display()));
    symlink(target, &next).unwrap();
    fs::rename(next, link).unwrap();
}
