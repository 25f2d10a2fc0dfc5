//! Bodies, keys, types, patterns and facts that are too large or too expensive.

use std::fmt::Write;

use serde_json::json;

use super::lookups::doubling;
use super::{Hostile, tree, tree_of};
use crate::support::process::wait_for;

#[test]
fn a_body_of_a_hundred_thousand_levels_is_refused() {
    let hostile = Hostile::new(tree());
    for body in [
        "[".repeat(100_000),
        format!(r#"{{"key":"k","facts":{}"#, r#"{"a":"#.repeat(100_000)),
        format!(
            r#"{{"key":"k","default":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
    ] {
        let answer = hostile.ask(body.as_bytes());
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
}

#[test]
fn a_body_that_is_not_utf_8_is_refused() {
    let hostile = Hostile::new(tree());
    for body in [
        &b"{\"key\":\"\xff\"}"[..],
        b"\xff\xfe{}",
        b"{\"key\":\"k\",\"facts\":{\"a\":\"\xc3\x28\"}}",
        b"\0",
    ] {
        let answer = hostile.ask(body);
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
}

#[test]
fn keys_of_a_megabyte_are_answered() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: 1\n"));
    for key in [
        "k".repeat(1_000_000),
        "k.".repeat(499_999) + "k",
        "'".repeat(999_999),
        ":".repeat(1_000_000),
    ] {
        hostile.survives(&json!({ "key": key }));
    }
    let path = "k".repeat(1_000_000);
    let answer = hostile.server.get(&format!("/lookup/{path}"));
    assert!(
        matches!(answer.status, 400..=499),
        "{} {}",
        answer.status,
        answer.head
    );
    hostile.check_good();
}

#[test]
fn types_of_a_megabyte_are_answered() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: 1\n"));
    for value_type in [
        "Array[".repeat(150_000),
        format!("{}Any{}", "Array[".repeat(100_000), "]".repeat(100_000)),
        "[".repeat(900_000),
        "-".repeat(900_000),
        format!("Integer[{}]", "9".repeat(900_000)),
        format!("Variant[{}Any]", "Integer, ".repeat(100_000)),
        format!("Pattern[/{}/]", "(a*)*".repeat(100_000)),
        format!("Regexp[/{}/]", "(".repeat(500_000)),
    ] {
        hostile.survives(&json!({"key": "k", "type": value_type}));
    }
}

#[test]
fn types_in_lookup_options_are_bounded() {
    let nested = format!("{}Any{}", "Array[".repeat(100_000), "]".repeat(100_000));
    let content = format!("lookup_options: {{k: {{convert_to: '{nested}'}}}}\nk: 1\n");
    Hostile::new(tree_of("common.yaml", content)).survives(&json!({"key": "k"}));
}

#[test]
fn conversions_do_not_exhaust_memory() {
    for conversion in [
        "[String, '%2000000000d']",
        "[String, '%.2000000000d']",
        "[String, '%-9999999999999999999s']",
        "[Integer, 99999999999999999999]",
    ] {
        let content = format!("lookup_options: {{k: {{convert_to: {conversion}}}}}\nk: 5\n");
        Hostile::new(tree_of("common.yaml", content)).survives(&json!({"key": "k"}));
    }
}

#[test]
fn numbers_of_a_megabyte_are_answered() {
    let digits = "7".repeat(900_000);
    let hostile = Hostile::new(tree_of(
        "common.yaml",
        format!("k: {digits}\nf: 1e{digits}\n"),
    ));
    hostile.survives(&json!({"key": "k"}));
    hostile.survives(&json!({"key": "f"}));
    let answer = hostile.ask(format!(r#"{{"key":"no","default":{digits}}}"#).as_bytes());
    assert!(
        matches!(answer.status, 200 | 400..=499),
        "{}",
        answer.status
    );
    let facts = format!(r#"{{"key":"k","facts":{{"a":{digits}}}}}"#);
    hostile.ask(facts.as_bytes());
}

#[test]
fn backtracking_patterns_are_bounded() {
    let content = r#"
lookup_options:
  '^(a+)+b\1$': {merge: unique}
  '^(a*)*(a*)*(a*)*b$': {merge: unique}
k: 1
"#;
    let hostile = Hostile::new(tree_of("common.yaml", content));
    hostile.survives(&json!({"key": "a".repeat(5_000)}));
    hostile.survives(&json!({"key": "a".repeat(40)}));
}

#[test]
fn expensive_globs_are_bounded() {
    for pattern in [
        "{a,b}".repeat(40),
        "{".repeat(10_000),
        "*a".repeat(50) + "b",
        "**/".repeat(200) + "*.yaml",
        "[".repeat(10_000),
    ] {
        let tree = tree_of("common.yaml", "k: 1\n");
        let levels = format!(
            "version: 5\nhierarchy:\n  - {{name: g, glob: '{pattern}'}}\n  - {{name: c, path: common.yaml}}\n"
        );
        tree.write("/hiera.yaml", levels);
        tree.write(&format!("/data/{}", "a".repeat(200)), "k: 2\n");
        let hostile = Hostile::new(tree);
        hostile.survives(&json!({"key": "k"}));
    }
}

#[test]
fn facts_cannot_multiply_the_files_of_a_lookup() {
    let tree = tree_of("common.yaml", "k: 1\n");
    let levels = r#"version: 5
hierarchy:
  - {name: m, mapped_paths: [roles, role, "%{role}.yaml"]}
  - {name: g, glob: "%{pattern}"}
  - {name: c, path: common.yaml}
"#;
    tree.write("/hiera.yaml", levels);
    let hostile = Hostile::new(tree);
    let roles: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    hostile.survives(&json!({"key": "k", "facts": {"roles": roles}}));
    hostile.survives(&json!({"key": "k", "facts": {"pattern": "{a,b}".repeat(40)}}));
    hostile.survives(&json!({"key": "k", "facts": {"pattern": "*".repeat(500_000)}}));
    hostile.survives(&json!({"key": "k", "facts": {"pattern": "../../../../../../**/*"}}));
    let names: Vec<String> = (0..1_000).map(|number| format!("k{number}")).collect();
    let roles: Vec<String> = (0..50_000).map(|number| number.to_string()).collect();
    hostile.survives(&json!({"keys": names, "facts": {"roles": roles}}));
}

#[test]
fn strings_full_of_tokens_are_bounded() {
    let content = format!(
        "open: '{}'\ntokens: '{}'\nnested: '{}'\n",
        "%{".repeat(100_000),
        "%{x}".repeat(100_000),
        "%{lookup(\"".repeat(50_000)
    );
    let hostile = Hostile::new(tree_of("common.yaml", content));
    for key in ["open", "tokens", "nested"] {
        hostile.survives(&json!({ "key": key, "facts": {"x": "y"} }));
    }
    // Almost a megabyte, a hundred thousand times.
    hostile.survives(&json!({"key": "tokens", "facts": {"x": "y".repeat(900_000)}}));
}

#[test]
fn queries_with_thousands_of_parameters_are_answered() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: 1\n"));
    let mut query = "/lookup/k?a=b".to_owned();
    for number in 0..5_000 {
        write!(query, "&facts.{number:x}=").unwrap();
    }
    let deep = format!("/lookup/k?facts.{}x=1", "a.".repeat(20_000));
    for query in [query, deep] {
        let answer = hostile.within_limit(|| hostile.server.get(&query));
        let is_answered = matches!(answer.status, 200 | 400..=499);
        assert!(is_answered, "{} {}", answer.status, answer.head);
    }
    hostile.check_good();
}

#[test]
fn concurrent_hostile_requests_do_not_starve_the_good_environment() {
    let form = r#""%{lookup('LAST')}%{lookup('LAST')}""#;
    let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
    std::thread::scope(|scope| {
        let costly: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| hostile.server.lookup(br#"{"key":"v59"}"#).status))
            .collect();
        assert_eq!(hostile.server.get("/livez").status, 200);
        for request in costly {
            assert!(matches!(request.join().unwrap(), 413 | 422));
        }
    });
    wait_for("the good environment", || {
        let answer = hostile
            .server
            .lookup(br#"{"key":"k","environment":"good"}"#);
        (answer.status == 200).then_some(())
    });
}
