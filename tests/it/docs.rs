//! The page `/docs` and the description that it shows.

mod browser;
mod page;

use serde_json::Value;

use crate::support::TestServer;

#[test]
fn the_page_loads_nothing_from_other_hosts() {
    let server = TestServer::new("");
    for (path, kind) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/docs.css", "text/css; charset=utf-8"),
        ("/docs/docs.js", "text/javascript; charset=utf-8"),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.content_type(), kind);
        let policy = reply.header(axum::http::header::CONTENT_SECURITY_POLICY);
        assert_eq!(policy, "default-src 'self'", "{path}");
        assert!(!reply.text().contains("://"), "{path}");
    }
}

#[test]
fn openapi_json_has_the_content_of_openapi_yaml() {
    let server = TestServer::new("");
    let yaml: Value = serde_yaml::from_str(&server.get("/openapi.yaml").text()).unwrap();
    assert_eq!(server.get("/openapi.json").json(), yaml);
}

#[test]
fn openapi_yaml_is_served_unchanged() {
    let reply = TestServer::new("").get("/openapi.yaml");
    assert_eq!(
        (reply.status, reply.content_type()),
        (200, "application/yaml")
    );
    assert_eq!(reply.text(), include_str!("../../openapi.yaml"));
}
