use puppet_values::Value;

use super::*;
use crate::scope::Node;

const HIERARCHY: &str = r#"
version: 5
hierarchy:
  - {name: nodes, path: "nodes/%{trusted.certname}.yaml"}
  - {name: groups, glob: "groups/*.yaml"}
  - {name: secrets, path: secrets.eyaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /k, pkcs7_public_key: /p}}
  - {name: numbers, path: numbers.json, data_hash: json_data}
  - {name: common, path: common.yaml}
"#;

fn builder<'a>() -> EnvironmentBuilder<'a> {
    Environment::builder()
        .hiera_yaml(HIERARCHY)
        .file(
            "data/common.yaml",
            "{b: 2, lookup_options: {list: {merge: unique}}, list: [c]}",
        )
        .file("data/nodes/thrush.example.com.yaml", "list: [n]")
        .file("data/groups/ops.yaml", "list: [g]")
        .file("data/numbers.json", r#"{"one": 1}"#)
        .file("data/secrets.eyaml", "password: ENC[PKCS7,xyz]")
}

fn value(environment: &Environment, key: &str) -> String {
    let node = Node::new("production").certname("thrush.example.com");
    match environment.lookup(key, &node) {
        Ok(Outcome::Found(value)) => puppet_types::convert::stringify(&value),
        Ok(Outcome::NotFound) => "not found".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_are_found_by_paths_and_globs_whatever_order_they_came_in() {
    let environment = builder().build();
    assert_eq!(value(&environment, "list"), "['n', 'g', 'c']");
    assert_eq!(value(&environment, "one"), "1");
    assert_eq!(value(&environment, "nothing"), "not found");
    assert_eq!(environment.faults(), []);
}

#[test]
fn encrypted_values_need_a_function_that_decrypts() {
    assert!(value(&builder().build(), "password").contains("there are no keys"));
    let decrypt = |text: &str| Ok(text.replace("ENC[PKCS7,xyz]", "s3cret"));
    let environment = builder().decrypt_with(&decrypt).build();
    assert_eq!(value(&environment, "password"), "s3cret");
}

#[test]
fn a_broken_file_is_a_fault_with_a_position_and_fails_the_lookups_that_reach_it() {
    let environment = builder().file("data/common.yaml", "a: [1").build();
    let faults = environment.faults();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].path, "/production/data/common.yaml");
    assert!(faults[0].position.is_some());
    assert!(value(&environment, "b").contains("common.yaml"));
}

#[test]
fn modules_and_the_global_layer_have_hierarchies_of_their_own() {
    let one_file = "{version: 5, hierarchy: [{name: all, path: all.yaml}]}";
    let environment = builder()
        .module("ntp", one_file)
        .file("modules/ntp/data/all.yaml", "ntp::server: module")
        .global("/etc/hiera/hiera.yaml", one_file)
        .file("/etc/hiera/data/all.yaml", "b: global")
        .build();
    assert_eq!(value(&environment, "ntp::server"), "module");
    assert_eq!(value(&environment, "b"), "global");
}

#[test]
fn an_environment_without_a_hierarchy_has_the_default_one() {
    let environment = Environment::builder()
        .file("data/common.yaml", "a: '%{environment}'")
        .build();
    assert_eq!(value(&environment, "a"), "production");
    let explanation = environment.explain("a", &Node::new("production"));
    assert!(
        explanation
            .to_string()
            .contains("/production/data/common.yaml")
    );
    let outcome = environment.lookup("a", &Node::new("x")).unwrap();
    assert_eq!(outcome, Outcome::Found(Value::str("x")));
}
