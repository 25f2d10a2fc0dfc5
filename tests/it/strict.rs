//! The setting `strict`: what fails as in Puppet 8, and what passes as in Puppet 7.

use serde_json::{Value, json};

use crate::encrypted::filled;
use crate::support::{TestServer, Tree, hierad, printed};

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: list
    path: "%{facts.odd}.yaml"
  - name: paths
    paths: ["%{nosuch}.yaml", "%{::nosuch}/x.yaml"]
  - name: globs
    glob: "%{nosuch}/*.yaml"
  - name: mapped
    mapped_paths: [nosuch, item, "%{item}%{other}.yaml"]
  - name: common
    path: common.yaml
//- /data/list.yaml
[a, b]
//- /data/text.yaml
just a text
//- /data/number.yaml
12
//- /data/yes.yaml
true
//- /data/false.yaml
false
//- /data/null.yaml
~
//- /data/empty.yaml
# nothing
//- /data/common.yaml
plain: 1
simple: "<%{nosuch}>"
top: "<%{::nosuch}>"
function: "<%{scope('nosuch')}>"
dug: "<%{nosuch.member}>"
namespaced: "<%{some::nosuch}>"
in_a_key: {"%{nosuch}": 1}
nested: "<%{lookup('simple')}>"
aliased: "%{alias('simple')}"
own: "%{::caller_module_name}"
fact_member: "<%{facts.nosuch}>"
deep_member: "<%{facts.nosuch.deeper}>"
trusted_member: "<%{trusted.extensions.nosuch}>"
list_member: "<%{list.7}>"
empty: "<%{nothing}>"
module_name: "<%{module_name}%{::module_name}%{caller_module_name}>"
matched: "<%{'0'}%{'12'}>"
nothing_at_all: "<%{}%{::}>"
"#;

/// Keys whose lookup fails, with the variable that is to blame.
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

fn request(key: &str) -> Value {
    json!({"key": key, "facts": {"list": [1], "nothing": null}})
}

fn strict() -> TestServer {
    TestServer::new(FIXTURE)
}

fn lenient() -> TestServer {
    TestServer::with_settings(FIXTURE, "strict: warning\n")
}

/// The lookup fails; what it says.
#[track_caller]
fn failure(server: &TestServer, request: &Value) -> String {
    let detail = server.lookup(request).detail(422, "lookup-failed");
    detail.replace(&server.tree.root().display().to_string(), "<ROOT>")
}

