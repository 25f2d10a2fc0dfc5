//! Hostile trees and requests.
//!
//! Each test has its own server, as a process with its real stacks: it must give a definite answer within a limit of
//! processor time and survive, and the good environment next to the bad one must answer. The command line must survive
//! the same.

mod budget;
mod files;
mod lookups;
mod requests;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::process::{Answer, Process};
use crate::support::{Tree, after_setup, output_within, printed};

/// The processor time that anything may take, which does not depend on how busy the machine is. Builds without
/// optimization are about ten times slower.
const CPU_LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 4 });

/// An environment for bad data, and a good one.
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

/// These tests use all processors, so that one runs at a time.
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
        let server = Process::start(&tree, variables);
        let taken = server.cpu_time();
        assert!(taken < CPU_LIMIT, "loading took {taken:?}");
        let hostile = Hostile {
            tree,
            server,
            _turn: turn,
        };
        hostile.check_good();
        hostile
    }

    /// Sends a lookup, and checks the time that it took.
    #[track_caller]
    fn ask(&self, body: &[u8]) -> Answer {
        let answer = self.within_limit(|| self.server.lookup(body));
        self.check_good();
        answer
    }

    /// Gets an answer and checks how much processor time the server used for it.
    #[track_caller]
    fn within_limit(&self, send: impl FnOnce() -> Answer) -> Answer {
        let before = self.server.cpu_time();
        let answer = send();
        let taken = self.server.cpu_time() - before;
        let status = answer.status;
        let log = self.server.log();
        assert_ne!(status, 0, "no answer: {}\n{log}", answer.head);
        assert!(taken < CPU_LIMIT, "an answer {status} took {taken:?}");
        answer
    }

    /// Checks that the good environment answers.
    #[track_caller]
    fn check_good(&self) {
        let answer = self.server.lookup(br#"{"key":"k","environment":"good"}"#);
        assert_eq!(answer.status, 200, "{} {}", answer.head, self.server.log());
        assert_eq!(answer.json()["value"], "good");
    }

    /// Checks that a lookup fails for this reason, on the command line too.
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

    /// Checks that a lookup needs more than its budget, on the command line too.
    #[track_caller]
    fn exceeds_budget(&self, key: &str) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert!(
            matches!(answer.status, 413 | 422),
            "{key}: {}",
            head_of(&answer.text())
        );
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(
            detail.contains("`limits.max_"),
            "{key}: {}",
            head_of(&detail)
        );
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(1), "{key}: {stderr}");
        assert!(stderr.contains("the lookup was ended"), "{key}: {stderr}");
    }

    /// Checks that a key has this value, and that the command line finds it.
    #[track_caller]
    fn is(&self, key: &str, value: &Value) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 200, "{key}: {}", head_of(&answer.text()));
        assert_eq!(answer.json()["value"], *value, "{key}");
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(0), "{key}: {stderr}");
    }

    /// Checks that a key is not found, on the command line too.
    #[track_caller]
    fn is_missing(&self, key: &str) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 404, "{key}: {}", head_of(&answer.text()));
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(1), "{key}: {stderr}");
    }

    /// Checks that there is a value or a refusal, not an internal error. Returns the status.
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

    /// Checks that `hierad check` reports a fault with this text.
    #[track_caller]
    fn is_reported_by_check(&self, reason: &str) {
        let output = self.tree.hierad("check").output().unwrap();
        let (stdout, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{stdout} {stderr}");
        assert!(stdout.contains(reason), "{stdout} {stderr}");
    }

    /// Runs a command and returns its exit code and standard error. It fails if it exceeds the limit of processor time.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let (command, rest) = arguments.split_first().unwrap();
        let mut process = self.tree.hierad(command);
        let setup = format!("ulimit -t {}", CPU_LIMIT.as_secs());
        let mut process = after_setup(&setup, process.arg("--").args(rest));
        let output = output_within(CPU_LIMIT * 10, &mut process);
        let (_, stderr) = printed(&output);
        let code = output.status.code();
        assert!(code.is_some(), "{arguments:?}: {}: {stderr}", output.status);
        (code, head_of(&stderr))
    }
}

/// The beginning of a string that may be very long.
fn head_of(text: &str) -> String {
    text.chars().take(500).collect()
}
