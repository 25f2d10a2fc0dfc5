//! The HTTP interface on one page: routes, and what every request passes through.

mod docs;
mod error;
mod health;
mod lookup;
mod refused_head;
mod views;

use std::convert::Infallible;
use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::{Method, Request, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{BoxError, Router};
use bytes::Bytes;
use tower::Service;

pub(crate) use self::lookup::scope::without_nulls as plain_facts;
pub(crate) use self::refused_head::MAX_HEAD_SIZE;

use self::error::{ApiError, CLOSE_CONNECTION, ErrorKind};
use self::views::{changes, environments};
use crate::backends::hiera_http::RemoteClient;
use crate::config::{Limits, RemoteSettings};
use crate::environments::Environments;
use crate::reload::Reloader;
use crate::server::metrics::Metrics;

/// What handlers share. Clones are the same.
#[derive(Clone, Debug)]
pub struct App {
    shared: Arc<Shared>,
}

/// Behind one pointer, since every request takes a clone.
#[derive(Clone, Debug)]
pub struct Shared {
    environments: Environments,
    metrics: Arc<Metrics>,
    limits: Arc<Limits>,
    is_draining: Arc<AtomicBool>,
    remotes: RemoteClient,
    /// Where there is one, data can be reloaded on demand.
    reloader: Option<Reloader>,
}

impl App {
    /// An application that serves these environments.
    pub fn new(environments: Environments, limits: Limits) -> Self {
        let shared = Shared {
            environments,
            metrics: Metrics::new(),
            limits: Arc::new(limits),
            is_draining: Arc::default(),
            remotes: RemoteClient::new(&RemoteSettings::default()),
            reloader: None,
        };
        App {
            shared: Arc::new(shared),
        }
    }

    /// The same with other bounds on what is asked of other servers and kept of it.
    pub fn with_remotes(mut self, settings: &RemoteSettings) -> Self {
        Arc::make_mut(&mut self.shared).remotes = RemoteClient::new(settings);
        self
    }

    /// The same with data that can be reloaded on demand.
    pub(crate) fn with_reloader(mut self, reloader: Reloader) -> Self {
        Arc::make_mut(&mut self.shared).reloader = Some(reloader);
        self
    }

    /// From now on `/readyz` says no, so that load balancers send nothing new.
    pub fn start_draining(&self) {
        self.is_draining.store(true, Ordering::Release);
        self.environments.stop_telling();
    }

    /// The whole interface.
    pub fn interface(self) -> Interface {
        let router = Router::new()
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
            .with_state(self.clone());
        Interface { router, app: self }
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// All routes, and what every request passes through: a panic becomes a problem, and every answer is counted.
///
/// Around the router instead of layers inside of it, which box and clone several times for each request.
#[derive(Clone, Debug)]
pub struct Interface {
    router: Router,
    app: App,
}

impl<B> Service<Request<B>> for Interface
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError> + Display> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let start = Instant::now();
        let app = self.app.clone();
        // Nearly every request is one of these, and finding its route would cost as much as answering it.
        if request.uri().path() == "/lookup" && request.method() == Method::POST {
            return Box::pin(async move {
                let answer = pin!(lookup::post_lookup(State(app.clone()), request));
                app.counted(start, answer).await
            });
        }
        let has_body = !request.body().is_end_stream();
        let answer = self.router.call(request);
        Box::pin(async move {
            let answer = pin!(async { answer.await.unwrap_or_else(|never| match never {}) });
            let mut response = app.counted(start, answer).await?;
            if has_body && response.status().is_client_error() {
                response
                    .headers_mut()
                    .insert(header::CONNECTION, CLOSE_CONNECTION);
            }
            Ok(response)
        })
    }
}

impl App {
    /// Waits for an answer, whatever happens, and counts it.
    async fn counted(
        &self,
        start: Instant,
        mut answer: Pin<&mut impl Future<Output = Response>>,
    ) -> Result<Response, Infallible> {
        let response = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
            polled.unwrap_or_else(|_| {
                Poll::Ready(ApiError::new(ErrorKind::Internal, "").into_response())
            })
        })
        .await;
        self.metrics
            .count_request(response.status().as_u16(), start.elapsed());
        Ok(response)
    }
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
