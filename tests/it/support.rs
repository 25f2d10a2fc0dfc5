//! [`TestServer`]: an environment from a fixture string, its router in process; and the binary as a process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use hierad::config::CodeArgs;
use hierad::environments::{Environments, load_once};
use hierad::http::{App, Gate};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// What the server gives its threads.
pub(crate) const STACK_SIZE: usize = 32 * 1024 * 1024;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK_SIZE)
        .enable_all()
        .build()
        .unwrap()
});

/// Runs something on a thread with the stack that the server has.
pub(crate) fn on_deep_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    RUNTIME.block_on(RUNTIME.spawn_blocking(work)).unwrap()
}

/// A code directory on disk, gone with its value.
#[derive(Debug)]
pub(crate) struct Tree {
    root: TempDir,
}

impl Tree {
    /// Writes a fixture: files under `//- PATH` headers. Paths start with `/` (the environment `production`), `C/`
    /// (the code directory), `G/` (the directory of the global hiera.yaml) or `R/` (the root above them all).
    pub(crate) fn new(fixture: &str) -> Self {
        let tree = Tree::empty();
        for part in fixture.split("//- ").skip(1) {
            let (path, content) = part.split_once('\n').expect("a header is a line");
            tree.write(path.trim(), content);
        }
        tree
    }

    /// A code directory with an empty environment `production`.
    pub(crate) fn empty() -> Self {
        let tree = Tree {
            root: TempDir::with_prefix("hierad-it-").unwrap(),
        };
        std::fs::create_dir_all(tree.path("/")).unwrap();
        tree
    }

    /// Where a path of a fixture lies.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let path = match path.strip_prefix('/') {
            Some(rest) => format!("E/{rest}"),
            None => path.to_owned(),
        };
        let below = recorded_cases::path_below_root(&path);
        let below = below.unwrap_or_else(|| panic!("a path starts with /, C/, G/ or R/: {path}"));
        self.root.path().join(below)
    }

    /// Writes a file.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The root above everything.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The code directory.
    pub(crate) fn codedir(&self) -> PathBuf {
        self.path("C/")
    }

    /// The configuration of the global layer, where there is one.
    pub(crate) fn hiera_config(&self) -> Option<PathBuf> {
        Some(self.path("G/hiera.yaml")).filter(|path| path.exists())
    }

    /// Runs the binary on this tree, with nothing of the caller's settings.
    pub(crate) fn hierad(&self, command: &str) -> Command {
        let mut process = hierad();
        process.arg(command).arg("--codedir").arg(self.codedir());
        if let Some(path) = self.hiera_config() {
            process.arg("--hiera-config").arg(path);
        }
        process
    }
}

/// The binary, without the caller's settings and in a directory without any.
pub(crate) fn hierad() -> Command {
    let mut process = Command::new(env!("CARGO_BIN_EXE_hierad"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HIERAD_") {
            process.env_remove(name);
        }
    }
    process.env("NO_COLOR", "1").current_dir("/");
    process
}

/// A shell command for [`Process::launch_after`] that makes permissions count even for root.
///
/// [`Process::launch_after`]: crate::process::Process::launch_after
pub(crate) fn without_privileges() -> &'static str {
    // As root, a process without capabilities may do what the bits of its own files say. Others cannot do more anyway.
    "{ [ $(id -u) != 0 ] || set -- setpriv --bounding-set -all --inh-caps -all \"$@\"; }"
}

/// What a process printed, as text.
pub(crate) fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// A loaded tree and its router.
#[derive(Debug)]
pub(crate) struct TestServer {
    pub(crate) tree: Tree,
    pub(crate) environments: Environments,
    pub(crate) app: App,
    gate: Gate,
}

impl TestServer {
    /// The tree of a fixture, loaded.
    pub(crate) fn new(fixture: &str) -> Self {
        TestServer::of(Tree::new(fixture), "")
    }

    /// The same, with a settings file.
    pub(crate) fn with_settings(fixture: &str, settings: &str) -> Self {
        TestServer::of(Tree::new(fixture), settings)
    }

    /// A tree, loaded.
    pub(crate) fn of(tree: Tree, settings: &str) -> Self {
        let arguments = arguments(&tree, settings);
        TestServer::at(tree, &arguments, true)
    }

    /// A tree that nothing has been loaded of.
    pub(crate) fn not_loaded(tree: Tree, settings: &str) -> Self {
        let arguments = arguments(&tree, settings);
        TestServer::at(tree, &arguments, false)
    }

    /// What `config/` ships, loaded.
    pub(crate) fn of_the_sample() -> Self {
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/hierad.yaml");
        let arguments = CodeArgs {
            config: Some(config),
            ..CodeArgs::default()
        };
        TestServer::at(Tree::empty(), &arguments, true)
    }

