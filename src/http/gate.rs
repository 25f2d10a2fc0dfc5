//! [`Gate`]: what every request passes, whichever path answers it.
//!
//! In order: a request id is taken or made, sensitive headers are marked, the request becomes one of a limited number in
//! flight, cross-origin rules apply where they are set, requests for other hosts and from other servers' pages are
//! refused, the [`Admission`] decides from the head alone, and then the fast path of `POST /lookup` or the router answers.
//! On the way out a panic becomes a problem document, a large answer is limited and compressed, the request is counted
//! and logged, and its id is returned. Limits on a body apply where it is read, in `request_body.rs`.
//!
//! These are steps around both paths instead of layers of the router: layers box and clone several times for each
//! request, and the fast path does not enter the router. A new step belongs here.

mod access_log;
mod admission;
mod browser;
mod client_quota;
mod compression;
mod cors;
mod endpoints;
mod headers;
mod hosts;
mod in_flight;
mod large_answer;
mod quota;
mod refused;
mod request_id;

use std::convert::Infallible;
use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::BoxError;
use axum::body::HttpBody;
use axum::http::{HeaderValue, Method, Request, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tower::Service;
use tower_http::cors::Cors;

pub(super) use self::admission::{Admission, Everyone};
pub(crate) use self::client_quota::{Client, ClientQuota, ClientShare, Excess};
pub(crate) use self::hosts::Hosts;
pub(crate) use self::in_flight::{BodyBytes, InFlight};
pub(crate) use self::refused::describe_excess;
pub(crate) use self::request_id::RequestId;

use self::access_log::{AccessLine, log_access};
use self::endpoints::Endpoints;
use self::headers::HeadersRead;
use self::quota::Share;
use self::request_id::X_REQUEST_ID;
use super::App;
use super::error::{ApiError, ErrorKind};
use crate::metrics::Refusal;

/// The service that answers every request.
#[derive(Clone, Debug)]
pub struct Gate {
    endpoints: Endpoints,
    /// The endpoints behind cross-origin rules, if there are any.
    cors: Option<Cors<Endpoints>>,
    /// Whose connection it is; none in tests and benchmarks.
    client: Option<Client>,
}

impl Gate {
    /// A gate that answers the requests that `admission` lets pass.
    pub(super) fn new(app: App, admission: impl Admission + 'static) -> Self {
        let endpoints = Endpoints::new(app, admission);
        Gate {
            cors: cors::rules(&endpoints.app().cors_origins, &endpoints),
            endpoints,
            client: None,
        }
    }

    /// The same gate for the connection of a client.
    pub(crate) fn for_client(&self, client: Client) -> Self {
        Gate {
            client: Some(client),
            ..self.clone()
        }
    }
}

impl<B> Service<Request<B>> for Gate
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError> + Display> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let (endpoints, client) = (self.endpoints.clone(), self.client);
        match self.cors.clone() {
            None => Box::pin(async move {
                let passage = Passage::enter(endpoints.app(), client, &mut request);
                // Made where it stays: it is large, and moving it would cost a good part of a small lookup.
                let answer = pin!(endpoints.answer(request, &passage.visitor));
                Ok(passage.leave(answer).await)
            }),
            Some(mut cors) => Box::pin(async move {
                let passage = Passage::enter(endpoints.app(), client, &mut request);
                request.extensions_mut().insert(passage.visitor.clone());
                let answer = cors.call(request);
                let answer = async { answer.await.unwrap_or_else(|never| match never {}) };
                Ok(passage.leave(pin!(answer)).await)
            }),
        }
    }
}

/// What the gate knows about a request, for those who answer it.
#[derive(Clone, Debug)]
struct Visitor {
    id: RequestId,
    client: Option<Client>,
    /// Why it is refused, if it is.
    refusal: Option<Refusal>,
}

/// What the gate keeps of a request while it is answered.
struct Passage<'a> {
    app: &'a App,
    start: Instant,
    visitor: Visitor,
    accept_encoding: Option<HeaderValue>,
    is_head: bool,
    /// The line of the access log, if it is on.
    access: Option<AccessLine>,
    /// One of the requests in flight.
    _slot: Option<Share<'a>>,
}

impl<'a> Passage<'a> {
    fn enter<B>(app: &'a App, client: Option<Client>, request: &mut Request<B>) -> Self {
        let start = Instant::now();
        let access = app
            .has_access_log
            .then(|| AccessLine::new(request.method(), request.uri()));
        let is_head = request.method() == Method::HEAD;
        let head = HeadersRead::new(request.headers_mut(), app);
        let slot = Share::take(&app.in_flight.requests, 1);
        let refusal = match slot {
            // Load balancers must not take a busy server for a dead one.
            None if !is_health_check(request.uri()) => Some(Refusal::RequestsInFlight),
            _ => head.refusal.or_else(|| foreign_target(app, request.uri())),
        };
        Passage {
            app,
            start,
            visitor: Visitor {
                id: RequestId::take_or_make(head.request_id),
                client,
                refusal,
            },
            accept_encoding: head.accept_encoding,
            is_head,
            access,
            _slot: slot,
        }
    }

    /// Waits for the answer, also if it panics, and completes it.
    async fn leave(&self, mut answer: Pin<&mut impl Future<Output = Response>>) -> Response {
        let response = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
            polled.unwrap_or_else(|_| Poll::Ready(self.panicked()))
        })
        .await;
        let mut response = match compression::size(&response, self.is_head) {
            Some(size) if size < compression::MIN_SIZE => response,
            _ => self.complete_large(response).await,
        };
        let (status, took) = (response.status().as_u16(), self.start.elapsed());
        self.app.metrics.count_request(status, took);
        if let Some(access) = &self.access {
            log_access(access, &self.visitor.id, status, took, response.body());
        }
        response
            .headers_mut()
            .insert(&X_REQUEST_ID, self.visitor.id.to_header());
        response
    }

    /// Limits and compresses an answer that is large, or whose size is unknown.
    async fn complete_large(&self, response: Response) -> Response {
        if large_answer::is_event_stream(&response) {
            let limited = large_answer::limit_stream(self.app, self.visitor.client, response);
            return limited.unwrap_or_else(ApiError::into_response);
        }
        match large_answer::count_bytes(self.app, self.visitor.client, response) {
            Ok(counted) => {
                let accepted = self.accept_encoding.clone();
                compression::compress(counted, accepted, self.is_head).await
            }
            Err(overloaded) => overloaded.into_response(),
        }
    }

    /// The answer if the handler panicked. The panic hook has already printed message and location.
    #[cold]
    fn panicked(&self) -> Response {
        tracing::error!(request.id = %self.visitor.id, "panic while answering a request");
        ApiError::new(ErrorKind::Internal, "").into_response()
    }
}

/// A target with another host than this server. Only requests to proxies have one.
fn foreign_target(app: &App, uri: &Uri) -> Option<Refusal> {
    let (hosts, target) = (app.hosts.as_ref()?, uri.authority()?);
    (!hosts.allow(target.as_str())).then_some(Refusal::Host)
}

fn is_health_check(uri: &Uri) -> bool {
    matches!(uri.path(), "/livez" | "/readyz" | "/metrics")
}

#[cfg(test)]
mod tests;
