//! Malformed requests and requests that exceed a limit.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

use super::server;

fn bad(body: &str) -> String {
    server().post(body.to_owned()).detail(400, "bad-request")
}

#[test]
fn a_malformed_body_gets_the_reason() {
    for (body, expected) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("nonsense", "line 1"),
        ("[]", "not a lookup request"),
        (r#"["k"]"#, "not a lookup request"),
        ("5", "expected"),
        ("{}", "`key` is missing"),
        (r#"{"key": null}"#, "`key`"),
        (
            r#"{"key": 5}"#,
            "`key` must be a string or an array of strings",
        ),
        (r#"{"key": []}"#, "at least one key"),
        (
            r#"{"key": [5]}"#,
            "`key` must be a string or an array of strings",
        ),
        (r#"{"keys": []}"#, "at least one key"),
        (r#"{"keys": "k"}"#, "expected an array"),
        (r#"{"key": "k", "keys": ["k"]}"#, "not both"),
        (r#"{"key": "k", "environment": 5}"#, "expected a string"),
        (r#"{"key": "k", "facts": []}"#, "expected an object"),
        (r#"{"key": "k", "facts": "os=x"}"#, "expected an object"),
        (r#"{"key": "k", "trusted": 5}"#, "expected an object"),
        (r#"{"key": "k", "variables": [1]}"#, "expected an object"),
        (r#"{"key": "k", "override": [1]}"#, "expected an object"),
        (r#"{"key": "k", "default_values": 5}"#, "expected an object"),
        (
            r#"{"key": "k", "merge": 5}"#,
            "`merge` must be a string or an object",
        ),
        (r#"{"key": "k", "type": 5}"#, "expected a string"),
        (r#"{"key": "k", "explain": 5}"#, "`explain` must be"),
        (r#"{"key": "k", "explain": "option"}"#, "`explain` must be"),
        (
            r#"{"keys": ["k"], "explain": true}"#,
            "a batch cannot be explained",
        ),
        (r#"{"key": "k", "key": "k"}"#, "duplicate field `key`"),
        (r#"{"key": "k"} {"#, "trailing characters"),
        (r#"{"key": "\ud800"}"#, "hex escape"),
    ] {
        let detail = bad(body);
        assert!(detail.contains(expected), "{body}: {detail}");
    }
}

#[test]
fn an_unknown_field_is_named_together_with_the_known_ones() {
    let detail = bad(r#"{"key": "k", "enviroment": "x"}"#);
    assert!(detail.contains("`enviroment`"), "{detail}");
    assert!(
        detail.contains("`environment`") && detail.contains("`default_values`"),
        "{detail}"
    );
}

#[test]
fn a_body_of_another_content_type_is_refused() {
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/yaml",
        "",
    ] {
        let request = Request::post("/lookup").header(header::CONTENT_TYPE, content_type);
        let reply = server().send(request.body(Body::from(r#"{"key":"k"}"#)).unwrap());
        let detail = reply.detail(415, "unsupported-media-type");
        assert!(detail.contains("application/json"), "{detail}");
    }
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let body = json!({"key": "k", "facts": {"long": "x".repeat(3000)}});
    let detail = server().lookup(&body).detail(413, "body-too-large");
    assert!(detail.contains("2000"), "{detail}");
}

#[test]
fn a_body_of_exactly_the_limit_is_accepted() {
    let head = r#"{"key":"k","node":""#;
    let body = |size: usize| format!("{head}{}\"}}", "x".repeat(size - head.len() - 2));
    assert_eq!(server().post(body(2000)).status, 200);
    server().post(body(2001)).problem(413, "body-too-large");
}

#[test]
fn a_body_that_is_nested_too_deeply_is_refused() {
    assert_eq!(
        server().post(r#"{"key":"k","facts":{"a":[[[1]]]}}"#).status,
        200
    );
    let detail = bad(r#"{"key":"k","facts":{"a":[[[[1]]]]}}"#);
    assert!(detail.contains("nested more than 5 deep"), "{detail}");
    let text = r#"{"key":"k","node":"[[[[[[[[[[\"[[[["}"#;
    assert_eq!(
        server().post(text).status,
        200,
        "brackets in a text do not nest"
    );
}

#[test]
fn too_many_keys_are_refused() {
    for field in ["key", "keys"] {
        assert_eq!(
            server().lookup(&json!({ field: ["k", "k", "k"] })).status,
            200
        );
        let reply = server().lookup(&json!({ field: ["k", "k", "k", "k"] }));
        let detail = reply.detail(400, "bad-request");
        assert!(
            detail.contains("4 keys") && detail.contains('3'),
            "{detail}"
        );
    }
}

#[test]
fn wrong_parameters_of_a_query_are_named() {
    for (path, expected) in [
        ("/lookup/k?enviroment=x", "`enviroment`"),
        ("/lookup/k?facts=x", "`facts`"),
        ("/lookup/k?fact.a=x", "`fact.a`"),
        ("/lookup/k?explain=yes", "`explain`"),
        ("/lookup/k?facts.a=1&facts.a.b=2", "`facts.a.b`"),
        ("/lookup/k?facts.a.b=1&facts.a=2", "`facts.a`"),
    ] {
        let detail = server().get(path).detail(400, "bad-request");
        assert!(detail.contains(expected), "{path}: {detail}");
    }
}

#[test]
fn a_repeated_parameter_of_a_query_is_refused() {
    for (query, name) in [
        ("node=a&node=b", "node"),
        ("node=a&node=a", "node"),
        (
            "environment=production&environment=production",
            "environment",
        ),
        ("merge=first&merge=unique", "merge"),
        ("default=1&default=2", "default"),
        ("type=Any&type=Any", "type"),
        ("explain=true&explain=false", "explain"),
        (
            "facts.os.family=a&facts.os.name=x&facts.os.family=b",
            "facts.os.family",
        ),
        ("trusted.certname=a&trusted.certname=b", "trusted.certname"),
        ("variables.a=1&variables.a=2", "variables.a"),
    ] {
        let detail = server()
            .get(&format!("/lookup/k?{query}"))
            .detail(400, "bad-request");
        assert_eq!(detail, format!("duplicate parameter `{name}`"), "{query}");
    }
}

#[test]
fn a_node_together_with_a_certname_that_is_not_a_string_is_refused() {
    let expected = "`trusted.certname` must be a string where `node` is given";
    for certname in ["5", "null", "true", "[\"n\"]", "{\"a\":\"n\"}"] {
        let trusted = format!(r#""trusted":{{"certname":{certname}}}"#);
        let detail = bad(&format!(r#"{{"key":"k","node":"n",{trusted}}}"#));
        assert_eq!(detail, expected, "{certname}");
        let alone = server().post(format!(r#"{{"key":"k",{trusted}}}"#));
        assert_eq!(alone.status, 200, "{certname}: {}", alone.text());
    }
    let path = "/lookup/k?trusted.certname.a=n&node=n";
    assert_eq!(server().get(path).detail(400, "bad-request"), expected);
    for good in [r#""trusted":{"certname":"m"}"#, r#""trusted":{}"#] {
        let reply = server().post(format!(r#"{{"key":"k","node":"n",{good}}}"#));
        assert_eq!(reply.status, 200, "{good}: {}", reply.text());
    }
}

#[test]
fn a_query_that_cannot_be_decoded_is_a_problem() {
    for path in ["/lookup/%FF", "/lookup/k?node=%FF", "/lookup/k%ZZ"] {
        let reply = server().get(path);
        let is_problem = reply.content_type() == "application/problem+json" || reply.status == 200;
        assert!(
            is_problem && reply.status < 500,
            "{path}: {} {}",
            reply.status,
            reply.text()
        );
    }
}

#[test]
fn an_unknown_merge_or_type_is_a_fault_of_the_request() {
    for request in [
        json!({"key": "k", "merge": "depe"}),
        json!({"key": "k", "merge": {"strategy": "depe"}}),
        json!({"key": "k", "merge": {}}),
        json!({"key": "k", "merge": {"strategy": "deep", "knockout": "--"}}),
        json!({"key": "k", "type": "Strin["}),
    ] {
        let reply = server().lookup(&request);
        let field = if request.get("type").is_some() {
            "`type`"
        } else {
            "`merge`"
        };
        assert!(
            matches!(reply.status, 400 | 422),
            "{request}: {}",
            reply.text()
        );
        assert!(reply.text().contains(field), "{request}: {}", reply.text());
    }
}

#[test]
fn an_unknown_path_is_a_problem() {
    for path in [
        "/",
        "/lookups",
        "/lookup/k/../../x/",
        "/environments/",
        "/livez/x",
    ] {
        let reply = server().get(path);
        assert!(
            reply.status == 404 || path.starts_with("/lookup/"),
            "{path}: {}",
            reply.text()
        );
        if reply.status == 404 {
            assert_eq!(reply.content_type(), "application/problem+json", "{path}");
        }
    }
    server().get("/lookups").problem(404, "not-found");
}

#[test]
fn a_wrong_method_is_a_problem_with_the_allowed_methods() {
    for (method, path, allowed) in [
        ("GET", "/lookup", "POST"),
        ("DELETE", "/lookup", "POST"),
        ("POST", "/lookup/k", "GET"),
        ("PUT", "/environments", "GET"),
        ("POST", "/livez", "GET"),
        ("DELETE", "/environments/production", "GET"),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        let reply = server().send(request);
        reply.problem(405, "method-not-allowed");
        let allow = reply.header(header::ALLOW);
        assert!(allow.contains(allowed), "{method} {path}: Allow: {allow}");
    }
}
