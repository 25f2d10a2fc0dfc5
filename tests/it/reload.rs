//! Changes on disk under a running server: what becomes visible, what is kept back, and who is told.
//!
//! The binary as a process, with looks of its own an hour apart, so that what a test sees came by file events;
//! tests wait for answers and revisions, never for time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::process::{Answer, PATIENCE, Process, lookup_head, wait_for};
use crate::support::{TestServer, Tree};

const EVENTS_ONLY: [(&str, &str); 2] = [
    ("HIERAD_SETTLE_MS", "20"),
    ("HIERAD_RESCAN_INTERVAL_S", "3600"),
];

/// Changes are noticed by request alone, so that a request tells of all of them.
const OFF: [(&str, &str); 1] = [("HIERAD_WATCH", "off")];

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
        let answer = self.ask(request);
        match answer.status {
            200 => answer.json()["value"].clone(),
            status => json!({ "status": status }),
        }
    }

    #[track_caller]
    fn is(&self, key: &str, expected: &Value) {
        assert_eq!(self.value(key), *expected, "{key}\n{}", self.server.log());
    }

    #[track_caller]
    fn becomes(&self, key: &str, expected: &Value) {
        self.comes_to(&json!({ "key": key }), expected);
    }

    #[track_caller]
    fn comes_to(&self, request: &Value, expected: &Value) {
        let start = Instant::now();
        while self.value_of(request) != *expected {
            assert!(
                start.elapsed() < PATIENCE,
                "{request} is {}, not {expected}\n{}",
                self.value_of(request),
                self.server.log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
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
        let request = format!(
            "POST /environments/{environment}/reload HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        );
        self.server.send(request.as_bytes())
    }

    fn get_with(&self, path: &str, header: &str) -> Answer {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{header}\r\n\r\n");
        self.server.send(request.as_bytes())
    }

    /// Asks for these keys again and again while something is done. They stand for one state of the data: every
    /// answer has to come, with one value for all of them. Gives those values, in order.
    #[track_caller]
    fn while_asking(&self, keys: &[String], work: impl FnOnce()) -> Vec<Value> {
        let is_over = AtomicBool::new(false);
        let (seen, wrong) = (Mutex::new(Vec::<Value>::new()), Mutex::new(Vec::new()));
        let body = json!({ "keys": keys }).to_string();
        let ask = || {
            let mut stream = self.server.connect().unwrap();
            let mut is_last = false;
            // Once more after the end, to see what came of it.
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
            "{} mixed, such as {}\n{}",
            wrong.len(),
            wrong[0],
            self.server.log()
        );
        seen.into_inner().unwrap()
    }
}

/// Ends what goes on beside a test, even where it fails.
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

/// Points a link elsewhere, in one step.
fn relink(link: &Path, target: impl AsRef<Path>) {
    let next = PathBuf::from(format!("{}_next", link.display()));
    symlink(target, &next).unwrap();
    fs::rename(next, link).unwrap();
}

// Files.

#[test]
fn a_changed_file_becomes_visible() {
    let served = Served::new(FIXTURE);
    let before = served.revision("production");
    served.write("/data/common.yaml", "k: 2\n");
    served.becomes("k", &json!(2));
    assert_ne!(served.revision("production"), before);
    assert_eq!(served.shown("production")["state"], "ok");
}

#[test]
fn a_change_where_a_link_leads_becomes_visible() {
    let served = Served::new(FIXTURE);
    served.write("R/elsewhere/real.yaml", "k: linked\n");
    let link = served.tree.path("E/data/common.yaml");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(served.tree.path("R/elsewhere/real.yaml"), &link).unwrap();
    served.becomes("k", &json!("linked"));
    served.write("R/elsewhere/real.yaml", "k: changed\n");
    served.becomes("k", &json!("changed"));
}

#[test]
fn a_file_of_a_node_in_a_directory_that_is_new_too_becomes_visible() {
    let served = Served::new(FIXTURE);
    let request = json!({ "key": "who", "node": "eu/web/1" });
    assert_eq!(served.value_of(&request), json!("anybody"));
    served.write("/data/nodes/eu/web/1.yaml", "who: web\n");
    served.comes_to(&request, &json!("web"));
    // What lies there now is followed as well.
    served.write("/data/nodes/eu/web/1.yaml", "who: web again\n");
    served.comes_to(&request, &json!("web again"));
}

#[test]
fn two_hundred_files_in_nested_new_directories_become_visible_all_at_once() {
    let served = Served::new(FIXTURE);
    let nodes: Vec<String> = (0..200)
        .map(|number| format!("{}/{}/{number}", number % 7, number % 5))
        .collect();
    for node in &nodes {
        served.write(
            &format!("/data/nodes/{node}.yaml"),
            format!("who: {node}\n"),
        );
    }
    wait_for("all files", || {
        (served.shown("production")["files"] == 201).then_some(())
    });
    for node in &nodes {
        let request = json!({ "key": "who", "node": node });
        assert_eq!(served.value_of(&request), json!(node));
    }
}

#[test]
fn a_removed_file_is_gone() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/a.yaml\nwho: a\n"));
    let request = json!({ "key": "who", "node": "a" });
    assert_eq!(served.value_of(&request), json!("a"));
    fs::remove_file(served.tree.path("/data/nodes/a.yaml")).unwrap();
    served.comes_to(&request, &json!("anybody"));
    fs::remove_dir(served.tree.path("/data/nodes")).unwrap();
    served.write("/data/nodes/a.yaml", "who: a again\n");
    served.comes_to(&request, &json!("a again"));
}

#[test]
fn a_file_that_is_renamed_over_another_becomes_visible() {
    let served = Served::new(FIXTURE);
    for number in 2..6 {
        served.write("/data/.common.yaml.Xq3", format!("k: {number}\n"));
        let (from, to) = ("/data/.common.yaml.Xq3", "/data/common.yaml");
        fs::rename(served.tree.path(from), served.tree.path(to)).unwrap();
        served.becomes("k", &json!(number));
    }
}

#[test]
fn a_change_that_keeps_size_and_time_of_a_file_becomes_visible() {
    let served = Served::new(FIXTURE);
    let path = served.tree.path("/data/common.yaml");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for number in 2..5 {
        served.write("/data/common.yaml", format!("k: {number}\n"));
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        served.becomes("k", &json!(number));
    }
}

#[test]
fn the_last_of_many_quick_changes_counts() {
    let served = Served::new(FIXTURE);
    for round in 1..6 {
        for number in 0..40 {
            served.write("/data/common.yaml", format!("k: {round}{number:02}\n"));
        }
        served.becomes("k", &json!(format!("{round}39").parse::<u32>().unwrap()));
    }
}

// Faults.

#[test]
fn a_broken_file_keeps_the_old_data_as_a_whole() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/a.yaml\nwho: a\n"));
    let before = served.revision("production");
    assert!(
        served
            .server
            .get("/metrics")
            .text()
            .contains("hierad_environments_kept 0")
    );
    // A good change and a bad one, in one step.
    served.write("R/next/common.yaml", "k: 2\nwho: nobody\n");
    served.write("R/next/nodes/a.yaml", "who: a\nbad: [1,\n  2\n");
    let (data, old) = (served.tree.path("/data"), served.tree.path("R/old"));
    fs::rename(&data, &old).unwrap();
    fs::rename(served.tree.path("R/next"), &data).unwrap();
    let shown = served.wait_for_state("kept");
    assert_eq!(shown["revision"], json!(before));
    let fault = &shown["faults"][0];
    let file = served.tree.path("/data/nodes/a.yaml").display().to_string();
    assert_eq!(fault["file"], json!(file), "{shown}");
    assert_eq!(
        (&fault["line"], &fault["column"]),
        (&json!(4), &json!(1)),
        "{shown}"
    );
    assert!(
        fault["message"].as_str().unwrap().contains("flow sequence"),
        "{shown}"
    );
    served.is("k", &json!(1));
    served.is("who", &json!("anybody"));
    let metrics = served.server.get("/metrics").text();
    assert!(metrics.contains("hierad_environments_kept 1"), "{metrics}");

    // However often it is looked at, it is logged once.
    for _ in 0..3 {
        assert_eq!(served.reload("production").json()["outcome"], "kept");
    }
    served.write("/data/other.yaml", "x: 1\n");
    assert_eq!(served.reload("production").json()["outcome"], "kept");
    let log = served.server.log();
    assert_eq!(log.matches("the old data is kept").count(), 1, "{log}");
    assert!(log.contains(&format!("{file}:4:1")), "{log}");

    served.write("/data/nodes/a.yaml", "who: a\nbad: [1, 2]\n");
    served.becomes("k", &json!(2));
    assert_eq!(served.shown("production")["state"], "ok");
    assert!(
        served
            .server
            .get("/metrics")
            .text()
            .contains("hierad_environments_kept 0")
    );
}

