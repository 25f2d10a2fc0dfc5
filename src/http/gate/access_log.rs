//! The access log: one line for each request, if `log.access` is set.
//!
//! A line contains neither headers nor the query, since they contain credentials and facts.

use std::time::Duration;

use axum::body::HttpBody;
use axum::http::{Method, Uri};

use super::request_id::RequestId;

/// The parts of a line that come from the head of a request.
#[derive(Debug)]
pub(crate) struct AccessLine {
    method: Method,
    path: String,
}

impl AccessLine {
    pub(crate) fn new(method: &Method, uri: &Uri) -> Self {
        AccessLine {
            method: method.clone(),
            path: uri.path().to_owned(),
        }
    }
}

/// Writes a line. `http.bytes` is the size of the body, if it is known before it is sent.
pub(crate) fn log_access(
    line: &AccessLine,
    id: &RequestId,
    status: u16,
    took: Duration,
    body: &impl HttpBody,
) {
    let AccessLine { method, path } = line;
    let duration_ms = took.as_secs_f64() * 1_000.0;
    tracing::info!(
        request.id = %id,
        http.method = %method,
        http.path = %path,
        http.status = status,
        http.bytes = body.size_hint().exact(),
        duration_ms,
        "{method} {path} {status}"
    );
}
