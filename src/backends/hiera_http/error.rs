//! Why a fetch failed, and what follows from that.

use hiera_resolver::data::json::JsonError;

/// A failed fetch. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{uri}`: {kind}")]
pub(super) struct FetchError {
    /// The URI, without user and password.
    pub(super) uri: String,
    /// What went wrong.
    pub(super) kind: FetchErrorKind,
}

/// What went wrong with a fetch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchErrorKind {
    /// The URI cannot be requested.
    #[error("not an http or https URI")]
    Address,
    /// An option of the level is invalid.
    #[error("option `{name}` must be {expected}")]
    Option {
        name: &'static str,
        expected: &'static str,
    },
    /// A header that HTTP does not allow. Its value may be secret, so it is not part of the error.
    #[error("header `{name}` cannot be sent")]
    Header { name: String },
    /// A certificate or key cannot be used.
    #[error("option `{option}`: `{path}`: {reason}")]
    File {
        option: &'static str,
        path: String,
        reason: String,
    },
    /// Certificates and key cannot be used together.
    #[error("cannot prepare TLS: {reason}")]
    Tls { reason: String },
    /// `remote.max_requests` other fetches took too long.
    #[error("too many other requests are in progress")]
    Busy,
    /// The connection failed.
    #[error("cannot connect: {reason}")]
    Connect { reason: String },
    /// The connection timed out.
    #[error("no connection within {seconds} s")]
    ConnectTimeout { seconds: String },
    /// The response timed out.
    #[error("no response within {seconds} s")]
    ReadTimeout { seconds: String },
    /// The response is truncated or not HTTP.
    #[error("cannot read the response: {reason}")]
    Transfer { reason: String },
    /// The server returned an error status.
    #[error("returned status {status}")]
    Status { status: u16 },
    /// The document exceeds `remote.max_document_size`.
    #[error("the document is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// The document is compressed.
    #[error("the document has a content encoding that was not requested")]
    ContentEncoding,
    /// The document is not text.
    #[error("the document is not UTF-8")]
    NotUtf8,
    /// `output: json`, but the document is not JSON.
    #[error("the document is not JSON: {0}")]
    Json(JsonError),
    /// `output: yaml`, but the document is not YAML.
    #[error("the document is not YAML: {0}")]
    Yaml(psych_yaml::ReadError),
    /// The fetch was cancelled.
    #[error("the request was interrupted")]
    Interrupted,
}

impl FetchError {
    /// The last line of Puppet's explanation; `None` for errors that lookup_http does not handle.
    pub(super) fn puppet_text(&self) -> Option<String> {
        let text = match &self.kind {
            FetchErrorKind::Status { .. } => "Bad HTTP response".to_owned(),
            FetchErrorKind::ReadTimeout { .. } => {
                "Net::ReadTimeout with #<Socket:(closed)>".to_owned()
            }
            kind if kind.is_graceful() => self.to_string(),
            _ => return None,
        };
        Some(format!("lookup_http failed {text}"))
    }
}

impl FetchErrorKind {
    /// Does `failure: graceful` cover it? As in lookup_http, it covers failed requests, but neither invalid options nor
    /// documents that are not what `output` says.
    pub(super) fn is_graceful(&self) -> bool {
        match self {
            FetchErrorKind::Address
            | FetchErrorKind::Option { .. }
            | FetchErrorKind::Header { .. }
            | FetchErrorKind::File { .. }
            | FetchErrorKind::Tls { .. }
            | FetchErrorKind::NotUtf8
            | FetchErrorKind::Json(_)
            | FetchErrorKind::Yaml(_) => false,
            FetchErrorKind::Busy
            | FetchErrorKind::Connect { .. }
            | FetchErrorKind::ConnectTimeout { .. }
            | FetchErrorKind::ReadTimeout { .. }
            | FetchErrorKind::Transfer { .. }
            | FetchErrorKind::Status { .. }
            | FetchErrorKind::TooLarge { .. }
            | FetchErrorKind::ContentEncoding
            | FetchErrorKind::Interrupted => true,
        }
    }

    /// May it be temporary, so that a stale document is better than none? A status below 500 is an answer.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            FetchErrorKind::Address
            | FetchErrorKind::Option { .. }
            | FetchErrorKind::Header { .. } => false,
            // 408 and 429 ask the client to retry.
            FetchErrorKind::Status { status } => *status >= 500 || matches!(status, 408 | 429),
            _ => true,
        }
    }
}