#[test]
fn a_fault_that_is_taken_back_leaves_what_is_served() {
    let served = Served::new(FIXTURE);
    let before = served.shown("production");
    served.write("/data/common.yaml", "k: [\n");
    served.wait_for_state("kept");
    served.write("/data/common.yaml", "k: 1\nwho: anybody\n");
    let shown = served.wait_for_state("ok");
    assert_eq!(shown["revision"], before["revision"]);
    assert_eq!(shown["faults"], json!([]));
    assert_eq!(shown["last_fault"], json!(null));
}

#[test]
fn a_fault_in_a_new_directory_is_mended_there() {
    let served = Served::new(FIXTURE);
    served.write("/data/nodes/eu/a.yaml", "who: [\n");
    served.wait_for_state("kept");
    served.write("/data/nodes/eu/a.yaml", "who: eu\n");
    served.comes_to(&json!({ "key": "who", "node": "eu/a" }), &json!("eu"));
    served.wait_for_state("ok");
}

#[test]
fn a_broken_configuration_keeps_the_old_data_and_is_mended() {
    let served = Served::new(FIXTURE);
    served.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: x, pat: y}]\n",
    );
    let shown = served.wait_for_state("kept");
    let file = served.tree.path("/hiera.yaml").display().to_string();
    assert_eq!(shown["faults"][0]["file"], json!(file), "{shown}");
    assert_eq!(shown["faults"][0]["line"], 2, "{shown}");
    served.is("k", &json!(1));
    served.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: x, path: new/y.yaml}]\n",
    );
    served.write("/data/new/y.yaml", "k: 3\n");
    served.becomes("k", &json!(3));
}

