//! [`Reply`]: what the router answered.

use axum::http::{HeaderMap, header};
use serde_json::{Value, json};

use super::TestServer;

/// A reply of the router.
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

    /// The body of a successful reply as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.content_type(), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The problem document, after checking its status, its `type` and its form.
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

    /// A header; empty if there is none.
    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The content type.
    pub(crate) fn content_type(&self) -> &str {
        self.header(header::CONTENT_TYPE)
    }

    /// The body for a snapshot: indented, and with values that change from run to run replaced.
    pub(crate) fn shown(&self, server: &TestServer) -> String {
        let text = match serde_json::from_slice::<Value>(&self.body) {
            Ok(mut value) => {
                hide_volatile(&mut value);
                serde_json::to_string_pretty(&value).unwrap()
            }
            Err(_) => self.text(),
        };
        server.tree.shown(&text)
    }
}

fn hide_volatile(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide_volatile),
        Value::Object(members) => {
            for (name, value) in members {
                match name.as_str() {
                    "revision" if value.is_string() => *value = json!("<REVISION>"),
                    "loaded_at" if value.is_string() => *value = json!("<TIME>"),
                    _ => hide_volatile(value),
                }
            }
        }
        _ => {}
    }
}
