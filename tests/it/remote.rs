//! Levels whose data comes from another server (`hiera_http`), with a server on loopback.

mod caching;
mod failures;
mod recorded;
mod requests;
mod tls;
mod upstreams;
mod values;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::support::{TestServer, Tree};

/// A server with data. Its connections end when it is dropped.
pub(crate) struct Remote {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<(String, HeaderMap)>>>,
    _runtime: Runtime,
}

impl Remote {
    /// Answers by path and query.
    fn new(answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        Remote::held_until(watch::channel(true).1, answer)
    }

    /// The same, once the answers are released.
    fn held_until(
        released: watch::Receiver<bool>,
        answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        Remote::start(released, move |path, _| {
            let (status, body) = answer(path);
            (Duration::ZERO, status, body)
        })
    }

    /// Answers by path and headers, after a delay.
    pub(crate) fn answering(
        answer: impl Fn(&str, &HeaderMap) -> (Duration, u16, String) + Send + Sync + 'static,
    ) -> Self {
        Remote::start(watch::channel(true).1, answer)
    }

    fn start(
        released: watch::Receiver<bool>,
        answer: impl Fn(&str, &HeaderMap) -> (Duration, u16, String) + Send + Sync + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (noted, answer) = (asked.clone(), Arc::new(answer));
        let router = Router::new().fallback(move |request: Request| {
            let path = request.uri().to_string();
            let headers = request.headers().clone();
            noted.lock().unwrap().push((path.clone(), headers.clone()));
            let (answer, mut released) = (answer.clone(), released.clone());
            async move {
                // The sender may be gone already.
                _ = released.wait_for(|released| *released).await;
                let (delay, status, body) = answer(&path, &headers);
                tokio::time::sleep(delay).await;
                (StatusCode::from_u16(status).unwrap(), body)
            }
        });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Remote {
            address,
            asked,
            _runtime: runtime,
        }
    }

    /// Answers every request with one document.
    fn with(document: &Value) -> Self {
        let document = document.to_string();
        Remote::new(move |_| (200, document.clone()))
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Path and query of every request so far.
    fn paths(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(path, _)| path.clone()).collect()
    }

    /// A tree with a level that asks this server, above a level with a file.
    fn tree(&self, path: &str, options: &str) -> Tree {
        self.tree_of(&format!("uri: \"{}\"", self.uri(path)), options)
    }

    fn tree_of(&self, locations: &str, options: &str) -> Tree {
        let tree = Tree::empty();
        tree.write(
            "/hiera.yaml",
            format!(
                "version: 5\nhierarchy:\n  - {{name: elsewhere, lookup_key: hiera_http, {locations}, options: {options}}}\n  - {{name: common, path: common.yaml}}\n"
            ),
        );
        tree.write(
            "/data/common.yaml",
            "k: common\nntp::server: common\nlist: [common]\nhash: {a: {common: 1}}\nown: 1\n",
        );
        tree
    }

    fn served(&self, path: &str, options: &str) -> TestServer {
        TestServer::of(self.tree(path, options), "")
    }
}

#[track_caller]
fn value(server: &TestServer, key: &str) -> Value {
    server.lookup(&json!({ "key": key })).json()["value"].clone()
}
