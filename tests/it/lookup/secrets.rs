//! Sensitive values: in answers only.

use serde_json::json;

use super::FIXTURE;
use crate::support::TestServer;

#[test]
fn a_secret_is_flagged_and_hidden_from_explanations() {
    let server = TestServer::new(FIXTURE);
    let reply = server.lookup(&json!({"key": "secret", "explain": true}));
    let body = reply.json();
    assert_eq!(body["value"], "hunter2");
    assert_eq!(body["sensitive"], true);
    let explanation = body["explanation"].to_string();
    assert!(!explanation.contains("hunter2"), "{explanation}");
    let request = json!({"key": "secret", "explain": true}).to_string();
    let text = server.post_accepting("text/plain", request).text();
    assert!(!text.contains("hunter2"), "{text}");
    let batch = server.lookup(&json!({"keys": ["secret", "who"]})).json();
    assert_eq!(
        batch["results"]["secret"],
        json!({"value": "hunter2", "sensitive": true})
    );
    assert_eq!(batch["results"]["who"], json!({"value": "anybody"}));
}

#[test]
fn a_type_error_does_not_contain_the_secret() {
    let server = TestServer::new(FIXTURE);
    for value_type in [
        "Integer",
        "Enum[a, b]",
        "Sensitive[Integer]",
        "Pattern[/^x/]",
    ] {
        let reply = server.lookup(&json!({"key": "secret", "type": value_type, "explain": true}));
        reply.problem(422, "lookup-failed");
        assert!(
            !reply.text().contains("hunter2"),
            "{value_type}: {}",
            reply.text()
        );
    }
}

#[test]
fn an_error_quotes_a_broken_file_unless_there_are_secrets() {
    let tree = r#"
//- /hiera.yaml
version: 5
hierarchy: [{name: node, path: node.json, data_hash: json_data}, {name: common, path: common.yaml}]
//- /data/node.json
{"password": "hunter2", }
//- /data/common.yaml
who: anybody
<options>
"#;
    let text = |tree: &str| {
        let server = TestServer::new(tree);
        let request = json!({"key": "who", "explain": true}).to_string();
        let reply = server.post_accepting("text/plain", request);
        assert_eq!(reply.status, 422);
        assert!(
            reply.text().contains("node.json): "),
            "it says which file: {}",
            reply.text()
        );
        let json = server.lookup(&json!({"key": "who", "explain": true}));
        json.problem(422, "lookup-failed");
        (reply.text(), json.text())
    };
    let (plain, _) = text(&tree.replace("<options>", ""));
    let quoted = r#"859: unexpected token at '{"password": "hunter2", }"#;
    assert!(plain.contains(quoted), "{plain}");
    for options in [
        "lookup_options: {password: {convert_to: Sensitive}}",
        "lookup_options: {password: {convert_to: '%{facts.how}'}}",
        "lookup_options: {^pass: {convert_to: ['Sensitive[String]']}}",
    ] {
        let (plain, json) = text(&tree.replace("<options>", options));
        assert!(!plain.contains("hunter2"), "{plain}");
        assert!(!json.contains("hunter2"), "{json}");
    }
}
