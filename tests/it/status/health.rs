//! `/livez` and `/readyz`.

use serde_json::json;

use super::{FIXTURE, metrics::samples};
use crate::support::{TestServer, Tree};

#[test]
fn a_draining_server_is_alive_but_not_ready() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        (server.get("/livez").status, server.get("/readyz").status),
        (200, 200)
    );
    server.app.start_draining();
    assert_eq!(server.get("/livez").status, 200);
    server.get("/readyz").problem(503, "not-loaded");
    assert_eq!(
        server.value(&json!({"key": "a", "node": "n1"})),
        "1",
        "requests are still answered"
    );
}

#[test]
fn a_server_with_a_faulty_environment_is_ready() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(server.get("/readyz").status, 200);
    let value = server.value(&json!({"key": "a", "node": "n2"}));
    assert_eq!(value, "3");
}

#[test]
fn a_code_directory_without_environments_is_not_ready() {
    let tree = Tree::without_environments();
    let server = TestServer::of(tree, "");
    assert_eq!(
        server.get("/environments").json(),
        json!({"environments": {}})
    );
    let detail = server.get("/readyz").detail(503, "not-loaded");
    assert!(
        detail.contains("/environments/<name>/hiera.yaml"),
        "{detail}"
    );
    // Without any environment, it is not known whether this one exists.
    server
        .lookup(&json!({"key": "a"}))
        .problem(503, "not-loaded");
    assert_eq!(samples(&server)["hierad_loaded"], 0.0);
}