#[test]
fn a_file_that_is_faulty_at_the_start_fails_the_lookups_that_need_it() {
    let served = Served::new(&format!("{FIXTURE}\n//- /data/nodes/bad.yaml\nwho: [\n"));
    let failing = json!({ "key": "who", "node": "bad" });
    assert_eq!(served.ask(&failing).status, 422);
    served.is("who", &json!("anybody"));
    assert_eq!(
        served.value_of(&json!({ "key": "who", "node": "good" })),
        json!("anybody")
    );
    let shown = served.shown("production");
    assert_eq!(shown["state"], "faulty");
    assert_eq!(shown["faults"].as_array().unwrap().len(), 1, "{shown}");
    // It is served already, so it keeps nothing else back.
    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    assert_eq!(served.ask(&failing).status, 422);
    served.write("/data/nodes/bad.yaml", "who: good\n");
    served.comes_to(&failing, &json!("good"));
    assert_eq!(served.shown("production")["state"], "ok");
}

/// Puts something where a data file should be.
type Make<'a> = &'a dyn Fn(&Path);

#[test]
fn what_is_no_data_keeps_the_old_data_and_the_server_lives() {
    let served = Served::new(FIXTURE);
    let (nodes, bad) = (
        "/data/nodes/x.yaml",
        served.tree.path("/data/nodes/bad.yaml"),
    );
    served.write(nodes, "who: x\n");
    served.comes_to(&json!({ "key": "who", "node": "x" }), &json!("x"));
    let directory = |path: &Path| fs::create_dir(path).unwrap();
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let huge = |path: &Path| {
        // A sparse file: 200 MB that take no room.
        let file = fs::File::create(path).unwrap();
        file.set_len(200_000_000).unwrap();
    };
    let dangling = |path: &Path| symlink("nowhere", path).unwrap();
    let itself = |path: &Path| symlink("bad.yaml", path).unwrap();
    let kinds: [(Make<'_>, &str); 5] = [
        (&directory, "it is a directory"),
        (&pipe, "it is a pipe"),
        (&huge, "larger than 67108864 bytes"),
        (&dangling, ""),
        (&itself, ""),
    ];
    for (number, (make, reason)) in (10..).zip(kinds) {
        make(&bad);
        served.write("/data/common.yaml", format!("k: {number}\nwho: anybody\n"));
        let shown = wait_for("the change to be looked at", || {
            let shown = served.shown("production");
            (shown["state"] == "kept" || served.value("k") == json!(number)).then_some(shown)
        });
        assert_eq!(
            served.value_of(&json!({ "key": "who", "node": "x" })),
            json!("x")
        );
        if served.value("k") != json!(number) {
            let fault = &shown["faults"][0];
            assert_eq!(fault["file"], json!(bad.display().to_string()), "{shown}");
            assert!(
                fault["message"].as_str().unwrap().contains(reason),
                "{shown}"
            );
        }
        _ = fs::remove_file(&bad);
        _ = fs::remove_dir(&bad);
        served.becomes("k", &json!(number));
        served.wait_for_state("ok");
    }
}

#[test]
fn links_in_circles_are_followed_no_further_than_they_lead() {
    let served = Served::new(FIXTURE);
    served.write("/data/nodes/x.yaml", "who: x\n");
    symlink(".", served.tree.path("/data/nodes/here")).unwrap();
    symlink("..", served.tree.path("/data/nodes/up")).unwrap();
    symlink("b", served.tree.path("/data/nodes/a")).unwrap();
    symlink("a", served.tree.path("/data/nodes/b")).unwrap();
    served.comes_to(&json!({ "key": "who", "node": "x" }), &json!("x"));
    served.write("/data/common.yaml", "k: 2\n");
    served.becomes("k", &json!(2));
    assert_eq!(served.shown("production")["state"], "ok");
}

// Configurations, modules, environments.

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
    let served = Served::with(tree, &EVENTS_ONLY);
    served.is("k", &json!({ "status": 404 }));
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

// Deployments while requests come.

const MARKED: &str = r#"
version: 5
hierarchy:
  - {name: parts, glob: "parts/*.yaml"}
  - {name: common, path: common.yaml}
"#;

/// Writes an environment in which every file says which state of things it belongs to.
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
fn an_environment_that_is_a_link_is_swapped_whole_while_requests_come() {
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
    // Files of the one it leads to now are followed.
    served.write("R/v7/data/common.yaml", "mark: by hand\n");
    served.becomes("mark", &json!("by hand"));
}

#[test]
fn the_links_of_a_config_map_are_followed_while_requests_come() {
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
            // As the kubelet does, at once.
            fs::remove_dir_all(data.join(format!("..v{}", version - 1))).unwrap();
            served.becomes("common", &json!(format!("v{version}")));
        }
    });
    assert!(seen.len() > 1, "{seen:?}");
}

