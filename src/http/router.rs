//! All routes on one page. What every request passes first stands in `gate.rs`.

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};

use super::App;
use super::error::{ApiError, ErrorKind};
use super::views::{changes, environments};
use super::{docs, health, lookup};

/// All routes.
pub(super) fn router(app: App) -> Router {
    Router::new()
        // Answered by the gate's fast path. It is listed for requests with another method.
        .route("/lookup", post(lookup::post_lookup::<Body>))
        .route("/lookup/{*key}", get(lookup::get_lookup))
        .route("/environments", get(environments::list_environments))
        .route(
            "/environments/{environment}",
            get(environments::show_environment),
        )
        .route(
            "/environments/{environment}/reload",
            post(changes::reload_environment),
        )
        .route(
            "/environments/{environment}/events",
            get(changes::environment_events),
        )
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.yaml", get(docs::openapi_yaml))
        .route("/openapi.json", get(docs::openapi_json))
        .route("/docs", get(docs::page))
        .route("/docs/docs.css", get(docs::style))
        .route("/docs/docs.js", get(docs::script))
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

async fn no_such_path() -> ApiError {
    ApiError::new(
        ErrorKind::NotFound,
        "there is no such path; /openapi.yaml lists those there are",
    )
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        ErrorKind::MethodNotAllowed,
        "method not allowed for this path; see /openapi.yaml",
    )
}
