//! What a lookup over HTTP answers beyond the value: batches, defaults, explanations, queries.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};

use crate::support::{TestServer, check, check_failure, check_request};

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: os
    path: "os/%{facts.os.family}.yaml"
  - name: site
    path: "site/%{site}.yaml"
  - name: common
    path: common.yaml
//- /data/nodes/web1.example.com.yaml
who: web1
list: [node]
//- /data/os/Debian.yaml
package: apache2
list: [debian]
//- /data/site/pdx.yaml
place: Portland
//- /data/common.yaml
lookup_options:
  secret: {convert_to: Sensitive}
  version: {convert_to: [Integer]}
who: anybody
package: httpd
place: nowhere
list: [common]
nothing: ~
table: {z: 1, a: {deep: [1, 2.0, 123456789012345678901234567890]}}
'dotted.key': quoted
slash/key: slashed
ümlaut: ja
secret: hunter2
broken: "%{lookup('broken')}"
text: "%{facts.os.family} at %{trusted.certname} in %{environment}"
version: '7'
//- C/environments/staging/hiera.yaml
version: 5
//- C/environments/staging/data/common.yaml
who: staging
"#;

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
fn facts_given_as_null_are_empty_texts() {
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
fn a_lookup_that_needs_itself_fails() {
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
fn values_keep_order_kind_and_size() {
    let server = TestServer::new(FIXTURE);
    let text = server.lookup(&json!({"key": "table"})).text();
    let expected = r#""value":{"z":1,"a":{"deep":[1,2.0,123456789012345678901234567890]}}"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn the_first_of_several_keys_that_is_found_answers() {
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
fn a_default_answers_where_nothing_is_found_even_if_it_is_null() {
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
fn facts_trusted_and_variables_choose_the_levels() {
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
fn merges_may_be_asked_for_by_hiera_1_names_and_with_options() {
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
fn a_secret_of_the_wrong_type_is_not_told_in_the_error() {
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
fn a_broken_file_is_quoted_unless_there_are_secrets() {
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
    let detail = server
        .lookup(&json!({"key": "list", "type": "Integer"}))
        .detail(422, "lookup-failed");
    assert!(
        detail.contains("expects an Integer value, got Tuple"),
        "{detail}"
    );
    let detail = server
        .lookup(&json!({"key": "list", "type": "Intger["}))
        .detail(422, "lookup-failed");
    assert!(detail.contains("type"), "{detail}");
}

#[test]
fn a_batch_answers_every_key_on_its_own_in_the_order_asked() {
    let server = TestServer::new(FIXTURE);
    let keys = [
        "who",
        "no",
        "table.a.deep.0",
        "broken",
        "nothing",
        "a.'",
        "'dotted.key'",
    ];
    let reply = server.lookup(&json!({"keys": keys, "environment": "production"}));
    let body = reply.json();
    let names: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["environment", "revision", "results"]);
    let results = body["results"].as_object().unwrap();
    assert_eq!(results.keys().collect::<Vec<_>>(), keys);
    insta::assert_snapshot!(reply.shown(&server));
}

#[test]
fn a_key_asked_twice_in_a_batch_is_answered_once() {
    let server = TestServer::new(FIXTURE);
    let text = server
        .lookup(&json!({"keys": ["who", "package", "who"]}))
        .text();
    assert_eq!(text.matches(r#""who":"#).count(), 1, "{text}");
}

#[test]
fn a_batch_takes_the_options_of_a_single_lookup() {
    let server = TestServer::new(FIXTURE);
    let facts = json!({"os": {"family": "Debian"}});
    let request = json!({"keys": ["list", "no"], "facts": facts, "merge": "unique", "default": []});
    let body = server.lookup(&request).json();
    let expected = json!({"list": {"value": ["debian", "common"]}, "no": {"value": []}});
    assert_eq!(body["results"], expected);
}

#[test]
fn an_explanation_comes_as_json_or_as_puppets_text() {
    let server = TestServer::new(FIXTURE);
    let request = json!({"key": "package", "facts": {"os": {"family": "Debian"}}, "explain": true});
    insta::assert_snapshot!("explained", server.lookup(&request).shown(&server));
    let text = server.post_accepting("text/plain", request.to_string());
    assert_eq!(
        (text.status, text.content_type()),
        (200, "text/plain; charset=utf-8")
    );
    insta::assert_snapshot!("explained_text", text.shown(&server));
}

#[test]
fn nothing_found_is_explained_too() {
    let server = TestServer::new(FIXTURE);
    let request = json!({"key": "no", "explain": true});
    let problem = server.lookup(&request).problem(404, "key-not-found");
    assert!(problem["explanation"].is_object(), "{problem}");
    let reply = server.post_accepting("text/plain", request.to_string());
    assert_eq!(reply.status, 404);
    let missing = "Function lookup() did not find a value for the name 'no'";
    assert!(reply.text().contains(missing), "{}", reply.text());
}

#[test]
fn a_failed_lookup_is_explained_too() {
    let server = TestServer::new(FIXTURE);
    let problem = server
        .lookup(&json!({"key": "broken", "explain": true}))
        .problem(422, "lookup-failed");
    assert!(problem["explanation"].is_object(), "{problem}");
}

#[test]
fn options_alone_can_be_explained() {
    let server = TestServer::new(FIXTURE);
    let reply = server.lookup(&json!({"key": "secret", "explain": "options"}));
    let text = reply.text();
    assert!(
        text.contains("lookup_options") && text.contains("convert_to"),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn text_is_only_for_explanations() {
    let server = TestServer::new(FIXTURE);
    let reply = server.post_accepting("text/plain", r#"{"key":"who"}"#);
    assert_eq!(reply.json()["value"], "anybody");
}

#[test]
fn what_a_client_prefers_decides_between_text_and_json() {
    let server = TestServer::new(FIXTURE);
    for (accept, expected) in [
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/plain", "text/plain; charset=utf-8"),
        (
            "text/plain, application/json;q=0.5",
            "text/plain; charset=utf-8",
        ),
        ("application/json, text/plain", "application/json"),
        // The first type decides, and this one is unknown.
        ("text/html, text/plain;q=0.5, */*;q=0.1", "application/json"),
    ] {
        let reply = server.post_accepting(accept, r#"{"key":"who","explain":true}"#);
        assert_eq!(reply.content_type(), expected, "Accept: {accept}");
    }
}

#[test]
fn a_query_answers_as_a_body_does() {
    let server = TestServer::new(FIXTURE);
    for (path, body) in [
        ("/lookup/who", json!({"key": "who"})),
        (
            "/lookup/who?environment=production&node=web1.example.com",
            json!({"key": "who", "node": "web1.example.com"}),
        ),
        (
            "/lookup/package?facts.os.family=Debian",
            json!({"key": "package", "facts": {"os": {"family": "Debian"}}}),
        ),
        (
            "/lookup/place?variables.site=pdx",
            json!({"key": "place", "variables": {"site": "pdx"}}),
        ),
        (
            "/lookup/who?trusted.certname=web1.example.com",
            json!({"key": "who", "node": "web1.example.com"}),
        ),
        (
            "/lookup/list?merge=unique&node=web1.example.com",
            json!({"key": "list", "merge": "unique", "node": "web1.example.com"}),
        ),
        (
            "/lookup/no?default=d%20%2B+e",
            json!({"key": "no", "default": "d + e"}),
        ),
        (
            "/lookup/list?type=Array",
            json!({"key": "list", "type": "Array"}),
        ),
        (
            "/lookup/who?explain=true",
            json!({"key": "who", "explain": true}),
        ),
        (
            "/lookup/who?explain=options",
            json!({"key": "who", "explain": "options"}),
        ),
        ("/lookup/table.a.deep.1", json!({"key": "table.a.deep.1"})),
        ("/lookup/%27dotted.key%27", json!({"key": "'dotted.key'"})),
        ("/lookup/slash/key", json!({"key": "slash/key"})),
        ("/lookup/slash%2Fkey", json!({"key": "slash/key"})),
        ("/lookup/%C3%BCmlaut", json!({"key": "ümlaut"})),
        ("/lookup/secret", json!({"key": "secret"})),
        ("/lookup/no", json!({"key": "no"})),
        ("/lookup/broken", json!({"key": "broken"})),
        (
            "/lookup/who?environment=nowhere",
            json!({"key": "who", "environment": "nowhere"}),
        ),
    ] {
        let (by_query, by_body) = (server.get(path), server.lookup(&body));
        assert_eq!(
            by_query.status,
            by_body.status,
            "{path}: {}",
            by_query.text()
        );
        assert_eq!(by_query.text(), by_body.text(), "{path}");
    }
}

#[test]
fn a_query_answers_text_too() {
    let server = TestServer::new(FIXTURE);
    let reply = server.get_text("/lookup/who?explain=true");
    assert_eq!(
        (reply.status, reply.content_type()),
        (200, "text/plain; charset=utf-8")
    );
    assert!(
        reply.text().starts_with("Searching for"),
        "{}",
        reply.text()
    );
}

#[test]
fn environments_are_apart() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        server.value(&json!({"key": "who", "environment": "staging"})),
        r#""staging""#
    );
    let reply = server.lookup(&json!({"key": "package", "environment": "staging"}));
    reply.problem(404, "key-not-found");
}

#[test]
fn a_body_without_a_content_type_is_taken_for_json() {
    let server = TestServer::new(FIXTURE);
    let request = Request::post("/lookup")
        .body(Body::from(r#"{"key":"who"}"#))
        .unwrap();
    assert_eq!(server.send(request).json()["value"], "anybody");
    let request =
        Request::post("/lookup").header(header::CONTENT_TYPE, "application/json; charset=utf-8");
    let reply = server.send(request.body(Body::from(r#"{"key":"who"}"#)).unwrap());
    assert_eq!(reply.json()["value"], "anybody");
}

#[test]
fn a_snapshot_is_not_changed_by_what_happens_on_disk() {
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