#[test]
fn an_undefined_variable_in_data_fails_the_lookup_and_is_named() {
    let server = strict();
    for (key, variable) in UNDEFINED {
        let detail = failure(&server, &request(key));
        let file = "<ROOT>/code/environments/production/data/common.yaml";
        let expected = format!("of `{file}`: undefined variable `{variable}`");
        assert!(detail.contains(&expected), "{key}: {detail}");
        // A default is for what is not found.
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
fn as_in_puppet_7_an_undefined_variable_is_empty() {
    for level in ["warning", "off"] {
        let server = TestServer::with_settings(FIXTURE, &format!("strict: {level}\n"));
        assert_eq!(server.value(&request("simple")), r#""<>""#);
        assert_eq!(server.value(&request("nested")), r#""<<>>""#);
        assert_eq!(server.value(&request("in_a_key")), r#"{"":1}"#);
    }
}

#[test]
fn a_member_that_a_known_variable_lacks_is_empty() {
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
fn values_of_the_request_stand_for_variables() {
    let server = strict();
    for field in ["default_values", "override", "variables", "facts"] {
        let request = json!({"key": "simple", field: {"nosuch": "x"}});
        assert_eq!(server.value(&request), r#""<x>""#, "{field}");
    }
    let null = json!({"key": "simple", "default_values": {"nosuch": null}});
    assert_eq!(server.value(&null), r#""<>""#);
}

#[test]
fn values_of_the_request_do_not_reach_lookup_options() {
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
fn locations_of_version_5_may_have_undefined_variables() {
    let server = strict();
    assert_eq!(server.value(&request("plain")), "1");
    let explained = json!({"key": "plain", "explain": true});
    assert_eq!(server.value(&explained), "1");
}

/// What a configuration with an undefined variable fails with, explained and not.
#[track_caller]
fn check_configuration(files: &str, facts: &Value, expected: &str, told: &str) {
    let request = json!({"key": "k", "facts": facts, "default_values": {"nosuch": "x"}});
    let server = TestServer::new(files);
    assert_eq!(failure(&server, &request), expected);
    let explained = json!({"key": "k", "facts": facts, "explain": true});
    let text = server.post_accepting("text/plain", explained.to_string());
    let root = server.tree.root().display().to_string();
    let text = text.text().replace(&root, "<ROOT>");
    assert_eq!(text.lines().last(), Some(told), "{text}");
    let lenient = TestServer::with_settings(files, "strict: warning\n");
    assert_eq!(lenient.lookup(&request).status, 404);
}

#[test]
fn the_rest_of_a_configuration_may_not() {
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

#[test]
fn a_data_file_that_is_not_a_hash_fails_the_lookups_that_reach_it() {
    let (strict, lenient) = (strict(), lenient());
    for odd in ["list", "text", "number", "yes"] {
        let request = json!({"key": "plain", "facts": {"odd": odd}});
        let detail = failure(&strict, &request);
        let file = format!("<ROOT>/code/environments/production/data/{odd}.yaml");
        assert!(detail.contains(&file), "{detail}");
        assert!(detail.contains("where a hash is expected"), "{detail}");
        let explained = json!({"key": "plain", "facts": {"odd": odd}, "explain": true});
        let text = strict.post_accepting("text/plain", explained.to_string());
        let root = strict.tree.root().display().to_string();
        let text = text.text().replace(&root, "<ROOT>");
        let told = format!("{file}: file does not contain a valid yaml hash");
        assert_eq!(text.lines().last(), Some(told.as_str()), "{text}");
        assert_eq!(lenient.value(&request), "1", "{odd}");
    }
    for odd in ["false", "null", "empty", "missing"] {
        let request = json!({"key": "plain", "facts": {"odd": odd}});
        assert_eq!(strict.value(&request), "1", "{odd}");
    }
}

#[test]
fn a_decrypted_text_is_not_quoted_by_the_error() {
    let fixture = filled(
        r#"
//- /hiera.yaml
version: 5
hierarchy: [{name: s, lookup_key: eyaml_lookup_key, path: s.eyaml, options: <KEYS>}]
//- /data/s.eyaml
secret: <undefined>
"#,
    );
    let server = TestServer::new(&fixture);
    let detail = failure(&server, &json!({"key": "secret"}));
    assert!(detail.contains("not shown"), "{detail}");
    assert!(!detail.contains("tail_of_a_password"), "{detail}");
}

/// Trees with something that Puppet 7 passes over, and where that is.
const PASSED_OVER: [(&str, &str); 4] = [
    ("//- /hiera.yaml\n:hierarchy: [a]\n", "/hiera.yaml"),
    ("//- /hiera.yaml\n# empty\n", "/hiera.yaml"),
    (
        "//- /modules/m/hiera.yaml\nversion: 3\n",
        "/modules/m/hiera.yaml",
    ),
    (
        "//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\n[1]\n",
        "/data/common.yaml",
    ),
];

#[test]
fn what_fails_lookups_is_a_fault_and_what_does_not_is_a_notice() {
    for (fixture, path) in PASSED_OVER {
        let tree = Tree::new(fixture);
        let place = format!("{}:1:1: ", tree.path(path).display());
        for (arguments, code, is_notice) in [
            (&[][..], 1, false),
            (&["--strict", "error"], 1, false),
            (&["--strict", "warning"], 0, true),
            (&["--strict=off"], 0, true),
        ] {
            let output = tree.hierad("check").args(arguments).output().unwrap();
            let (stdout, stderr) = printed(&output);
            let found = stdout.lines().find(|line| line.starts_with(&place));
            let found = found.unwrap_or_else(|| panic!("{path}: {stdout}{stderr}"));
            assert_eq!(found.ends_with("(notice)"), is_notice, "{stdout}");
            assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
        }
        let states = ["error", "warning"].map(|level| {
            let server = TestServer::with_settings(fixture, &format!("strict: {level}\n"));
            let shown = server.get("/environments/production").json();
            let key = json!({"key": "m::k"});
            (shown["state"].clone(), server.lookup(&key).status)
        });
        assert_eq!(
            states,
            [(json!("faulty"), 422), (json!("ok"), 404)],
            "{path}"
        );
    }
}

#[test]
fn the_command_line_obeys_flag_variable_and_file_in_this_order() {
    let tree = Tree::new(FIXTURE);
    tree.write("R/warning.yaml", "strict: warning\n");
    let lookup = |arguments: &[&str], variable: Option<&str>| {
        let mut command = tree.hierad("lookup");
        command.args(["simple", "--render-as", "s"]).args(arguments);
        if let Some(level) = variable {
            command.env("HIERAD_STRICT", level);
        }
        let output = command.output().unwrap();
        (output.status.code(), printed(&output))
    };
    let file = tree.path("R/warning.yaml").display().to_string();
    let with_file = ["--config", &file];
    let passes = |result: (Option<i32>, (String, String))| {
        assert_eq!(result, (Some(0), ("<>\n".to_owned(), String::new())));
    };
    let fails = |(code, (stdout, stderr)): (Option<i32>, (String, String))| {
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        assert!(stderr.contains("undefined variable `nosuch`"), "{stderr}");
    };
    fails(lookup(&[], None));
    passes(lookup(&with_file, None));
    fails(lookup(&with_file, Some("error")));
    passes(lookup(&[], Some("off")));
    passes(lookup(&["--strict", "warning"], Some("error")));
    fails(lookup(&["--strict", "error", "--config", &file], None));
}

#[test]
fn another_level_is_refused_by_name() {
    let tree = Tree::empty();
    tree.write("R/wrong.yaml", "strict: loud\n");
    let file = tree.path("R/wrong.yaml").display().to_string();
    for (arguments, code) in [(["--strict", "loud"], 2), (["--config", &file], 1)] {
        let output = hierad().args(["check"]).args(arguments).output().unwrap();
        let (stdout, stderr) = printed(&output);
        assert!(stderr.contains("loud"), "{stdout}{stderr}");
        assert!(stderr.contains("warning"), "{stdout}{stderr}");
        assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    }
}
