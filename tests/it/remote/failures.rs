//! Servers that fail, are slow or are gone.

use serde_json::json;
use tokio::sync::watch;

use super::{Remote, value};
use crate::support::printed;
use crate::support::process::{Process, wait_for};

#[test]
fn a_malformed_document_fails_the_lookup() {
    for (output, document) in [("json", "{"), ("yaml", "a: [")] {
        let remote = Remote::new(move |_| (200, document.to_owned()));
        let server = remote.served("/doc", &format!("{{output: {output}}}"));
        let detail = server.failure(&json!({ "key": "k" }));
        assert!(detail.contains(&remote.uri("/doc")), "{detail}");
    }
}

#[test]
fn an_error_status_fails_the_lookup_unless_the_level_ignores_it() {
    for (status, options, passes) in [
        (404, "{}", false),
        (404, "{ignore_404: true}", true),
        (404, "{failure: graceful}", true),
        (500, "{}", false),
        (500, "{ignore_404: true}", false),
        (500, "{failure: graceful}", true),
        (403, "{ignore_404: true}", false),
    ] {
        let remote = Remote::new(move |_| (status, "told to nobody".to_owned()));
        let server = remote.served("/x", options);
        let answer = server.lookup(&json!({ "key": "k" }));
        if passes {
            assert_eq!(answer.json()["value"], "common", "{status} {options}");
            continue;
        }
        let detail = answer.detail(422, "lookup-failed");
        assert!(detail.contains(&remote.uri("/x")), "{detail}");
        assert!(
            detail.contains(&status.to_string()) && detail.contains("elsewhere"),
            "{detail}"
        );
        assert!(!detail.contains("told to nobody"), "{detail}");
        let output = server.tree.hierad("lookup").arg("k").output().unwrap();
        let (_, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(&remote.uri("/x")), "{stderr}");
    }
}

#[test]
fn a_server_that_is_down_fails_only_lookups_that_reach_it() {
    let remote = Remote::with(&json!({}));
    let (server, uri) = (remote.served("/x", "{}"), remote.uri("/x"));
    let graceful = remote.served("/x", "{failure: graceful}");
    drop(remote);
    let detail = server.failure(&json!({ "key": "k" }));
    assert!(
        detail.contains(&uri) && detail.contains("cannot connect"),
        "{detail}"
    );
    assert_eq!(value(&graceful, "k"), json!("common"));
    let batch = server.lookup(&json!({ "keys": ["k", "own"] })).json();
    assert_eq!(
        batch["results"]["k"]["error"]["type"], "/problems/lookup-failed",
        "{batch}"
    );
}

#[test]
fn sixty_four_slow_answers_delay_nothing_else() {
    let (release, released) = watch::channel(false);
    let remote = Remote::held_until(released, |path| (200, json!({ "k": path }).to_string()));
    let tree = remote.tree("/%{facts.number}", "{output: json, http_read_timeout: 60}");
    let limit = [("HIERAD_REMOTE_MAX_REQUESTS_PER_SERVER", "64")];
    let server = Process::start(&tree, &limit);
    std::thread::scope(|scope| {
        for number in 0..64 {
            let server = &server;
            scope.spawn(move || {
                let body = json!({ "key": "k", "facts": { "number": number } }).to_string();
                let answer = server.lookup(body.as_bytes());
                assert_eq!(answer.status, 200, "{}", answer.text());
                assert_eq!(answer.json()["value"], json!(format!("/{number}")));
            });
        }
        wait_for("all requests to arrive", || {
            (remote.paths().len() == 64).then_some(())
        });
        // All of them are still waiting.
        assert_eq!(server.get("/livez").status, 200);
        assert_eq!(server.get("/environments").status, 200);
        assert_eq!(server.get("/lookup/k?environment=other").status, 404);
        release.send(true).unwrap();
    });
}
