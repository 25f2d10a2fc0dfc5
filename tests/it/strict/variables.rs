//! Undefined variables in data and in configurations.

use serde_json::{Value, json};

use super::{FIXTURE, failure, request, strict};
use crate::support::{TestServer, Tree};

/// Keys whose lookup fails, with the undefined variable.
const UNDEFINED: [(&str, &str); 10] = [
    ("simple", "nosuch"),
    ("top", "::nosuch"),
    ("function", "nosuch"),
    ("dug", "nosuch"),
    ("namespaced", "some::nosuch"),
    ("in_a_key", "nosuch"),
    ("nested", "nosuch"),
    ("aliased", "nosuch"),
    ("own", "::caller_module_name"),
    ("simple.member", "nosuch"),
];

/// Checks the error of a lookup, and the last line of its explanation, for a configuration with an undefined variable.
#[track_caller]
fn check_configuration(files: &str, facts: &Value, expected: &str, explained: &str) {
    let request = json!({"key": "k", "facts": facts, "default_values": {"nosuch": "x"}});
    let server = TestServer::new(files);
    assert_eq!(failure(&server, &request), expected);
    let explain = json!({"key": "k", "facts": facts, "explain": true});
    let text = server.post_accepting("text/plain", explain.to_string());
    let text = server.tree.shown(&text.text());
    assert_eq!(text.lines().last(), Some(explained), "{text}");
    let lenient = TestServer::with_settings(files, "strict: warning\n");
    assert_eq!(lenient.lookup(&request).status, 404);
}

#[test]
fn an_undefined_variable_in_data_fails_the_lookup_and_is_named() {
    let server = strict();
    for (key, variable) in UNDEFINED {
        let detail = failure(&server, &request(key));
        let file = "<ROOT>/code/environments/production/data/common.yaml";
        let expected = format!("of `{file}`: undefined variable `{variable}`");
        assert!(detail.contains(&expected), "{key}: {detail}");
        // Defaults are for keys that are not found.
        let with_default = json!({"key": key, "default": 1, "default_values": {key: 1}});
        failure(&server, &with_default);
        let explained = json!({"key": key, "explain": true});
        assert!(failure(&server, &explained).contains(&expected), "{key}");
    }
    let batch = json!({"keys": ["plain", "simple"]});
    let results = &server.lookup(&batch).json()["results"];
    assert_eq!(results["plain"]["value"], 1);
    assert!(results["simple"]["error"].is_object(), "{results}");
}

#[test]
fn a_long_chain_to_a_fault_without_a_data_file_is_followed_once() {
    let mut fixture = String::from(
        "//- /hiera.yaml\nversion: 5\n//- /modules/m/hiera.yaml\nversion: 5\n\
         hierarchy: [{name: a, path: \"%{lookup('x')}.yaml\"}]\n//- /data/common.yaml\nk0: \"%{lookup('m::x')}\"\n",
    );
    for number in 1..60 {
        fixture += &format!("k{number}: \"%{{lookup('k{}')}}\"\n", number - 1);
    }
    let server = TestServer::new(&fixture);
    let detail = failure(&server, &json!({"key": "k59"}));
    assert!(detail.contains("not allowed in hiera.yaml"), "{detail}");
}

