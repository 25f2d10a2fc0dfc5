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
static SENSITIVE_HEADERS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    HeaderName::from_static("x-client-cert"),
];

/// The service that answers every request.
#[derive(Clone, Debug)]
pub struct Gate {
    endpoints: Endpoints,
    /// The endpoints behind cross-origin rules, if there are any.
    cors: Option<Cors<Endpoints>>,
}

impl Gate {
    /// A gate that answers the requests that `admission` lets pass.
    pub(super) fn new(app: App, admission: impl Admission + 'static) -> Self {
        let endpoints = Endpoints::new(app, admission);
        Gate {
            cors: cors::rules(&endpoints.app().cors_origins, &endpoints),
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
        let endpoints = self.endpoints.clone();
        match &mut self.cors {
            None => Box::pin(async move {
                let passage = Passage::enter(endpoints.app(), &mut request);
                // Made where it stays: it is large, and moving it would cost a good part of a small lookup.
                let answer = pin!(endpoints.answer(request, &passage.id));
                Ok(passage.leave(endpoints.app(), answer).await)
            }),
            Some(cors) => {
                let passage = Passage::enter(endpoints.app(), &mut request);
                request.extensions_mut().insert(passage.id.clone());
                let answer = cors.call(request);
                Box::pin(async move {
                    let answer = async { answer.await.unwrap_or_else(|never| match never {}) };
                    Ok(passage.leave(endpoints.app(), pin!(answer)).await)
                })
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
        let head = HeadersRead::new(request.headers_mut());
        Passage {
            start,
            id: RequestId::take_or_make(head.request_id),
            accept_encoding: head.accept_encoding,
            is_head,
            access,
        }
    }

    /// Waits for the answer, also if it panics, and completes it.
    async fn leave(
        &self,
        app: &App,
        mut answer: Pin<&mut impl Future<Output = Response>>,
    ) -> Response {
        let response = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
            polled.unwrap_or_else(|_| Poll::Ready(self.panicked()))
        })
        .await;
        let mut response = match compression::may_compress(&response, self.is_head) {
            true => {
                let accepted = self.accept_encoding.clone();
                compression::compress(response, accepted, self.is_head).await
            }
            false => response,
        };
        let (status, took) = (response.status().as_u16(), self.start.elapsed());
        app.metrics.count_request(status, took);
        if let Some(access) = &self.access {
            log_access(access, &self.id, status, took, response.body());
        }
        response
            .headers_mut()
            .insert(&X_REQUEST_ID, self.id.to_header());
        response
    }

    /// The answer if the handler panicked. The panic hook has already printed message and location.
    #[cold]
    fn panicked(&self) -> Response {
        tracing::error!(request.id = %self.id, "panic while answering a request");
        ApiError::new(ErrorKind::Internal, "").into_response()
    }
}

/// The headers that the gate needs.
struct HeadersRead {
    request_id: Option<HeaderValue>,
    accept_encoding: Option<HeaderValue>,
}

impl HeadersRead {
    /// Reads the headers in one pass, and marks those with credentials.
    fn new(headers: &mut HeaderMap) -> Self {
        let mut read = HeadersRead {
            request_id: None,
            accept_encoding: None,
        };
        for (name, value) in headers.iter_mut() {
            if *name == header::ACCEPT_ENCODING {
                read.accept_encoding.get_or_insert_with(|| value.clone());
            } else if *name == X_REQUEST_ID {
                read.request_id.get_or_insert_with(|| value.clone());
            } else if SENSITIVE_HEADERS.contains(name) {
                value.set_sensitive(true);
            }
        }
        read
    }
}

#[cfg(test)]
mod tests;
