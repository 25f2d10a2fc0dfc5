//! The page `/docs` in a real browser.

use serde_json::{Value, json};

use super::browser::Browser;
use crate::support::Tree;
use crate::support::process::Process;

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: group, path: "groups/%{facts.group}.yaml"}
  - {name: common, path: common.yaml}
//- /data/groups/ops.yaml
servers: [ops.example.com]
//- /data/common.yaml
servers: ["all's.example.com"]
large: 123456789012345678901234567890
"#;

#[test]
#[ignore = "needs Chromium and chromedriver; scripts/test runs it"]
fn the_page_documents_the_api_and_sends_lookups() {
    let tree = Tree::new(FIXTURE);
    let server = Process::start(&tree, &[]);
    let browser = Browser::start();
    browser.open(&format!("http://{}/docs", server.address));
    assert_eq!(browser.text("h1"), "hierad API");

    // The reference is made from the description.
    browser.wait_for_text("#postLookup h3", |text| text == "POST /lookup");
    let reference = browser.text("#reference");
    for part in [
        "POST /environments/{environment}/reload",
        "/key-not-found",
        "/method-not-allowed",
        "LookupRequest",
        "sort_merged_arrays",
    ] {
        assert!(reference.contains(part), "{part} is missing:\n{reference}");
    }

    // Found, sent by the return key.
    browser.type_into("#key", "servers");
    browser.type_into("#facts", r#"{"group": "ops"}"#);
    browser.type_into("#key", "\u{e007}");
    let answer = browser.wait_for_text("#answer", |text| !text.is_empty());
    assert!(
        answer.contains(r#""value": ["ops.example.com"]"#),
        "{answer}"
    );
    assert!(browser.text("#status").starts_with("200 OK"));
    assert_eq!(
        browser.text("#curl"),
        format!(
            r#"curl -s 'http://{}/lookup' --json '{{"key": "servers", "facts": {{"group": "ops"}}}}'"#,
            server.address
        )
    );

    // A merge, with its explanation as text.
    browser.click("#merge option:nth-child(3)");
    browser.click("#explain option[value=true]");
    browser.click("#lookup button");
    let answer = browser.wait_for_text("#answer", |text| text.starts_with("Searching for"));
    assert!(answer.contains("Merged result: ["), "{answer}");
    assert!(browser.text("#curl").contains("-H 'Accept: text/plain'"));

    // Numbers beyond the precision of JavaScript.
    browser.run("document.getElementById('lookup').reset()");
    browser.type_into("#key", "large");
    browser.click("#lookup button");
    browser.wait_for_text("#answer", |text| {
        text.contains("123456789012345678901234567890")
    });

    // Facts that are not an object are not sent; a key that is not found gives a problem.
    browser.type_into("#facts", "{");
    browser.wait_for_text("#facts-error", |text| text.starts_with("Not a JSON object"));
    browser.run("document.getElementById('lookup').reset()");
    browser.type_into("#key", "nosuch");
    browser.type_into("#node", "it's");
    browser.click("#lookup button");
    browser.wait_for_text("#status", |text| text.starts_with("404"));
    browser.wait_for_text("#answer", |text| text.contains("/problems/key-not-found"));
    let command = browser.text("#curl");
    assert!(
        command.ends_with(r#"--json '{"key": "nosuch", "node": "it'\''s"}'"#),
        "{command}"
    );

    // Every field has a label, and nothing on the page was blocked or failed.
    let unnamed = "return [...document.querySelectorAll('input, select, textarea')].filter(f => !f.labels.length).length";
    assert_eq!(browser.run(unnamed), json!(0));
    let log = browser.call("POST", "/se/log", &json!({"type": "browser"}));
    let faults: Vec<&Value> = log
        .as_array()
        .unwrap()
        .iter()
        // The lookup without a result is logged, and a browser may ask for an icon.
        .filter(|entry| !entry["message"].as_str().unwrap().contains("status of 404"))
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
}
