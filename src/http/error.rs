//! [`ApiError`]: the only errors that leave the server, as problem documents (RFC 9457).

use std::fmt::{self, Display, Write};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::Explanation;

use crate::json::{write_text, write_value};

/// Tells the client that the rest of its request will not be read.
pub(crate) const CLOSE_CONNECTION: HeaderValue = HeaderValue::from_static("close");

/// An error as the client sees it.
#[derive(Debug)]
pub(crate) struct ApiError {
    kind: ErrorKind,
    detail: String,
    explanation: Option<Box<Explanation>>,
}

/// Declares the kinds of errors: one row has everything about one of them.
macro_rules! error_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident: $status:ident, $name:literal, $title:literal;)+) => {
        /// The kinds of errors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ErrorKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl ErrorKind {
            /// All kinds.
            pub(crate) const ALL: &[ErrorKind] = &[$(ErrorKind::$kind),+];

            /// The end of the problem's `type`, which is part of the contract.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(ErrorKind::$kind => $name,)+
                }
            }

            /// The status of the response.
            pub(crate) fn status(self) -> StatusCode {
                match self {
                    $(ErrorKind::$kind => StatusCode::$status,)+
                }
            }

            fn title(self) -> &'static str {
                match self {
                    $(ErrorKind::$kind => $title,)+
                }
            }
        }
    };
}

error_kinds! {
    /// No value was found.
    KeyNotFound: NOT_FOUND, "key-not-found", "Nothing was found for the key";
    /// The environment does not exist.
    UnknownEnvironment: NOT_FOUND, "unknown-environment", "There is no such environment";
    /// The data cannot answer.
    LookupFailed: UNPROCESSABLE_ENTITY, "lookup-failed", "The lookup failed";
    /// The request is malformed.
    BadRequest: BAD_REQUEST, "bad-request", "The request is malformed";
    /// The answer would be too large.
    AnswerTooLarge: PAYLOAD_TOO_LARGE, "answer-too-large", "The answer is too large";
    /// The body did not arrive in time.
    RequestTimeout: REQUEST_TIMEOUT, "request-timeout", "The request took too long to arrive";
    /// The body is too large.
    BodyTooLarge: PAYLOAD_TOO_LARGE, "body-too-large", "The body is too large";
    /// The URI is too long.
    UriTooLong: URI_TOO_LONG, "uri-too-long", "The URI is too long";
    /// The head is too large.
    HeadTooLarge: REQUEST_HEADER_FIELDS_TOO_LARGE, "head-too-large", "The head of the request is too large";
    /// The request does not name this server.
    HostNotAllowed: FORBIDDEN, "host-not-allowed", "The request is for another host";
    /// The request comes from a web page of another server.
    OriginNotAllowed: FORBIDDEN, "origin-not-allowed", "Web pages of this origin may not send requests";
    /// The body is not JSON.
    UnsupportedMediaType: UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be JSON";
    /// The path does not exist.
    NotFound: NOT_FOUND, "not-found", "There is no such path";
    /// The path exists, with other methods.
    MethodNotAllowed: METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed";
    /// The data is not loaded yet.
    NotLoaded: SERVICE_UNAVAILABLE, "not-loaded", "The data is not loaded yet";
    /// A limit on what all clients together may use is reached.
    Overloaded: SERVICE_UNAVAILABLE, "overloaded", "The server is busy";
    /// A bug in the server.
    Internal: INTERNAL_SERVER_ERROR, "internal", "Internal server error";
}

impl ErrorKind {
    /// May this error be returned before the body has been read?
    fn leaves_body(self) -> bool {
        matches!(
            self,
            ErrorKind::BodyTooLarge
                | ErrorKind::RequestTimeout
                | ErrorKind::UnsupportedMediaType
                | ErrorKind::Overloaded
        )
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

    /// A request that cannot be understood.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        ApiError::new(ErrorKind::BadRequest, detail)
    }

    pub(crate) fn with_explanation(mut self, explanation: Option<Box<Explanation>>) -> Self {
        self.explanation = explanation;
        self
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The explanation, if its text already says what went wrong.
    pub(crate) fn self_contained_explanation(&self) -> Option<&Explanation> {
        self.explanation
            .as_deref()
            .filter(|explanation| explanation.has_reason())
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

/// The maximum length of the text of an error. That of a value that does not fit its type can be a thousand times as long
/// as the type.
const MAX_TEXT: usize = 64 * 1024;

/// The text of an error, cut if it is too long.
pub(crate) fn error_text(error: &impl Display) -> String {
    let mut text = CutText(String::new());
    match write!(text, "{error}") {
        Ok(()) => text.0,
        Err(_) => text.0 + &format!("… (cut after {MAX_TEXT} bytes)"),
    }
}

/// Fails once it is full, which ends what writes to it.
struct CutText(String);

impl fmt::Write for CutText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = MAX_TEXT - self.0.len().min(MAX_TEXT);
        let fitting = more
            .get(..more.floor_char_boundary(room))
            .unwrap_or_default();
        self.0.push_str(fitting);
        match fitting.len() == more.len() {
            true => Ok(()),
            false => Err(fmt::Error),
        }
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
        if self.kind.status() == StatusCode::SERVICE_UNAVAILABLE {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(error_text(&"short"), "short");
        let fits = "x".repeat(MAX_TEXT);
        assert_eq!(error_text(&fits), fits);
        let cut = error_text(&"ä€".repeat(MAX_TEXT));
        assert!(cut.ends_with("… (cut after 65536 bytes)"), "{}", cut.len());
        assert!(cut.len() < MAX_TEXT + 40);
    }
}
