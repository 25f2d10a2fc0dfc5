//! Values and what selects them: keys, defaults, facts, merges, types.

use serde_json::{Value, json};

use super::FIXTURE;
use crate::support::{TestServer, check, check_failure, check_request};

#[test]
fn hash_merge_puts_keys_of_the_lower_level_first() {
    check(
        r"
//- /hiera.yaml
version: 5
hierarchy: [{name: node, path: node.yaml}, {name: common, path: common.yaml}]
//- /data/node.yaml
ports: {b: 1, z: 2}
//- /data/common.yaml
lookup_options: {ports: {merge: hash}}
ports: {a: 0, b: 0}
",
        "ports",
        r#"{"a":0,"b":1,"z":2}"#,
    );
}

#[test]
fn null_facts_are_empty_strings() {
    let fixture = "
//- /data/common.yaml
k: '<%{facts.a}%{b.c}>'
//- /hiera.yaml
version: 5
";
    let request = json!({"key": "k", "facts": {"a": null, "b": {"c": null}}});
    check_request(fixture, &request, r#""<>""#);
}

#[test]
fn a_recursive_lookup_fails() {
    let fixture = "
//- /data/common.yaml
a: \"%{lookup('b')}\"
b: \"%{lookup('a')}\"
//- /hiera.yaml
version: 5
";
    check_failure(fixture, "a", "[a, b]");
}

#[test]
fn an_answer_has_key_environment_value_and_revision_in_this_order() {
    let server = TestServer::new(FIXTURE);
    let reply = server.lookup(&json!({"key": "who"}));
    let body = reply.json();
    let names: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["key", "environment", "value", "revision"]);
    assert_eq!(body["key"], "who");
    assert_eq!(body["environment"], "production");
    assert_eq!(body["value"], "anybody");
    let revision = body["revision"].as_str().unwrap();
    assert!(
        revision.len() >= 16 && revision.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{revision}"
    );
}

#[test]
fn values_keep_their_order_type_and_precision() {
    let server = TestServer::new(FIXTURE);
    let text = server.lookup(&json!({"key": "table"})).text();
    let expected = r#""value":{"z":1,"a":{"deep":[1,2.0,123456789012345678901234567890]}}"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn of_several_keys_the_first_found_answers() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        server.value(&json!({"key": ["no", "package", "who"]})),
        r#""httpd""#
    );
    let detail = server
        .lookup(&json!({"key": ["no", "never"]}))
        .detail(404, "key-not-found");
    assert!(
        detail.contains("`no`") && detail.contains("`never`"),
        "{detail}"
    );
}

#[test]
fn a_key_set_to_null_is_found() {
    let server = TestServer::new(FIXTURE);
    let body = server
        .lookup(&json!({"key": "nothing", "default": "d"}))
        .json();
    assert_eq!(body.get("value"), Some(&Value::Null));
}

#[test]
fn a_default_answers_if_nothing_is_found_even_if_it_is_null() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        server.value(&json!({"key": "no", "default": {"a": [1]}})),
        r#"{"a":[1]}"#
    );
    let body = server.lookup(&json!({"key": "no", "default": null})).json();
    assert_eq!(body.get("value"), Some(&Value::Null));
    assert_eq!(
        server.value(&json!({"key": "who", "default": "d"})),
        r#""anybody""#
    );
}

#[test]
fn overrides_win_and_default_values_answer_before_the_default() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        server.value(&json!({"key": "who", "override": {"who": "o"}})),
        r#""o""#
    );
    let request = json!({"key": ["no", "nor"], "default_values": {"nor": 5}, "default": 6});
    assert_eq!(server.value(&request), "5");
}

#[test]
fn facts_trusted_data_and_variables_select_the_levels() {
    let server = TestServer::new(FIXTURE);
    let value = |request: Value| server.value(&request);
    let facts = json!({"os": {"family": "Debian"}, "site": "pdx"});
    assert_eq!(
        value(json!({"key": "package", "facts": facts})),
        r#""apache2""#
    );
    assert_eq!(
        value(json!({"key": "place", "facts": facts})),
        r#""Portland""#
    );
    assert_eq!(
        value(json!({"key": "place", "facts": facts, "variables": {"site": "x"}})),
        r#""nowhere""#
    );
    assert_eq!(
        value(json!({"key": "who", "node": "web1.example.com"})),
        r#""web1""#
    );
    let trusted = json!({"certname": "other"});
    let both = json!({"key": "who", "node": "web1.example.com", "trusted": trusted});
    assert_eq!(value(both), r#""anybody""#, "trusted wins over node");
    let text = json!({"key": "text", "facts": facts, "node": "n1"});
    assert_eq!(value(text), r#""Debian at n1 in production""#);
}

#[test]
fn merges_can_have_hiera_1_names_and_options() {
    let server = TestServer::new(FIXTURE);
    let facts = json!({"os": {"family": "Debian"}});
    let value = |merge: Value| {
        server.value(
            &json!({"key": "list", "facts": facts, "node": "web1.example.com", "merge": merge}),
        )
    };
    assert_eq!(value(json!("unique")), r#"["node","debian","common"]"#);
    assert_eq!(value(json!("array")), r#"["node","debian","common"]"#);
    assert_eq!(value(json!("priority")), r#"["node"]"#);
    assert_eq!(value(json!(null)), r#"["node"]"#);
    let sorted = json!({"strategy": "deep", "sort_merged_arrays": true});
    assert_eq!(value(sorted), r#"["common","debian","node"]"#);
}

#[test]
fn a_type_is_checked() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        server.value(&json!({"key": "list", "type": "Array[String]"})),
        r#"["common"]"#
    );
    assert_eq!(
        server.value(&json!({"key": "version", "type": "Integer[7, 7]"})),
        "7"
    );
    let detail = server.failure(&json!({"key": "list", "type": "Integer"}));
    assert!(
        detail.contains("expects an Integer value, got Tuple"),
        "{detail}"
    );
    let detail = server.failure(&json!({"key": "list", "type": "Intger["}));
    assert!(detail.contains("type"), "{detail}");
}

#[test]
fn environments_do_not_share_data() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        server.value(&json!({"key": "who", "environment": "staging"})),
        r#""staging""#
    );
    let reply = server.lookup(&json!({"key": "package", "environment": "staging"}));
    reply.problem(404, "key-not-found");
}

#[test]
fn a_snapshot_does_not_change_with_the_disk() {
    let server = TestServer::new(FIXTURE);
    let before = server.lookup(&json!({"key": "who"})).text();
    std::fs::remove_file(server.tree.path("/data/common.yaml")).unwrap();
    server.tree.write("/data/nodes/new.yaml", "who: new");
    assert_eq!(server.lookup(&json!({"key": "who"})).text(), before);
    assert_eq!(
        server.value(&json!({"key": "who", "node": "new"})),
        r#""anybody""#
    );
}
