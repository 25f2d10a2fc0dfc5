//! [`Endpoints`]: behind the gate, an admitted request takes the fast path of `POST /lookup` or the router.

use std::convert::Infallible;
use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::HttpBody;
use axum::http::request::Parts;
use axum::http::{Method, Request, header};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use bytes::Bytes;
use tower::Service;
use tracing::Instrument as _;

use super::Visitor;
use super::admission::Admission;
use super::request_id::RequestId;
use crate::http::error::CLOSE_CONNECTION;
use crate::http::{App, lookup, router};

/// The fast path and the router, behind the admission rule. Clones share both.
#[derive(Clone, Debug)]
pub(super) struct Endpoints {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    app: App,
    admission: Box<dyn Admission>,
    router: Router,
}

impl Endpoints {
    pub(super) fn new(app: App, admission: impl Admission + 'static) -> Self {
        let inner = Inner {
            router: router::router(app.clone()),
            admission: Box::new(admission),
            app,
        };
        Endpoints {
            inner: Arc::new(inner),
        }
    }

    pub(super) fn app(&self) -> &App {
        &self.inner.app
    }

    /// Answers a request, unless it is refused.
    pub(super) async fn answer<B>(&self, request: Request<B>, visitor: &Visitor) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError> + Display> + Send + 'static,
    {
        let (head, body) = request.into_parts();
        let has_body = !body.is_end_stream();
        let Visitor {
            id,
            client,
            refusal,
        } = visitor;
        let admitted = match *refusal {
            None => self.inner.admission.admit(&head),
            Some(reason) => Err(self.app().refused(reason, &head)),
        };
        let mut response = match admitted {
            Err(error) => error.into_response(),
            // Nearly every request is one of these, and finding its route would cost as much as answering it.
            Ok(_) if is_lookup(&head) => {
                return lookup::answer_post(self.app(), &head.headers, id, *client, body).await;
            }
            Ok(_) => {
                let mut request = Request::from_parts(head, body);
                let span = id.span();
                request.extensions_mut().insert(id.clone());
                request.extensions_mut().insert(*client);
                let answer = self.inner.router.clone().call(request).instrument(span);
                answer.await.unwrap_or_else(|never| match never {})
            }
        };
        // The unread rest of a body must not be taken for the next request.
        if has_body && response.status().is_client_error() {
            response
                .headers_mut()
                .insert(header::CONNECTION, CLOSE_CONNECTION);
        }
        response
    }
}

fn is_lookup(head: &Parts) -> bool {
    head.uri.path() == "/lookup" && head.method == Method::POST
}

/// As layers see it: what the gate has found out is in extensions.
impl<B> Service<Request<B>> for Endpoints
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
        let visitor = request.extensions().get::<Visitor>();
        let visitor = visitor.cloned().unwrap_or_else(|| Visitor {
            id: RequestId::make(),
            client: None,
            refusal: None,
        });
        let endpoints = self.clone();
        Box::pin(async move { Ok(endpoints.answer(request, &visitor).await) })
    }
}
