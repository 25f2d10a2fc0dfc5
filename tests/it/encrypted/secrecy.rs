//! Secrets are in no explanation, no error, no log and no metric.

use serde_json::{Value, json};

use super::{FIXTURE, contains_no_secret, filled, server};
use crate::support::process::Process;
use crate::support::{Tree, printed};

#[test]
fn explanations_and_errors_contain_no_secret() {
    let server = server();
    let requests = [
        json!({ "key": "password" }),
        json!({ "key": "around" }),
        json!({ "key": "nested" }),
        json!({ "key": "nested.hash.password" }),
        json!({ "key": "nested.list.9" }),
        json!({ "key": "uses" }),
        json!({ "key": "settings", "node": "web" }),
        json!({ "key": "settings", "merge": { "strategy": "deep", "knockout_prefix": "--" } }),
        json!({ "key": "interpolated", "facts": { "host": "web" } }),
        json!({ "key": "sensitive" }),
        // Failures.
        json!({ "key": "converted" }),
        json!({ "key": "uses_converted" }),
        json!({ "key": "irregular" }),
        json!({ "key": "password", "type": "Integer" }),
        json!({ "key": "number", "type": "Enum['a', 'b']" }),
        json!({ "key": "nested", "type": "Hash[String, Integer]" }),
        json!({ "key": "merged_badly" }),
        json!({ "key": "password", "merge": "hash" }),
        json!({ "key": "password", "merge": "deep", "node": "web" }),
        json!({ "key": "password.nothing" }),
        json!({ "key": "password.0" }),
        json!({ "key": "into_path" }),
    ];
    for mut request in requests {
        let answer = server.lookup(&request);
        if answer.status != 200 {
            contains_no_secret(&answer.text());
        }
        request["explain"] = json!(true);
        let explained = server.lookup(&request);
        let json: Value = serde_json::from_slice(&explained.body).unwrap();
        contains_no_secret(&json["explanation"].to_string());
        contains_no_secret(&json["detail"].to_string());
        contains_no_secret(
            &server
                .post_accepting("text/plain", request.to_string())
                .text(),
        );
        let mut lookup = server.tree.hierad("lookup");
        lookup.args([request["key"].as_str().unwrap(), "--explain"]);
        if let Some(value_type) = request["type"].as_str() {
            lookup.args(["--type", value_type]);
        }
        if let Some(merge) = request["merge"].as_str() {
            lookup.args(["--merge", merge]);
        }
        let (stdout, stderr) = printed(&lookup.output().unwrap());
        contains_no_secret(&(stdout + &stderr));
    }
}

#[test]
fn errors_about_decrypted_values_still_say_what_failed() {
    let server = server();
    for request in [
        json!({ "key": "converted" }),
        json!({ "key": "password", "type": "Integer" }),
        json!({ "key": "merged_badly" }),
    ] {
        let detail = server.failure(&request);
        assert!(detail.contains("failed"), "{request}: {detail}");
    }
}

#[test]
fn logs_metrics_and_the_state_of_an_environment_contain_no_secret() {
    let tree = Tree::new(&filled(FIXTURE));
    let variables = [
        ("HIERAD_LOG_LEVEL", "trace"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
    ];
    let server = Process::start(&tree, &variables);
    for body in [
        r#"{"key":"password"}"#,
        r#"{"key":"password","explain":true}"#,
        r#"{"key":"converted"}"#,
        r#"{"key":"password","type":"Integer"}"#,
        r#"{"key":"merged_badly"}"#,
        r#"{"keys":["password","nested","converted"]}"#,
    ] {
        assert_ne!(server.lookup(body.as_bytes()).status, 0);
    }
    contains_no_secret(&server.get("/environments/production").text());
    contains_no_secret(&server.get("/metrics").text());
    contains_no_secret(&server.stop());
}
