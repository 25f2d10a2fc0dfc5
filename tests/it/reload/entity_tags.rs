//! Entity tags, which clients keep between requests.

use serde_json::json;

use super::{FIXTURE, Served};
use crate::support::process::Answer;

#[test]
fn an_entity_tag_is_valid_until_the_data_changes() {
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
    // A client that received a compressed answer has a weak tag, and receives it again as a weak one.
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
