//! [`Gate`]: what every request passes, whichever path answers it.
//!
//! In order: a request id is taken or made, sensitive headers are marked, cross-origin rules apply where they are set,
//! the [`Admission`] decides from the head alone, and then the fast path of `POST /lookup` or the router answers. On the
//! way out a panic becomes a problem document, a large answer is compressed, the request is counted and logged, and its
//! id is returned. Limits on a body apply where it is read, in `request_body.rs`.
//!
//! These are steps around both paths instead of layers of the router: layers box and clone several times for each
//! request, and the fast path does not enter the router. A new step belongs here.

mod access_log;
mod admission;
mod compression;
mod cors;
mod endpoints;
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
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tower::Service;
use tower_http::cors::Cors;

pub(super) use self::admission::{Admission, Everyone};
pub(crate) use self::request_id::RequestId;

use self::access_log::{AccessLine, log_access};
use self::endpoints::Endpoints;
use self::request_id::X_REQUEST_ID;
use super::App;
use super::error::{ApiError, ErrorKind};

/// Headers with credentials. Once marked, their values are printed as `Sensitive`.
const SENSITIVE_HEADERS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    HeaderName::from_static("x-client-cert"),
];

/// The service that answers every request.
#[derive(Clone, Debug)]
pub struct Gate {
    app: App,
    endpoints: Endpoints,
    /// The endpoints behind cross-origin rules, if there are any.
    cors: Option<Cors<Endpoints>>,
}

impl Gate {
    /// A gate that answers the requests that `admission` lets pass.
    pub(super) fn new(app: App, admission: impl Admission + 'static) -> Self {
        let endpoints = Endpoints::new(app.clone(), admission);
        Gate {
            cors: cors::rules(&app.cors_origins, &endpoints),
            app,
            endpoints,
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
        let app = self.app.clone();
        let passage = Passage::enter(&app, &mut request);
        match &mut self.cors {
            None => {
                let answer = self.endpoints.clone().answer(request, passage.id.clone());
                Box::pin(async move { Ok(passage.leave(&app, pin!(answer)).await) })
            }
            Some(cors) => {
                request.extensions_mut().insert(passage.id.clone());
                let answer = cors.call(request);
                let answer = async { answer.await.unwrap_or_else(|never| match never {}) };
                Box::pin(async move { Ok(passage.leave(&app, pin!(answer)).await) })
            }
        }
    }
}

/// What the gate keeps of a request while it is answered.
struct Passage {
    start: Instant,
    id: RequestId,
    accept_encoding: Option<HeaderValue>,
    is_head: bool,
    /// The line of the access log, if it is on.
    access: Option<AccessLine>,
}

impl Passage {
    fn enter<B>(app: &App, request: &mut Request<B>) -> Self {
        let start = Instant::now();
        let access = app
            .has_access_log
            .then(|| AccessLine::new(request.method(), request.uri()));
        let is_head = request.method() == Method::HEAD;
        let headers = request.headers_mut();
        mark_sensitive(headers);
        Passage {
            start,
            id: RequestId::take_or_make(headers.get(&X_REQUEST_ID)),
            accept_encoding: headers.get(header::ACCEPT_ENCODING).cloned(),
            is_head,
            access,
        }
    }

    /// Waits for the answer, also if it panics, and completes it.
    async fn leave(
        self,
        app: &App,
        mut answer: Pin<&mut impl Future<Output = Response>>,
    ) -> Response {
        let response = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
            polled.unwrap_or_else(|_| Poll::Ready(self.panicked()))
        })
        .await;
        let mut response = match compression::may_compress(&response, self.is_head) {
            true => compression::compress(response, self.accept_encoding, self.is_head).await,
            false => response,
        };
        let (status, took) = (response.status().as_u16(), self.start.elapsed());
        app.metrics.count_request(status, took);
        if let Some(access) = &self.access {
            log_access(access, &self.id, status, took, response.body());
        }
        response
            .headers_mut()
            .insert(X_REQUEST_ID, self.id.into_header());
        response
    }

    /// The answer if the handler panicked. The panic hook has already printed message and location.
    #[cold]
    fn panicked(&self) -> Response {
        tracing::error!(request.id = %self.id, "panic while answering a request");
        ApiError::new(ErrorKind::Internal, "").into_response()
    }
}

fn mark_sensitive(headers: &mut HeaderMap) {
    for (name, value) in headers.iter_mut() {
        if SENSITIVE_HEADERS.contains(name) {
            value.set_sensitive(true);
        }
    }
}

#[cfg(test)]
mod tests;
