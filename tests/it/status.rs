//! Environments, health, figures and revisions.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};

use crate::support::{TestServer, Tree};

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
defaults: {datadir: hieradata, data_hash: yaml_data}
hierarchy:
  - name: nodes
    path: "nodes/%{trusted.certname}.yaml"
  - name: groups
    globs: ["groups/*.yaml", "more/*.yaml"]
  - name: roles
    mapped_paths: [roles, role, "roles/%{role}.yaml"]
  - name: json
    data_hash: json_data
    paths: [a.json, b.json]
//- /hieradata/nodes/n1.yaml
a: 1
b: 2
//- /hieradata/nodes/n2.yaml
a: 3
//- /hieradata/groups/one.yaml
a: 4
//- /hieradata/a.json
{"j": 1}
//- /modules/ntp/hiera.yaml
version: 5
default_hierarchy: [{name: defaults, path: defaults.yaml}]
//- /modules/ntp/data/common.yaml
ntp::servers: []
//- /modules/bare/metadata.json
{}
//- C/environments/faulty/hiera.yaml
version: 5
//- C/environments/faulty/data/common.yaml
a: [1
//- G/hiera.yaml
version: 5
"#;

#[test]
fn environments_are_listed_with_state_revision_time_files_keys_and_last_fault() {
    let server = TestServer::new(FIXTURE);
    let reply = server.get("/environments");
    let list = reply.json();
    for name in ["production", "faulty"] {
        let environment = &list["environments"][name];
        assert!(environment["revision"].is_string(), "{environment}");
        let time = environment["loaded_at"].as_str().unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    }
    insta::assert_snapshot!(reply.shown(&server));
}

#[test]
fn an_environment_is_shown_with_its_layers_and_hierarchy_as_configured() {
    let server = TestServer::new(FIXTURE);
    insta::assert_snapshot!(server.get("/environments/production").shown(&server));
}

#[test]
fn a_faulty_environment_is_shown_with_the_place_of_its_fault() {
    let server = TestServer::new(FIXTURE);
    let reply = server.get("/environments/faulty");
    let shown = reply.json();
    assert_eq!(shown["state"], "faulty");
    assert_eq!(shown["faults"][0]["line"], 2, "{shown}");
    insta::assert_snapshot!(reply.shown(&server));
}

#[test]
fn faulty_environments_do_not_keep_the_server_from_being_ready() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(server.get("/readyz").status, 200);
    let value = server.value(&json!({"key": "a", "node": "n2"}));
    assert_eq!(value, "3");
}

#[test]
fn a_code_directory_without_environments_is_not_ready() {
    let tree = Tree::empty();
    std::fs::remove_dir_all(tree.path("C/environments")).unwrap();
    let server = TestServer::of(tree, "");
    assert_eq!(
        server.get("/environments").json(),
        json!({"environments": {}})
    );
    let detail = server.get("/readyz").detail(503, "not-loaded");
    assert!(
        detail.contains("/environments/<name>/hiera.yaml"),
        "{detail}"
    );
    // That an environment is unknown could not be said, since none is known.
    server
        .lookup(&json!({"key": "a"}))
        .problem(503, "not-loaded");
    assert_eq!(figures(&server)["hierad_loaded"], 0.0);
}

#[test]
fn health_is_plain() {
    let server = TestServer::new(FIXTURE);
    assert_eq!(
        (server.get("/livez").status, server.get("/readyz").status),
        (200, 200)
    );
    server.app.start_draining();
    assert_eq!(server.get("/livez").status, 200);
    server.get("/readyz").problem(503, "not-loaded");
    assert_eq!(
        server.value(&json!({"key": "a", "node": "n1"})),
        "1",
        "what comes is still answered"
    );
}

#[test]
fn the_description_of_the_interface_is_served() {
    let reply = TestServer::new(FIXTURE).get("/openapi.yaml");
    assert_eq!(
        (reply.status, reply.content_type()),
        (200, "application/yaml")
    );
    assert_eq!(reply.text(), include_str!("../../openapi.yaml"));
}

