//! Cross-origin requests: browsers block them unless `http.cors_origins` names their origin.

use std::time::Duration;

use axum::http::{Method, header};
use tower::Layer as _;
use tower_http::cors::{Cors, CorsLayer};

use super::endpoints::Endpoints;
use super::request_id::X_REQUEST_ID;
use crate::config::CorsOrigins;

/// How long a browser may cache the result of a preflight request.
const MAX_AGE: Duration = Duration::from_secs(600);

/// The endpoints behind the rules for these origins; `None` if there are none.
pub(super) fn rules(origins: &CorsOrigins, endpoints: &Endpoints) -> Option<Cors<Endpoints>> {
    if origins.is_empty() {
        return None;
    }
    let rules = CorsLayer::new()
        .allow_origin(origins.to_headers())
        .allow_methods([Method::GET, Method::HEAD, Method::POST])
        .allow_headers([
            header::ACCEPT,
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_NONE_MATCH,
            X_REQUEST_ID.clone(),
        ])
        .expose_headers([header::ETAG, header::RETRY_AFTER, X_REQUEST_ID.clone()])
        .max_age(MAX_AGE);
    Some(rules.layer(endpoints.clone()))
}
