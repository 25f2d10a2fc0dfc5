//! With `strict: error`, files that Puppet 8 refuses do not replace good data.

use serde_json::json;

use super::{FIXTURE, Served};
use crate::support::Tree;

const STRICT: [(&str, &str); 2] = [("HIERAD_STRICT", "error"), ("HIERAD_WATCH", "off")];
const LENIENT: [(&str, &str); 2] = [("HIERAD_STRICT", "warning"), ("HIERAD_WATCH", "off")];

/// Files that Puppet 7 ignores and Puppet 8 refuses.
const IGNORED_BY_PUPPET_7: [(&str, &str); 3] = [
    ("/hiera.yaml", "# empty\n"),
    ("/hiera.yaml", "version: 3\n"),
    ("/data/common.yaml", "[k, 2]\n"),
];

#[test]
fn a_file_that_puppet_8_refuses_keeps_the_old_data() {
    for (path, content) in IGNORED_BY_PUPPET_7 {
        let served = Served::with(Tree::new(FIXTURE), &STRICT);
        served.write(path, content);
        assert_eq!(served.reload("production").json()["outcome"], "kept");
        let shown = served.shown("production");
        let file = served.tree.path(path).display().to_string();
        assert_eq!(shown["state"], "kept");
        assert_eq!(shown["faults"][0]["file"], json!(file), "{shown}");
        served.is("k", &json!(1));
    }
}

#[test]
fn a_file_that_puppet_7_ignores_is_served_as_empty() {
    for (path, content) in IGNORED_BY_PUPPET_7 {
        let served = Served::with(Tree::new(FIXTURE), &LENIENT);
        served.write(path, content);
        assert_eq!(served.reload("production").json()["outcome"], "loaded");
        let shown = served.shown("production");
        assert_eq!(shown["state"], "ok", "{shown}");
        assert_eq!(shown["notices"].as_array().map(Vec::len), Some(1));
        served.is("k", &json!({"status": 404}));
    }
}
