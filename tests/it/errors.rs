//! Problem documents: the status, type and text of each error.

mod lookups;
mod requests;

use crate::support::TestServer;

const FIXTURE: &str = r"
//- /hiera.yaml
version: 5
//- /data/common.yaml
k: 1
text: abc
";

fn server() -> TestServer {
    TestServer::with_settings(
        FIXTURE,
        "limits: {max_keys: 3, max_nesting: 5, max_body_size: 2000}",
    )
}
