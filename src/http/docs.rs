//! `GET /docs`: a page with the API reference and a form to try lookups, rendered in the browser from `openapi.json`.
//!
//! The page, its style and its script are embedded and load nothing from elsewhere. Browsers do not parse YAML, so the
//! API description is served as JSON as well.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::lookup::reply::json_response;

/// The API description.
const OPENAPI: &str = include_str!("../../openapi.yaml");

/// The same as JSON, in the same order.
static OPENAPI_JSON: LazyLock<Vec<u8>> = LazyLock::new(|| {
    // Tests read both, so a description that cannot be parsed is not released.
    serde_yaml::from_str::<serde_json::Value>(OPENAPI)
        .map(|description| description.to_string().into_bytes())
        .unwrap_or_default()
});

/// The page.
pub(crate) async fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("docs/index.html"))
}

/// Its style.
pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("docs/docs.css"))
}

/// Its script.
pub(crate) async fn script() -> Response {
    file(
        "text/javascript; charset=utf-8",
        include_str!("docs/docs.js"),
    )
}

/// The API description.
pub(crate) async fn openapi_yaml() -> Response {
    (
        [(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/yaml"),
        )],
        OPENAPI,
    )
        .into_response()
}

/// The API description as JSON.
pub(crate) async fn openapi_json() -> Response {
    json_response(OPENAPI_JSON.clone())
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, "default-src 'self'"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, text).into_response()
}
