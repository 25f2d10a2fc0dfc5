//! Compression of large answers, if the client accepts gzip.
//!
//! Most answers are small, and compressing them would cost more than sending them.

use std::convert::Infallible;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderValue, Request, Response, header};
use tower::{ServiceExt as _, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::{Compression, Predicate};

/// The size from which answers are compressed. Below it they fit into the first few packets of a connection anyway.
pub(super) const MIN_SIZE: u64 = 16 * 1024;

/// The size of an answer, if it is known before it is sent.
///
/// The answer to a HEAD request has no body; its headers say how large it would be.
pub(super) fn size(response: &Response<Body>, is_head: bool) -> Option<u64> {
    match is_head {
        true => Some(content_length(response.headers()).unwrap_or(0)),
        false => response.body().size_hint().exact(),
    }
}

/// Compresses an answer if the client accepts it.
pub(super) async fn compress(
    response: Response<Body>,
    accept_encoding: Option<HeaderValue>,
    is_head: bool,
) -> Response<Body> {
    let status = response.status();
    let mut request = Request::new(());
    if let Some(accepted) = accept_encoding {
        request
            .headers_mut()
            .insert(header::ACCEPT_ENCODING, accepted);
    }
    // The library wraps services, so the answer is wrapped into one that returns it once.
    let mut answer = Some(response);
    let service = service_fn(move |_| {
        let answer = answer.take().unwrap_or_default();
        async { Ok::<_, Infallible>(answer) }
    });
    let compression = Compression::new(service)
        .quality(CompressionLevel::Fastest)
        .compress_when(Decided);
    let Ok(response) = compression.oneshot(request).await;
    let mut response = response.map(Body::new);
    // If a client accepts no encoding at all, the library changes the status. Such a client gets the answer as it is.
    *response.status_mut() = status;
    if is_head {
        *response.body_mut() = Body::empty();
    }
    if response.headers().contains_key(header::CONTENT_ENCODING) {
        weaken_tag(response.headers_mut());
    }
    response
}

/// Always compresses: the caller has decided.
#[derive(Clone, Copy)]
struct Decided;

impl Predicate for Decided {
    fn should_compress<B: HttpBody>(&self, _response: &Response<B>) -> bool {
        true
    }
}

/// A strong tag promises the same bytes, and compression changes them.
fn weaken_tag(headers: &mut HeaderMap) {
    let strong = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    if let Some(tag) = strong.filter(|tag| !tag.starts_with("W/"))
        && let Ok(weak) = HeaderValue::from_str(&format!("W/{tag}"))
    {
        headers.insert(header::ETAG, weak);
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}
