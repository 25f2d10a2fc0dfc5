//! [`ApiError`]: the only errors that leave the server, as problem documents (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::explain::Explanation;

use crate::json::{write_text, write_value};

/// Says that the rest of the request will not be read.
pub(crate) const CLOSE_CONNECTION: HeaderValue = HeaderValue::from_static("close");

/// An error as the client sees it.
#[derive(Debug)]
pub(crate) struct ApiError {
    kind: ErrorKind,
    detail: String,
    explanation: Option<Box<Explanation>>,
}

/// The kinds of errors. The end of the problem's `type` is part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Nothing was found.
    KeyNotFound,
    /// There is no such environment.
    UnknownEnvironment,
    /// The data cannot answer.
    LookupFailed,
    /// The request is not one.
    BadRequest,
    /// The body did not arrive in time.
    RequestTimeout,
    /// The body is too large.
    BodyTooLarge,
    /// The address is too long.
    UriTooLong,
    /// The head is too large.
    HeadTooLarge,
    /// The body is of another kind.
    UnsupportedMediaType,
    /// There is no such path.
    NotFound,
    /// The path does not take the method.
    MethodNotAllowed,
    /// The data is not loaded yet.
    NotLoaded,
    /// A mistake of the server itself.
    Internal,
}

impl ErrorKind {
    /// What the problem's `type` ends in.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ErrorKind::KeyNotFound => "key-not-found",
            ErrorKind::UnknownEnvironment => "unknown-environment",
            ErrorKind::LookupFailed => "lookup-failed",
            ErrorKind::BadRequest => "bad-request",
            ErrorKind::RequestTimeout => "request-timeout",
            ErrorKind::BodyTooLarge => "body-too-large",
            ErrorKind::UriTooLong => "uri-too-long",
            ErrorKind::HeadTooLarge => "head-too-large",
            ErrorKind::UnsupportedMediaType => "unsupported-media-type",
            ErrorKind::NotFound => "not-found",
            ErrorKind::MethodNotAllowed => "method-not-allowed",
            ErrorKind::NotLoaded => "not-loaded",
            ErrorKind::Internal => "internal",
        }
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            ErrorKind::KeyNotFound | ErrorKind::UnknownEnvironment | ErrorKind::NotFound => {
                StatusCode::NOT_FOUND
            }
            ErrorKind::LookupFailed => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::BadRequest => StatusCode::BAD_REQUEST,
            ErrorKind::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            ErrorKind::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::UriTooLong => StatusCode::URI_TOO_LONG,
            ErrorKind::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ErrorKind::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorKind::NotLoaded => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Is this said before the body has been read?
    fn leaves_body(self) -> bool {
        matches!(
            self,
            ErrorKind::BodyTooLarge | ErrorKind::RequestTimeout | ErrorKind::UnsupportedMediaType
        )
    }

    fn title(self) -> &'static str {
        match self {
            ErrorKind::KeyNotFound => "Nothing was found for the key",
            ErrorKind::UnknownEnvironment => "There is no such environment",
            ErrorKind::LookupFailed => "The lookup failed",
            ErrorKind::BadRequest => "The request is malformed",
            ErrorKind::RequestTimeout => "The request took too long to arrive",
            ErrorKind::BodyTooLarge => "The body is too large",
            ErrorKind::UriTooLong => "The URI is too long",
            ErrorKind::HeadTooLarge => "The head of the request is too large",
            ErrorKind::UnsupportedMediaType => "The body must be JSON",
            ErrorKind::NotFound => "There is no such path",
            ErrorKind::MethodNotAllowed => "Method not allowed",
            ErrorKind::NotLoaded => "The data is not loaded yet",
            ErrorKind::Internal => "Internal server error",
        }
    }
}

impl ApiError {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        ApiError {
            kind,
            detail: detail.into(),
            explanation: None,
        }
    }

    pub(crate) fn with_explanation(mut self, explanation: Option<Explanation>) -> Self {
        self.explanation = explanation.map(Box::new);
        self
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The explanation, where its text alone tells what went wrong.
    pub(crate) fn telling_explanation(&self) -> Option<&Explanation> {
        self.explanation
            .as_deref()
            .filter(|explanation| explanation.tells_end())
    }

    /// The problem document.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"/problems/");
        out.extend_from_slice(self.kind.name().as_bytes());
        out.extend_from_slice(b"\",\"title\":");
        write_text(self.kind.title(), out);
        out.extend_from_slice(b",\"status\":");
        out.extend_from_slice(self.kind.status().as_str().as_bytes());
        if !self.detail.is_empty() {
            out.extend_from_slice(b",\"detail\":");
            write_text(&self.detail, out);
        }
        if let Some(explanation) = &self.explanation {
            out.extend_from_slice(b",\"explanation\":");
            write_value(&explanation.to_value(), out);
        }
        out.push(b'}');
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = Vec::with_capacity(256);
        self.write(&mut body);
        let content_type = HeaderValue::from_static("application/problem+json");
        let mut response = (
            self.kind.status(),
            [(header::CONTENT_TYPE, content_type)],
            body,
        )
            .into_response();
        if self.kind == ErrorKind::NotLoaded {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.kind.leaves_body() {
            response
                .headers_mut()
                .insert(header::CONNECTION, CLOSE_CONNECTION);
        }
        response
    }
}
