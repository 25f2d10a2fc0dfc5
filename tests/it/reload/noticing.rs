//! Other ways to notice, and what clients keep.

use std::fs;

use serde_json::json;

use super::{FIXTURE, OFF, Served};
use crate::process::{Answer, wait_for};
use crate::support::{TestServer, Tree};

#[test]
fn changes_are_found_by_polling() {
    let variables = [
        ("HIERAD_WATCH", "poll"),
        ("HIERAD_POLL_INTERVAL_MS", "50"),
        ("HIERAD_SETTLE_MS", "20"),
    ];
    let served = Served::with(Tree::new(FIXTURE), &variables);
    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    served.write("/data/nodes/eu/a.yaml", "who: eu\n");
    served.comes_to(&json!({ "key": "who", "node": "eu/a" }), &json!("eu"));
    served.write("/data/common.yaml", "k: [\n");
    served.wait_for_state("kept");
    served.write("/data/common.yaml", "k: 3\n");
    served.becomes("k", &json!(3));
    served.write("C/environments/late/hiera.yaml", "version: 5\n");
    wait_for("a late environment", || {
        (served.server.get("/environments/late").status == 200).then_some(())
    });
    fs::remove_dir_all(served.tree.path("C/environments/late")).unwrap();
    wait_for("its end", || {
        (served.server.get("/environments/late").status == 404).then_some(())
    });
}

#[test]
fn without_watching_only_a_request_reloads() {
    let served = Served::with(Tree::new(FIXTURE), &OFF);
    served.write("C/environments/other/hiera.yaml", "version: 5\n");
    served.write("/data/common.yaml", "k: 2\n");
    // The reload of another environment comes and goes without this one.
    assert_eq!(served.reload("other").json()["outcome"], "loaded");
    served.is("k", &json!(1));
    assert_eq!(served.reload("production").json()["outcome"], "loaded");
    served.is("k", &json!(2));
}

#[test]
fn an_answer_has_a_tag_that_holds_until_the_data_changes() {
    let served = Served::new(FIXTURE);
    let tag_of = |answer: &Answer| {
        let tag = answer
            .head
            .lines()
            .find_map(|line| line.strip_prefix("etag: "));
        tag.unwrap_or_else(|| panic!("{}", answer.head)).to_owned()
    };
    let answer = served.server.get("/lookup/k");
    let tag = tag_of(&answer);
    assert_eq!(tag, format!("\"{}\"", served.revision("production")));
    // A client that got a compressed answer knows its tag as a weak one, and gets it back as such.
    let weak = format!("W/{tag}");
    for (known, expected) in [
        (tag.clone(), &tag),
        (weak.clone(), &weak),
        (format!("\"x\", {tag}"), &tag),
        ("*".to_owned(), &tag),
    ] {
        let answer = served.get_with("/lookup/k", &format!("If-None-Match: {known}"));
        assert_eq!(
            (answer.status, answer.body.len()),
            (304, 0),
            "{known}: {}",
            answer.head
        );
        assert_eq!(tag_of(&answer), *expected, "{known}");
    }
    assert_eq!(
        served.get_with("/lookup/k", "If-None-Match: \"x\"").status,
        200
    );
    let text = served.get_with("/lookup/k?explain=true", "Accept: text/plain");
    assert_ne!(tag_of(&text), tag);

    served.write("/data/common.yaml", "k: 2\nwho: anybody\n");
    served.becomes("k", &json!(2));
    let answer = served.get_with("/lookup/k", &format!("If-None-Match: {tag}"));
    assert_eq!((answer.status, &answer.json()["value"]), (200, &json!(2)));
    assert_ne!(tag_of(&answer), tag);
    // The same data has the same tag again.
    served.write("/data/common.yaml", "k: 1\nwho: anybody\n");
    served.becomes("k", &json!(1));
    let answer = served.get_with("/lookup/k", &format!("If-None-Match: {tag}"));
    assert_eq!(answer.status, 304);
}

#[test]
fn the_same_tree_has_the_same_revision_wherever_it_lies() {
    let fixture = format!(
        "{FIXTURE}\n//- G/hiera.yaml\nversion: 5\n//- G/data/common.yaml\ng: 1\n\
         //- C/modules/ntp/hiera.yaml\nversion: 5\n//- C/modules/ntp/data/common.yaml\nntp::a: 1\n\
         //- /modules/web/hiera.yaml\nversion: 5\n//- /modules/web/data/common.yaml\nweb::a: 1\n"
    );
    let revision = |fixture: &str| {
        let server = TestServer::new(fixture);
        server.get("/environments").json()["environments"]["production"]["revision"].clone()
    };
    assert_eq!(revision(&fixture), revision(&fixture));
    assert_ne!(
        revision(&fixture),
        revision(&fixture.replace("web::a: 1", "web::a: 2"))
    );
    assert_ne!(
        revision(&fixture),
        revision(&fixture.replace("data/common", "data/other"))
    );
}
