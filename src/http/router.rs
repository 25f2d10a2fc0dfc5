//! All routes on one page. `gate.rs` has what every request passes first.
//!
//! The table is also what `openapi.yaml` is compared with, so a route that is not documented fails a test.

use axum::Router;
use axum::body::Body;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::App;
use super::error::{ApiError, ErrorKind};
use super::views::{changes, environments};
use super::{docs, health, lookup};

/// One route: what it answers, and the name of its operation in `openapi.yaml`.
#[derive(Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with its parameters in braces.
    pub path: &'static str,
    /// The `operationId`.
    pub operation: &'static str,
    handler: MethodRouter<App>,
}

/// All routes.
pub fn routes() -> Vec<Route> {
    vec![
        // Answered by the gate's fast path. It is listed for requests with another method.
        post("/lookup", "postLookup", lookup::post_lookup::<Body>),
        get("/lookup/{*key}", "getLookup", lookup::get_lookup),
        get(
            "/environments",
            "listEnvironments",
            environments::list_environments,
        ),
        get(
            "/environments/{environment}",
            "showEnvironment",
            environments::show_environment,
        ),
        post(
            "/environments/{environment}/reload",
            "reloadEnvironment",
            changes::reload_environment,
        ),
        get(
            "/environments/{environment}/events",
            "environmentEvents",
            changes::environment_events,
        ),
        get("/livez", "livez", health::livez),
        get("/readyz", "readyz", health::readyz),
        get("/metrics", "metrics", health::metrics),
        get("/openapi.yaml", "openapi", docs::openapi_yaml),
        get("/openapi.json", "openapiJson", docs::openapi_json),
        get("/docs", "docs", docs::page),
        get("/docs/docs.css", "docsStyle", docs::style),
        get("/docs/docs.js", "docsScript", docs::script),
    ]
}

fn get<T: 'static>(
    path: &'static str,
    operation: &'static str,
    handler: impl Handler<T, App>,
) -> Route {
    Route {
        method: Method::GET,
        path,
        operation,
        handler: on(MethodFilter::GET, handler),
    }
}

fn post<T: 'static>(
    path: &'static str,
    operation: &'static str,
    handler: impl Handler<T, App>,
) -> Route {
    Route {
        method: Method::POST,
        path,
        operation,
        handler: on(MethodFilter::POST, handler),
    }
}

/// The router of all routes.
pub(super) fn router(app: App) -> Router {
    let routes = routes().into_iter();
    routes
        .fold(Router::new(), |router, route| {
            router.route(route.path, route.handler)
        })
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
