//! Data that makes a lookup recurse, take long, or grow.

use std::fmt::Write;

use serde_json::json;

use super::{Hostile, tree_of};

#[test]
fn recursive_lookups_fail() {
    let content = "
a: \"%{lookup('b')}\"
b: \"%{lookup('c')}\"
c: \"%{lookup('a')}\"
self: \"%{alias('self')}\"
deep: {x: [\"%{lookup('deep.x.0')}\"]}
";
    let hostile = Hostile::new(tree_of("common.yaml", content));
    hostile.fails("a", "[a, b, c]");
    hostile.fails("self", "[self]");
    hostile.fails("deep", "[deep, deep.x.0]");
}

fn chain(length: usize, last: &str) -> String {
    let mut content = format!("k{length}: {last}\n");
    for number in 0..length {
        writeln!(content, "k{number}: \"%{{lookup('k{}')}}\"", number + 1).unwrap();
    }
    content
}

#[test]
fn chains_of_lookups_are_followed_up_to_a_limit() {
    Hostile::new(tree_of("common.yaml", chain(100, "end"))).is("k0", &json!("end"));
    let hostile = Hostile::new(tree_of("common.yaml", chain(10_000, "end")));
    hostile.fails("k0", "nested more than");
    assert_eq!(
        hostile.survives(&json!({"key": "k0", "explain": true})),
        422
    );
    assert_eq!(
        hostile.survives(&json!({"key": "k0", "merge": "deep"})),
        422
    );
    hostile.is("k9950", &json!("end"));
}

#[test]
fn chains_that_nest_the_value_ever_deeper_end() {
    for wrap in ["[[[[[[[[X]]]]]]]]", "{a: {a: {a: {a: X}}}}"] {
        let mut content = "k240: end\n".to_owned();
        for number in 0..240 {
            let alias = format!("\"%{{alias('k{}')}}\"", number + 1);
            writeln!(content, "k{number}: {}", wrap.replace('X', &alias)).unwrap();
        }
        let hostile = Hostile::new(tree_of("common.yaml", content));
        hostile.survives(&json!({"key": "k0"}));
        hostile.survives(&json!({"key": "k0", "merge": "deep", "explain": true}));
        let (code, stderr) = hostile.run(&["lookup", "k0"]);
        assert!(code.is_some(), "{stderr}");
    }
}

pub(super) fn doubling(form: &str) -> String {
    let mut content = "v0: xxxxxxxxxx\n".to_owned();
    for number in 1..60 {
        let last = format!("v{}", number - 1);
        writeln!(content, "v{number}: {}", form.replace("LAST", &last)).unwrap();
    }
    content
}

#[test]
fn strings_that_double_with_every_lookup_are_refused() {
    let form = r#""%{lookup('LAST')}%{lookup('LAST')}""#;
    let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
    hostile.is("v3", &json!("x".repeat(80)));
    hostile.exceeds_budget("v59");
    let merged = hostile.survives(&json!({"key": "v59", "merge": "unique"}));
    assert!(matches!(merged, 413 | 422), "{merged}");
}

#[test]
fn values_that_double_with_every_lookup_are_refused() {
    for form in [
        r#"["%{alias('LAST')}", "%{alias('LAST')}"]"#,
        r#"{a: "%{alias('LAST')}", b: "%{alias('LAST')}"}"#,
    ] {
        let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
        assert_eq!(hostile.survives(&json!({"key": "v59"})), 422);
        assert_eq!(
            hostile.survives(&json!({"key": "v59", "merge": "deep"})),
            422
        );
        let (code, stderr) = hostile.run(&["lookup", "v59"]);
        assert_eq!(code, Some(1), "{stderr}");
    }
}

#[test]
fn an_explanation_of_a_doubling_value_is_bounded() {
    let form = r#""%{lookup('LAST')}%{lookup('LAST')}""#;
    let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
    assert_eq!(
        hostile.survives(&json!({"key": "v59", "explain": true})),
        422
    );
}

#[test]
fn a_batch_of_costly_lookups_is_bounded() {
    let mut content = doubling(r#""%{lookup('LAST')}%{lookup('LAST')}""#);
    for number in 0..1_000 {
        writeln!(content, "b{number}: \"%{{lookup('v30')}}\"").unwrap();
    }
    let hostile = Hostile::new(tree_of("common.yaml", content));
    let keys: Vec<String> = (0..1_000).map(|number| format!("b{number}")).collect();
    hostile.survives(&json!({ "keys": keys }));
}