    fn at(tree: Tree, arguments: &CodeArgs, loads: bool) -> Self {
        let settings = arguments.settings().unwrap();
        let code = settings.code_directory().unwrap();
        let environments = match loads {
            true => on_deep_stack(move || load_once(&code)),
            false => Environments::new(),
        };
        let app = App::new(environments.clone(), settings.limits)
            .with_remotes(&settings.remote)
            .with_cors_origins(&settings.http.cors_origins);
        let gate = app.clone().service();
        TestServer {
            tree,
            environments,
            app,
            gate,
        }
    }

    /// Sends a request.
    pub(crate) fn send(&self, request: Request<Body>) -> Reply {
        let gate = self.gate.clone();
        let answer = RUNTIME.spawn(async move {
            let response = gate.oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let kind = parts.headers.get(header::CONTENT_TYPE);
            // Events have no end.
            let body = match kind.is_some_and(|kind| kind == "text/event-stream") {
                true => Vec::new(),
                false => body.collect().await.unwrap().to_bytes().to_vec(),
            };
            Reply {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
            }
        });
        RUNTIME.block_on(answer).unwrap()
    }

    /// `GET`.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send(Request::get(path).body(Body::empty()).unwrap())
    }

    /// `GET` for text.
    pub(crate) fn get_text(&self, path: &str) -> Reply {
        let request = Request::get(path).header(header::ACCEPT, "text/plain");
        self.send(request.body(Body::empty()).unwrap())
    }

    /// `POST /lookup` with these bytes.
    pub(crate) fn post(&self, body: impl Into<Body>) -> Reply {
        self.post_accepting("application/json", body)
    }

    /// `POST /lookup` with these bytes, for an answer of some kind.
    pub(crate) fn post_accepting(&self, accept: &str, body: impl Into<Body>) -> Reply {
        let request = Request::post("/lookup")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, accept);
        self.send(request.body(body.into()).unwrap())
    }

    /// `POST /lookup`.
    pub(crate) fn lookup(&self, request: &Value) -> Reply {
        self.post(request.to_string())
    }

    /// The value of a key, as JSON text.
    #[track_caller]
    pub(crate) fn value(&self, request: &Value) -> String {
        self.lookup(request).json()["value"].to_string()
    }
}

/// The arguments that name a tree and a settings file for it.
fn arguments(tree: &Tree, settings: &str) -> CodeArgs {
    tree.write("R/settings.yaml", settings);
    CodeArgs {
        config: Some(tree.path("R/settings.yaml")),
        codedir: Some(tree.codedir()),
        hiera_config: tree.hiera_config(),
        ..CodeArgs::default()
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("a body is UTF-8")
    }

    /// The body of a good answer as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.content_type(), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The problem, checked: its status, the end of its `type`, and the form of a problem document.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, kind: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.content_type(), "application/problem+json");
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(
            problem["type"],
            json!(format!("/problems/{kind}")),
            "{problem}"
        );
        assert_eq!(problem["status"], json!(status), "{problem}");
        assert!(problem["title"].is_string(), "{problem}");
        problem
    }

    /// The `detail` of a problem.
    #[track_caller]
    pub(crate) fn detail(&self, status: u16, kind: &str) -> String {
        let problem = self.problem(status, kind);
        problem["detail"].as_str().expect("a detail").to_owned()
    }

    /// A header, or nothing.
    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The content type.
    pub(crate) fn content_type(&self) -> &str {
        self.header(header::CONTENT_TYPE)
    }

    /// The body for a snapshot: indented, with what changes from run to run replaced.
    pub(crate) fn shown(&self, server: &TestServer) -> String {
        let text = match serde_json::from_slice::<Value>(&self.body) {
            Ok(mut value) => {
                hide_what_changes(&mut value);
                serde_json::to_string_pretty(&value).unwrap()
            }
            Err(_) => self.text(),
        };
        text.replace(&server.tree.root().display().to_string(), "<ROOT>")
    }
}

fn hide_what_changes(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide_what_changes),
        Value::Object(members) => {
            for (name, value) in members {
                match name.as_str() {
                    "revision" if value.is_string() => *value = json!("<REVISION>"),
                    "loaded_at" if value.is_string() => *value = json!("<TIME>"),
                    _ => hide_what_changes(value),
                }
            }
        }
        _ => {}
    }
}

/// Looks a key up in a fixture and compares its value, as JSON text.
#[track_caller]
pub(crate) fn check(fixture: &str, key: &str, expected: &str) {
    check_request(fixture, &json!({ "key": key }), expected);
}

/// The same, for a whole request.
#[track_caller]
pub(crate) fn check_request(fixture: &str, request: &Value, expected: &str) {
    assert_eq!(TestServer::new(fixture).value(request), expected);
}

/// Looks a key up in a fixture that cannot answer, and compares why.
#[track_caller]
pub(crate) fn check_failure(fixture: &str, key: &str, expected: &str) {
    let detail = TestServer::new(fixture)
        .lookup(&json!({ "key": key }))
        .detail(422, "lookup-failed");
    assert!(detail.contains(expected), "{detail}");
}
