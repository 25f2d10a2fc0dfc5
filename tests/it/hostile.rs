//! Trees and requests that are made to hurt.
//!
//! Each runs against a server of its own, as a process with the stacks it really has: a clear answer has to come
//! soon, the server has to live, and the good environment next to the bad one has to answer. What the server
//! survives, the command line must survive too.

mod files;
mod lookups;
mod requests;

use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Answer, Process};
use crate::support::{Tree, printed};

/// A second or two; builds without optimization are some ten times slower, and the others test at the same time.
const SOON: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 4 });

/// An environment to be spoiled, beside a good one.
fn tree() -> Tree {
    Tree::new(
        "
//- /hiera.yaml
version: 5
//- C/environments/good/hiera.yaml
version: 5
//- C/environments/good/data/common.yaml
k: good
",
    )
}

/// A tree with this as its only data file.
fn tree_of(path: &str, content: impl AsRef<[u8]>) -> Tree {
    let tree = tree();
    if path.ends_with(".json") {
        let config =
            format!("version: 5\nhierarchy: [{{name: j, data_hash: json_data, path: {path}}}]\n");
        tree.write("/hiera.yaml", config);
    }
    tree.write(&format!("/data/{path}"), content);
    tree
}

/// These measure time and use the processor to the full: one after the other.
static TURN: Mutex<()> = Mutex::new(());

struct Hostile {
    tree: Tree,
    server: Process,
    _turn: MutexGuard<'static, ()>,
}

impl Hostile {
    #[track_caller]
    fn new(tree: Tree) -> Self {
        Hostile::with(tree, &[])
    }

    #[track_caller]
    fn with(tree: Tree, variables: &[(&str, &str)]) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let server = Process::start(&tree, variables);
        assert!(start.elapsed() < SOON, "loading took {:?}", start.elapsed());
        let hostile = Hostile {
            tree,
            server,
            _turn: turn,
        };
        hostile.check_good();
        hostile
    }

    /// An answer that came soon.
    #[track_caller]
    fn ask(&self, body: &[u8]) -> Answer {
        let start = Instant::now();
        let answer = self.server.lookup(body);
        let took = start.elapsed();
        assert_ne!(
            answer.status,
            0,
            "no answer after {took:?}: {}\n{}",
            answer.head,
            self.server.log()
        );
        assert!(took < SOON, "an answer {} after {took:?}", answer.status);
        self.check_good();
        answer
    }

    /// The good environment answers.
    #[track_caller]
    fn check_good(&self) {
        let answer = self.server.lookup(br#"{"key":"k","environment":"good"}"#);
        assert_eq!(answer.status, 200, "{} {}", answer.head, self.server.log());
        assert_eq!(answer.json()["value"], "good");
    }

    /// A key fails, with this in the reason; on the command line too.
    #[track_caller]
    fn fails(&self, key: &str, reason: &str) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 422, "{key}: {}", head_of(&answer.text()));
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(reason), "{key}: {}", head_of(&detail));
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(1), "{key}: {stderr}");
        assert!(stderr.contains(reason), "{key}: {stderr}");
    }

    /// A key has this value; on the command line too.
    #[track_caller]
    fn is(&self, key: &str, value: &Value) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 200, "{key}: {}", head_of(&answer.text()));
        assert_eq!(answer.json()["value"], *value, "{key}");
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(0), "{key}: {stderr}");
    }

    /// A key is not found; on the command line too.
    #[track_caller]
    fn is_missing(&self, key: &str) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 404, "{key}: {}", head_of(&answer.text()));
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(1), "{key}: {stderr}");
    }

    /// Some answer comes: a value or a refusal, and nothing falls over.
    #[track_caller]
    fn survives(&self, request: &Value) -> u16 {
        let answer = self.ask(request.to_string().as_bytes());
        assert!(
            matches!(answer.status, 200 | 400..=499),
            "{}",
            head_of(&answer.text())
        );
        answer.status
    }

    /// The check tells a fault with this in it.
    #[track_caller]
    fn is_told_by_check(&self, reason: &str) {
        let output = self.tree.hierad("check").output().unwrap();
        let (stdout, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{stdout} {stderr}");
        assert!(stdout.contains(reason), "{stdout} {stderr}");
    }

    /// Runs a command that must end soon, and by itself.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let (command, rest) = arguments.split_first().unwrap();
        let mut child = self
            .tree
            .hierad(command)
            .arg("--")
            .args(rest)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let mut status = None;
        while status.is_none() && start.elapsed() < SOON {
            status = child.try_wait().unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        let (_, stderr) = printed(&child.wait_with_output().unwrap());
        let status = status.unwrap_or_else(|| panic!("{arguments:?} did not end in {SOON:?}"));
        (status.code(), head_of(&stderr))
    }
}

/// The beginning of what may be very long.
fn head_of(text: &str) -> String {
    text.chars().take(500).collect()
}