/// The samples of `/metrics`, each line checked for its form.
fn figures(server: &TestServer) -> BTreeMap<String, f64> {
    let reply = server.get("/metrics");
    assert_eq!(reply.status, 200);
    let text = reply.text();
    let mut samples = BTreeMap::new();
    let mut described: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (word, name) = (words.next().unwrap(), words.next());
            assert!(matches!(word, "HELP" | "TYPE" | "UNIT" | "EOF"), "{line}");
            described.extend(name.map(ToOwned::to_owned));
            continue;
        }
        let (name, value) = line
            .rsplit_once(' ')
            .unwrap_or_else(|| panic!("no value: {line}"));
        let value: f64 = value
            .parse()
            .unwrap_or_else(|_| panic!("no number: {line}"));
        let bare = name.split('{').next().unwrap();
        assert!(bare.starts_with("hierad_"), "{line}");
        assert!(
            bare.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{line}"
        );
        assert!(
            described
                .iter()
                .any(|known| bare.starts_with(known.as_str())),
            "not described: {line}"
        );
        assert!(
            samples.insert(name.to_owned(), value).is_none(),
            "twice: {line}"
        );
    }
    samples
}

#[test]
fn figures_count_requests_and_lookups() {
    let server = TestServer::new(FIXTURE);
    let before = figures(&server);
    server.lookup(&json!({"key": "a", "node": "n1"}));
    server.lookup(&json!({"keys": ["a", "b", "no"], "node": "n1"}));
    server.lookup(&json!({"key": "no"}));
    server.lookup(&json!({"key": "a", "environment": "faulty"}));
    server.post("nonsense");
    let after = figures(&server);
    let grown = |name: &str| after[name] - before[name];
    assert_eq!(grown(r#"hierad_lookups_total{outcome="found"}"#), 3.0);
    assert_eq!(grown(r#"hierad_lookups_total{outcome="not_found"}"#), 2.0);
    assert_eq!(grown(r#"hierad_lookups_total{outcome="failed"}"#), 1.0);
    // Of the first reading itself, and the two good lookups.
    assert_eq!(grown(r#"hierad_http_requests_total{status="2xx"}"#), 3.0);
    assert_eq!(grown(r#"hierad_http_requests_total{status="4xx"}"#), 3.0);
    assert_eq!(grown("hierad_http_request_seconds_count"), 6.0);
    assert_eq!(after["hierad_environments"], 2.0);
    assert_eq!(after["hierad_snapshot_faults"], 1.0);
    assert_eq!(after["hierad_loaded"], 1.0);
}

#[test]
fn the_histogram_of_times_ends_in_a_bucket_without_a_bound() {
    let server = TestServer::new(FIXTURE);
    server.lookup(&json!({"key": "a", "node": "n1"}));
    let figures = figures(&server);
    let bucket =
        |bound: &str| figures[&format!("hierad_http_request_seconds_bucket{{le=\"{bound}\"}}")];
    assert_eq!(bucket("+Inf"), figures["hierad_http_request_seconds_count"]);
    assert!(bucket("5.0") <= bucket("+Inf"));
    let buckets = figures
        .keys()
        .filter(|name| name.contains("_bucket{"))
        .count();
    assert_eq!(buckets, 14, "{figures:?}");
}

#[test]
fn figures_come_as_openmetrics_to_those_who_ask_for_it() {
    let server = TestServer::new(FIXTURE);
    let ask = |accept: &str| {
        let request = Request::get("/metrics").header(header::ACCEPT, accept);
        server.send(request.body(Body::empty()).unwrap())
    };
    let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    let open = ask(prometheus);
    assert_eq!(
        open.content_type(),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    let open = open.text();
    assert!(open.contains("# TYPE hierad_lookups counter\n"), "{open}");
    assert!(open.ends_with("\n# EOF\n"), "{open}");
    let plain = ask("*/*");
    assert_eq!(
        plain.content_type(),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let plain = plain.text();
    for line in [
        "# HELP hierad_lookups_total Keys looked up, by outcome.",
        "# TYPE hierad_lookups_total counter",
        "# TYPE hierad_http_request_seconds histogram",
    ] {
        assert!(plain.lines().any(|known| known == line), "{plain}");
    }
    assert!(!plain.contains("# EOF"), "{plain}");
}

#[test]
fn figures_tell_no_looked_up_values_or_keys() {
    let server = TestServer::new(FIXTURE);
    server.lookup(&json!({"key": "a_key_to_keep", "node": "n1"}));
    assert!(!server.get("/metrics").text().contains("a_key_to_keep"));
}

fn revision(fixture: &str) -> String {
    revision_of(&TestServer::new(fixture))
}

fn revision_of(server: &TestServer) -> String {
    let shown = server.get("/environments/production").json();
    shown["revision"].as_str().unwrap().to_owned()
}

#[test]
fn the_same_tree_at_another_place_has_the_same_revision() {
    assert_eq!(revision(FIXTURE), revision(FIXTURE));
}

#[test]
fn everything_that_can_change_an_answer_changes_the_revision() {
    let before = revision(FIXTURE);
    for (what, old, new) in [
        ("a value", "a: 3", "a: 33"),
        ("the name of a file", "nodes/n2.yaml\na", "nodes/n3.yaml\na"),
        (
            "the hierarchy",
            "globs: [\"groups/*.yaml\"",
            "globs: [\"group/*.yaml\"",
        ),
        (
            "a value in a module",
            "ntp::servers: []",
            "ntp::servers: [x]",
        ),
        (
            "a configuration of a module",
            "/modules/ntp/hiera.yaml\nversion: 5",
            "/modules/ntp/hiera.yaml\nversion: 5\n#",
        ),
        (
            "the global layer",
            "//- G/hiera.yaml\nversion: 5",
            "//- G/hiera.yaml\nversion: 5\nhierarchy: [{name: g}]",
        ),
        (
            "environment.conf",
            "//- G/hiera",
            "//- /environment.conf\nmodulepath = x\n//- G/hiera",
        ),
    ] {
        let changed = FIXTURE.replace(old, new);
        assert_ne!(changed, FIXTURE, "{what}");
        assert_ne!(revision(&changed), before, "{what}");
    }
}

#[test]
fn what_cannot_change_an_answer_does_not_change_the_revision() {
    let before = revision(FIXTURE);
    for fixture in [
        FIXTURE.replace("//- G/hiera", "//- /README.md\nhello\n//- G/hiera"),
        FIXTURE.replace("//- G/hiera", "//- /manifests/site.pp\nhello\n//- G/hiera"),
        FIXTURE.replace("a: [1", "a: [2"), // another environment's
    ] {
        assert_eq!(revision(&fixture), before);
    }
}

#[test]
fn a_revision_does_not_depend_on_times_or_on_the_order_of_writing() {
    let tree = Tree::empty();
    let mut parts: Vec<&str> = FIXTURE.split("//- ").skip(1).collect();
    parts.reverse();
    for part in parts {
        let (path, content) = part.split_once('\n').unwrap();
        tree.write(path, content);
    }
    assert_eq!(revision_of(&TestServer::of(tree, "")), revision(FIXTURE));
}

#[test]
fn answers_carry_the_revision_of_their_environment() {
    let server = TestServer::new(FIXTURE);
    let all = server.get("/environments").json();
    for name in ["production", "faulty"] {
        let body = server
            .lookup(&json!({"keys": ["a"], "environment": name}))
            .json();
        assert_eq!(body["revision"], all["environments"][name]["revision"]);
        let shown: Value = server.get(&format!("/environments/{name}")).json();
        assert_eq!(body["revision"], shown["revision"]);
    }
}