#[test]
fn with_warning_or_off_an_undefined_variable_is_empty() {
    for level in ["warning", "off"] {
        let server = TestServer::with_settings(FIXTURE, &format!("strict: {level}\n"));
        assert_eq!(server.value(&request("simple")), r#""<>""#);
        assert_eq!(server.value(&request("nested")), r#""<<>>""#);
        assert_eq!(server.value(&request("in_a_key")), r#"{"":1}"#);
    }
}

#[test]
fn a_missing_member_of_a_known_variable_is_empty() {
    let server = strict();
    for key in [
        "fact_member",
        "deep_member",
        "trusted_member",
        "list_member",
        "empty",
        "module_name",
        "matched",
        "nothing_at_all",
    ] {
        assert_eq!(server.value(&request(key)), r#""<>""#, "{key}");
        let explained =
            json!({"key": key, "facts": {"list": [1], "nothing": null}, "explain": true});
        assert_eq!(server.value(&explained), r#""<>""#, "{key}");
    }
}

#[test]
fn values_in_the_request_define_variables() {
    let server = strict();
    for field in ["default_values", "override", "variables", "facts"] {
        let request = json!({"key": "simple", field: {"nosuch": "x"}});
        assert_eq!(server.value(&request), r#""<x>""#, "{field}");
    }
    let null = json!({"key": "simple", "default_values": {"nosuch": null}});
    assert_eq!(server.value(&null), r#""<>""#);
}

#[test]
fn values_in_the_request_do_not_define_variables_in_lookup_options() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy: [{name: a, path: a.yaml}, {name: b, path: b.yaml}]
//- /data/a.yaml
k: [1]
//- /data/b.yaml
k: [2]
lookup_options: {k: {merge: "%{strategy}"}}
"#;
    let server = TestServer::new(fixture);
    for field in ["default_values", "override"] {
        let detail = failure(&server, &json!({"key": "k", field: {"strategy": "unique"}}));
        assert!(detail.contains("undefined variable `strategy`"), "{detail}");
    }
    let found = json!({"key": "k", "facts": {"strategy": "unique"}});
    assert_eq!(server.value(&found), "[1,2]");
}

#[test]
fn locations_in_version_5_can_have_undefined_variables() {
    let server = strict();
    assert_eq!(server.value(&request("plain")), "1");
    let explained = json!({"key": "plain", "explain": true});
    assert_eq!(server.value(&explained), "1");
}

#[test]
fn other_parts_of_a_configuration_cannot_have_undefined_variables() {
    let config = "<ROOT>/code/environments/production/hiera.yaml";
    check_configuration(
        "//- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: a, path: a.yaml, datadir: 'd/%{nosuch}'}\n",
        &json!({}),
        &format!("`{config}`:3: undefined variable `nosuch`"),
        &format!("Undefined variable 'nosuch' (file: {config}, line: 3)"),
    );
    check_configuration(
        "//- /hiera.yaml\nversion: 5\ndefaults: {data_hash: yaml_data, datadir: '%{facts.a}/%{nosuch.b}'}\n",
        &json!({}),
        &format!("`{config}`: undefined variable `nosuch`"),
        &format!("Undefined variable 'nosuch' (file: {config})"),
    );
    check_configuration(
        "//- /hiera.yaml\nversion: 5\nhierarchy:\n- name: a\n  path: a.eyaml\n  lookup_key: eyaml_lookup_key\n  options: {pkcs7_private_key: '/k/%{::nosuch}', pkcs7_public_key: /k/p}\n",
        &json!({}),
        &format!("`{config}`:6: undefined variable `::nosuch`"),
        &format!("Undefined variable '::nosuch' (file: {config}, line: 6)"),
    );
    check_configuration(
        "//- /hiera.yaml\nversion: 4\nhierarchy:\n- {name: a, backend: yaml, path: 'a/%{nosuch}'}\n",
        &json!({}),
        &format!("`{config}`:3: undefined variable `nosuch`"),
        &format!("Undefined variable 'nosuch' (file: {config}, line: 3)"),
    );
    check_configuration(
        "//- G/hiera.yaml\n:hierarchy:\n- '%{role}'\n- common/%{nosuch}\n",
        &json!({"role": "r"}),
        "`<ROOT>/global/hiera.yaml`:3: undefined variable `nosuch`",
        "Undefined variable 'nosuch' (file: <ROOT>/global/hiera.yaml, line: 3)",
    );
}

#[test]
fn data_of_version_3_has_the_variables_of_hiera_3() {
    let fixture = r#"
//- G/hiera.yaml
:yaml:
  :datadir: "<DATA>"
:hierarchy: ["%{calling_module}/x", common]
//- G/data/common.yaml
calling: "<%{calling_class}%{calling_class_path}%{calling_module}>"
top: "<%{::calling_class}>"
defaulted: "<%{nosuch}>"
elsewhere: "%{lookup('inner')}"
//- /hiera.yaml
version: 5
//- /data/common.yaml
inner: "<%{calling_class}>"
"#;
    let tree = Tree::new(fixture);
    let data = tree.path("G/data").display().to_string();
    let config = std::fs::read_to_string(tree.path("G/hiera.yaml")).unwrap();
    tree.write("G/hiera.yaml", config.replace("<DATA>", &data));
    let server = TestServer::of(tree, "");
    assert_eq!(server.value(&json!({"key": "calling"})), r#""<>""#);
    for (key, name) in [
        ("top", "::calling_class"),
        ("inner", "calling_class"),
        ("elsewhere", "calling_class"),
        ("defaulted", "nosuch"),
    ] {
        let request = json!({"key": key, "default_values": {"nosuch": 1}});
        let detail = failure(&server, &request);
        assert!(detail.contains(&format!("`{name}`")), "{key}: {detail}");
    }
}
