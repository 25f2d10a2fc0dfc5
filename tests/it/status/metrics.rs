//! `/metrics`: what is counted, and in which formats.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

use super::FIXTURE;
use crate::support::TestServer;

/// The samples of `/metrics`. Checks the syntax of each line.
pub(super) fn samples(server: &TestServer) -> BTreeMap<String, f64> {
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
fn metrics_count_requests_and_lookups() {
    let server = TestServer::new(FIXTURE);
    let before = samples(&server);
    server.lookup(&json!({"key": "a", "node": "n1"}));
    server.lookup(&json!({"keys": ["a", "b", "no"], "node": "n1"}));
    server.lookup(&json!({"key": "no"}));
    server.lookup(&json!({"key": "a", "environment": "faulty"}));
    server.post("nonsense");
    let after = samples(&server);
    let grown = |name: &str| after[name] - before[name];
    assert_eq!(grown(r#"hierad_lookups_total{outcome="found"}"#), 3.0);
    assert_eq!(grown(r#"hierad_lookups_total{outcome="not_found"}"#), 2.0);
    assert_eq!(grown(r#"hierad_lookups_total{outcome="failed"}"#), 1.0);
    // The first request for /metrics, and two successful lookups.
    assert_eq!(grown(r#"hierad_http_requests_total{status="2xx"}"#), 3.0);
    assert_eq!(grown(r#"hierad_http_requests_total{status="4xx"}"#), 3.0);
    assert_eq!(grown("hierad_http_request_seconds_count"), 6.0);
    assert_eq!(after["hierad_environments"], 2.0);
    assert_eq!(after["hierad_snapshot_faults"], 1.0);
    assert_eq!(after["hierad_loaded"], 1.0);
}

#[test]
fn the_histogram_of_durations_ends_with_an_infinite_bucket() {
    let server = TestServer::new(FIXTURE);
    server.lookup(&json!({"key": "a", "node": "n1"}));
    let samples = samples(&server);
    let bucket =
        |bound: &str| samples[&format!("hierad_http_request_seconds_bucket{{le=\"{bound}\"}}")];
    assert_eq!(bucket("+Inf"), samples["hierad_http_request_seconds_count"]);
    assert!(bucket("5.0") <= bucket("+Inf"));
    let buckets = samples
        .keys()
        .filter(|name| name.contains("_bucket{"))
        .count();
    assert_eq!(buckets, 14, "{samples:?}");
}

#[test]
fn metrics_are_served_as_openmetrics_on_request() {
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
fn metrics_contain_no_looked_up_values_or_keys() {
    let server = TestServer::new(FIXTURE);
    server.lookup(&json!({"key": "a_key_to_keep", "node": "n1"}));
    assert!(!server.get("/metrics").text().contains("a_key_to_keep"));
}

#[test]
fn every_metric_and_every_label_of_refusals_is_documented() {
    const PAGE: &str = include_str!("../../../docs/operators.md");
    let server = TestServer::new(FIXTURE);
    let text = server.get("/metrics").text();
    let names = text.lines().filter_map(|line| {
        let described = line.strip_prefix("# TYPE ")?;
        described.split(' ').next()
    });
    for name in names {
        assert!(
            PAGE.contains(&format!("| `{name}` |")),
            "{name} is not in docs/operators.md"
        );
    }
    let mut rows = PAGE.lines();
    let row = rows.find(|line| line.starts_with("| `hierad_refused_total` |"));
    let labels = row.unwrap().split('|').nth(2).unwrap();
    let reasons = labels.split('`').skip(3).step_by(2);
    let documented: BTreeSet<String> = reasons
        .map(|reason| format!("hierad_refused_total{{reason=\"{reason}\"}}"))
        .collect();
    let counted: BTreeSet<String> = samples(&server)
        .into_keys()
        .filter(|name| name.starts_with("hierad_refused_total"))
        .collect();
    assert_eq!(documented, counted);
}
