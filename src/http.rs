//! The HTTP interface on one page: routes, and what every request passes through.

mod answered;
mod body;
mod docs;
mod error;
mod lookup;
mod query;
mod reload;
mod reply;
mod scope;
mod status;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;

pub(crate) use self::scope::without_nulls as plain_facts;

use self::error::{ApiError, ErrorKind};
use crate::config::{Limits, Remote};
use crate::environments::Environments;
use crate::metrics::Metrics;
use crate::reload::Reloader;
use crate::remote::{RemoteSettings, Remotes};

/// What handlers share.
#[derive(Clone, Debug)]
pub struct App {
    environments: Environments,
    metrics: Arc<Metrics>,
    limits: Arc<Limits>,
    is_draining: Arc<AtomicBool>,
    remotes: Remotes,
    /// Where there is one, data can be reloaded on demand.
    reloader: Option<Reloader>,
}

impl App {
    /// An application that serves these environments.
    pub fn new(environments: Environments, limits: Limits) -> Self {
        App {
            environments,
            metrics: Metrics::new(),
            limits: Arc::new(limits),
            is_draining: Arc::default(),
            remotes: Remotes::new(RemoteSettings::default()),
            reloader: None,
        }
    }

    /// The same with other bounds on what is asked of other servers and kept of it.
    pub fn with_remotes(mut self, settings: &Remote) -> Self {
        self.remotes = Remotes::new(settings.into());
        self
    }

    /// The same with data that can be reloaded on demand.
    pub(crate) fn with_reloader(mut self, reloader: Reloader) -> Self {
        self.reloader = Some(reloader);
        self
    }

    /// From now on `/readyz` says no, so that load balancers send nothing new.
    pub fn start_draining(&self) {
        self.is_draining.store(true, Ordering::Release);
        self.environments.stop_telling();
    }

    /// The whole interface.
    pub fn router(self) -> Router {
        Router::new()
            .route("/lookup", post(lookup::post_lookup))
            .route("/lookup/{*key}", get(lookup::get_lookup))
            .route("/environments", get(status::list_environments))
            .route("/environments/{environment}", get(status::show_environment))
            .route(
                "/environments/{environment}/reload",
                post(reload::reload_environment),
            )
            .route(
                "/environments/{environment}/events",
                get(reload::environment_events),
            )
            .route("/livez", get(status::livez))
            .route("/readyz", get(status::readyz))
            .route("/metrics", get(status::metrics))
            .route("/openapi.yaml", get(status::openapi))
            .route("/openapi.json", get(docs::openapi_json))
            .route("/docs", get(docs::page))
            .route("/docs/docs.css", get(docs::style))
            .route("/docs/docs.js", get(docs::script))
            .fallback(no_such_path)
            .method_not_allowed_fallback(wrong_method)
            // Innermost first: a panic becomes a problem, and that is counted like any answer.
            .layer(CatchPanicLayer::custom(|_| {
                ApiError::new(ErrorKind::Internal, "").into_response()
            }))
            .layer(from_fn_with_state(self.metrics.clone(), count))
            .with_state(self)
    }
}

async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let response = next.run(request).await;
    metrics.count_request(response.status().as_u16(), start.elapsed());
    response
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
        "this path does not take this method; see /openapi.yaml",
    )
}
