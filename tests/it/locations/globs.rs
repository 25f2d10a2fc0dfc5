//! Globs, with and without variables.

use serde_json::json;

use super::value_with;
use crate::support::TestServer;

const GLOBS: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: globs
    globs: [plain.yaml, "x/{%{facts.list}}.yaml", "y/%{facts.role}.yaml", "z/[%{facts.class}].yaml"]
//- /data/plain.yaml
plain: 1
//- /data/x/web.yaml
k: web
//- /data/x/db.yaml
k: db
//- /data/y/a.yaml
k: a
//- /data/y/*.yaml
k: star
//- /data/y/{a,b}.yaml
k: braces
//- /data/z/a.yaml
k: class
//- /data/secure/a.yaml
k: secret
"#;

#[test]
fn globs_can_have_no_wildcards_or_variables_in_braces() {
    let server = TestServer::new(GLOBS);
    assert_eq!(server.value(&json!({"key": "plain"})), "1");
    let list = |list: &str| value_with(&server, &json!({"list": list}));
    assert_eq!(list("db"), r#""db""#);
    assert_eq!(list("web,db"), r#""web""#);
    assert_eq!(list("db,web"), r#""db""#);
}

#[test]
fn values_of_variables_are_literal_in_globs() {
    let server = TestServer::new(GLOBS);
    let nothing = "nothing";
    for (fact, value, expected) in [
        ("role", "a", r#""a""#),
        ("role", "*", r#""star""#),
        ("role", "{a,b}", r#""braces""#),
        ("role", "?", nothing),
        ("role", "[a-z]", nothing),
        ("role", "**/../secure/a", nothing),
        ("role", "../secure/a", nothing),
        ("role", r"\.\./secure/a", nothing),
        ("list", "w*", nothing),
        ("list", "{web}", nothing),
        ("list", "../secure/a", nothing),
        ("list", "z,../secure/a", nothing),
        ("list", r"\.\./secure/a", nothing),
        ("class", "a", r#""class""#),
        ("class", "a-z", r#""class""#),
        ("class", "!b", nothing),
        ("class", "^b", nothing),
        ("class", "b-z", nothing),
    ] {
        let reply = server.lookup(&json!({"key": "k", "facts": {fact: value}}));
        let shown = match reply.status {
            200 => reply.json()["value"].to_string(),
            404 => nothing.to_owned(),
            _ => reply.text(),
        };
        assert_eq!(shown, expected, "{fact} = {value}");
    }
}

#[test]
fn too_many_alternatives_fail_the_lookup() {
    let server = TestServer::new(GLOBS);
    let list = vec!["a"; 20_000].join(",");
    let detail = server.failure(&json!({"key": "k", "facts": {"list": list}}));
    assert!(
        detail.contains("more than 10000 alternatives"),
        "{}",
        detail.chars().rev().take(200).collect::<String>()
    );
}
