//! Locations of levels: every file that they can name is loaded, and a request cannot select files outside of them.

mod globs;
mod links;
mod paths;

use serde_json::{Value, json};

use crate::support::TestServer;

/// The value of `k` with these facts.
fn value_with(server: &TestServer, facts: &Value) -> String {
    server.value(&json!({"key": "k", "facts": facts}))
}