#[test]
fn a_checkout_that_touches_every_file_is_never_seen_half_done() {
    let tree = Tree::empty();
    let git = |tree: &Tree, arguments: &[&str]| {
        let status = Command::new("git")
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
            .output();
        status.is_ok_and(|output| output.status.success())
    };
    if !git(&tree, &["init", "-q"]) {
        eprintln!("git is not installed");
        return;
    }
    for branch in ["a", "b"] {
        write_marked(&tree, "E", branch, 80);
        assert!(branch == "a" || git(&tree, &["checkout", "-q", "-b", branch]));
        assert!(git(&tree, &["add", "-A"]) && git(&tree, &["commit", "-q", "-m", branch]));
    }
    // A checkout is no single step: the wait for quiet has to bridge its pauses, on a busy machine too.
    let variables = [
        ("HIERAD_SETTLE_MS", "150"),
        ("HIERAD_RESCAN_INTERVAL_S", "3600"),
    ];
    let served = Served::with(tree, &variables);
    served.is("mark", &json!("b"));
    let seen = served.while_asking(&marks(80), || {
        for branch in ["a", "b", "a", "b"] {
            assert!(git(&served.tree, &["checkout", "-q", branch]));
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
            served.comes_to(&json!({ "key": "k", "environment": environment }), expected);
        }
    };
    served.write("R/shared/data/common.yaml", "k: 2\n");
    become_all(&environments, &json!(2));
    // One of them goes its own way; the others are still followed.
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

// On demand, and told.

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

// Other ways to notice, and what clients keep.

#[test]
fn changes_are_found_by_polling() {
    let variables = [
        ("HIERAD_WATCH", "poll"),
        ("HIERAD_POLL_INTERVAL_MS", "50"),
        ("HIERAD_SETTLE_MS", "20"),
    ];
    let served = Served::with(Tree::new(FIXTURE), &variables);
    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    served.write("/data/nodes/eu/a.yaml", "who: eu\n");
    served.comes_to(&json!({ "key": "who", "node": "eu/a" }), &json!("eu"));
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
    // The reload of another environment comes and goes without this one.
    assert_eq!(served.reload("other").json()["outcome"], "loaded");
    served.is("k", &json!(1));
    assert_eq!(served.reload("production").json()["outcome"], "loaded");
    served.is("k", &json!(2));
}

#[test]
fn an_answer_has_a_tag_that_holds_until_the_data_changes() {
    let served = Served::new(FIXTURE);
    let tag_of = |answer: &Answer| {
        let tag = answer
            .head
            .lines()
            .find_map(|line| line.strip_prefix("etag: "));
        tag.unwrap_or_else(|| panic!("{}", answer.head)).to_owned()
    };
    let answer = served.server.get("/lookup/k");
    let tag = tag_of(&answer);
    assert_eq!(tag, format!("\"{}\"", served.revision("production")));
    for known in [
        tag.clone(),
        format!("W/{tag}"),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ] {
        let answer = served.get_with("/lookup/k", &format!("If-None-Match: {known}"));
        assert_eq!(
            (answer.status, answer.body.len()),
            (304, 0),
            "{known}: {}",
            answer.head
        );
        assert_eq!(tag_of(&answer), tag);
    }
    assert_eq!(
        served.get_with("/lookup/k", "If-None-Match: \"x\"").status,
        200
    );
    let text = served.get_with("/lookup/k?explain=true", "Accept: text/plain");
    assert_ne!(tag_of(&text), tag);

    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    let answer = served.get_with("/lookup/k", &format!("If-None-Match: {tag}"));
    assert_eq!((answer.status, &answer.json()["value"]), (200, &json!(2)));
    assert_ne!(tag_of(&answer), tag);
    // The same data has the same tag again.
    served.write("/data/common.yaml", "k: 1\nwho: anybody\n");
    served.becomes("k", &json!(1));
    let answer = served.get_with("/lookup/k", &format!("If-None-Match: {tag}"));
    assert_eq!(answer.status, 304);
}

#[test]
fn the_same_tree_has_the_same_revision_wherever_it_lies() {
    let fixture = format!(
        "{FIXTURE}\n//- G/hiera.yaml\nversion: 5\n//- G/data/common.yaml\ng: 1\n\
         //- C/modules/ntp/hiera.yaml\nversion: 5\n//- C/modules/ntp/data/common.yaml\nntp::a: 1\n\
         //- /modules/web/hiera.yaml\nversion: 5\n//- /modules/web/data/common.yaml\nweb::a: 1\n"
    );
    let revision = |fixture: &str| {
        let server = TestServer::new(fixture);
        server.get("/environments").json()["environments"]["production"]["revision"].clone()
    };
    assert_eq!(revision(&fixture), revision(&fixture));
    assert_ne!(
        revision(&fixture),
        revision(&fixture.replace("web::a: 1", "web::a: 2"))
    );
    assert_ne!(
        revision(&fixture),
        revision(&fixture.replace("data/common", "data/other"))
    );
}
