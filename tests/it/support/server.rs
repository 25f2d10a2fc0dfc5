//! [`TestServer`]: a loaded tree with its router in process.

use std::path::Path;

use axum::body::Body;
use axum::http::{Request, header};
use hierad::config::CodeArgs;
use hierad::environments::{Environments, load_once};
use hierad::http::{App, Gate};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::{RUNTIME, Reply, Tree, on_deep_stack};
use crate::contract;

/// A loaded tree and its router.
#[derive(Debug)]
pub(crate) struct TestServer {
    pub(crate) tree: Tree,
    pub(crate) environments: Environments,
    pub(crate) app: App,
    gate: Gate,
}

impl TestServer {
    /// Loads the tree of a fixture.
    pub(crate) fn new(fixture: &str) -> Self {
        TestServer::of(Tree::new(fixture), "")
    }

    /// The same, with a settings file.
    pub(crate) fn with_settings(fixture: &str, settings: &str) -> Self {
        TestServer::of(Tree::new(fixture), settings)
    }

    /// Loads a tree.
    pub(crate) fn of(tree: Tree, settings: &str) -> Self {
        let arguments = arguments(&tree, settings);
        TestServer::at(tree, &arguments, true)
    }

    /// A server that has not loaded its tree.
    pub(crate) fn not_loaded(tree: Tree, settings: &str) -> Self {
        let arguments = arguments(&tree, settings);
        TestServer::at(tree, &arguments, false)
    }

    /// Loads the sample in `config/`.
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
            .with_connections(&settings.connections)
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

    /// Sends a request, and checks the reply against `openapi.yaml`.
    #[track_caller]
    pub(crate) fn send(&self, request: Request<Body>) -> Reply {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let gate = self.gate.clone();
        let answer = RUNTIME.spawn(async move {
            let response = gate.oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let kind = parts.headers.get(header::CONTENT_TYPE);
            // A stream of events does not end.
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
        let reply = RUNTIME.block_on(answer).unwrap();
        contract::check(&method, &uri, &reply);
        reply
    }

    /// `GET`.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send(Request::get(path).body(Body::empty()).unwrap())
    }

    /// `GET` with `Accept: text/plain`.
    pub(crate) fn get_text(&self, path: &str) -> Reply {
        let request = Request::get(path).header(header::ACCEPT, "text/plain");
        self.send(request.body(Body::empty()).unwrap())
    }

    /// `POST /lookup` with these bytes.
    pub(crate) fn post(&self, body: impl Into<Body>) -> Reply {
        self.post_accepting("application/json", body)
    }

    /// `POST /lookup` with these bytes and this `Accept` header.
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

    /// The reason why a lookup fails.
    #[track_caller]
    pub(crate) fn failure(&self, request: &Value) -> String {
        self.lookup(request).detail(422, "lookup-failed")
    }

    /// The value of a key, as JSON text.
    #[track_caller]
    pub(crate) fn value(&self, request: &Value) -> String {
        self.lookup(request).json()["value"].to_string()
    }
}

/// The arguments for a tree and a settings file.
fn arguments(tree: &Tree, settings: &str) -> CodeArgs {
    tree.write("R/settings.yaml", settings);
    CodeArgs {
        config: Some(tree.path("R/settings.yaml")),
        codedir: Some(tree.codedir()),
        hiera_config: tree.hiera_config(),
        ..CodeArgs::default()
    }
}
