//! What the tests have in common: trees from fixture strings, servers in process and as processes, and tools.

pub(crate) mod events;
pub(crate) mod process;
mod reply;
mod server;
mod tools;
mod tree;

use std::sync::LazyLock;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

pub(crate) use self::reply::Reply;
pub(crate) use self::server::TestServer;
pub(crate) use self::tools::{can_drop_privileges, has_tool, without_privileges};
pub(crate) use self::tree::{Tree, after_setup, hierad, make_pipe, output_within, printed};

/// The stack size of the server's threads.
pub(crate) const STACK_SIZE: usize = 32 * 1024 * 1024;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK_SIZE)
        .enable_all()
        .build()
        .unwrap()
});

/// Runs something on a thread with the stack size of the server.
pub(crate) fn on_deep_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    RUNTIME.block_on(RUNTIME.spawn_blocking(work)).unwrap()
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

/// Looks a key up in a fixture and checks that the lookup fails for this reason.
#[track_caller]
pub(crate) fn check_failure(fixture: &str, key: &str, expected: &str) {
    let detail = TestServer::new(fixture).failure(&json!({ "key": key }));
    assert!(detail.contains(expected), "{detail}");
}
