//! Recorded answers of Puppet with the module `hiera_http`: `tests/fixtures/hiera_http`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::header;
use serde_json::Value;

use super::Remote;
use crate::support::{TestServer, Tree};

fn fixture(name: &str) -> String {
    let directory: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hiera_http");
    fs::read_to_string(directory.join(name)).unwrap()
}

fn list(name: &str) -> Vec<Value> {
    serde_json::from_str(&fixture(name)).unwrap()
}

/// A server with the documents that Puppet got.
fn documents() -> Remote {
    let documents = list("documents.json");
    Remote::answering(move |path, headers| {
        let fits = |document: &&Value| path.starts_with(document["path"].as_str().unwrap());
        let document = documents.iter().find(fits).unwrap();
        let sent = headers.get(header::AUTHORIZATION);
        let sent = sent.and_then(|value| value.to_str().ok());
        let is_refused =
            document["authorization"].is_string() && document["authorization"].as_str() != sent;
        let status = if is_refused {
            401
        } else {
            u16::try_from(document["status"].as_u64().unwrap_or(200)).unwrap()
        };
        let delay = Duration::from_millis(document["delay_ms"].as_u64().unwrap_or(0));
        let body = document["body"].as_str().unwrap();
        (delay, status, body.replace("<PATH>", path))
    })
}

/// Is this a message whose text depends neither on the version of Ruby nor on the system?
fn is_stable(message: &str) -> bool {
    message.starts_with("lookup_http failed Bad HTTP response")
        || message.starts_with("lookup_http failed Net::ReadTimeout")
        || message.starts_with("value of lookup_options")
}

#[test]
fn answers_match_puppet() {
    let remote = documents();
    let address = remote.uri("");
    let mut server: Option<(String, TestServer)> = None;
    let mut wrong = Vec::new();
    let cases = list("cases.json");
    assert_eq!(cases.len(), 310);
    for case in &cases {
        let levels = case["levels"]
            .as_str()
            .unwrap()
            .replace("<SERVER>", &address);
        if server.as_ref().is_none_or(|(known, _)| *known != levels) {
            let tree = Tree::empty();
            tree.write("/hiera.yaml", format!("version: 5\nhierarchy:\n{levels}"));
            tree.write("/data/common.yaml", fixture("common.yaml"));
            server = Some((levels.clone(), TestServer::of(tree, "")));
        }
        let (_, server) = server.as_ref().unwrap();
        let request = &case["request"];
        let answer = server.lookup(request);
        let status = match answer.status {
            200 => "found",
            404 => "not_found",
            422 => "error",
            _ => "something else",
        };
        let value = match status {
            "found" => answer.json()["value"].clone(),
            _ => Value::Null,
        };
        let message = case["message"].as_str().unwrap_or_default();
        let mut differs = case["status"] != status || case["value"] != value;
        let mut shown = String::new();
        if let Some(expected) = case["explain"].as_str()
            && (message.is_empty() || is_stable(message))
        {
            let codedir = server.tree.path("C/").display().to_string();
            shown = server
                .post_accepting("text/plain", request.to_string())
                .text()
                .replace(&address, "<SERVER>")
                .replace(codedir.trim_end_matches('/'), "<CODE>");
            differs |= shown.trim_end() != expected.trim_end();
        }
        if differs {
            wrong.push(format!(
                "{levels}{request}\n  Puppet: {}\n  here: {} {}\n{shown}",
                case,
                answer.status,
                answer.text()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
