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
    /// Other fetches took too long.
    #[error("too many other requests are in progress (`{setting}`)")]
    Busy { setting: &'static str },
    /// The server has failed repeatedly.
    #[error(
        "circuit breaker is open: no requests to this server until {until} (failures in a row: {failures}, the last: \
         {reason})"
    )]
    CircuitOpen {
        until: String,
        failures: u32,
        reason: String,
    },
    /// A lookup has waited too long, for this document and for others.
    #[error(
        "no response in time: a lookup waits for other servers for {seconds} s in all (`remote.deadline_s`)"
    )]
    Deadline { seconds: u64 },
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

/// What the result of a fetch says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerHealth {
    /// It responds, whatever the response is.
    Answers,
    /// It cannot be reached, is too slow or reports an error of its own.
    Fails,
    /// It was not asked, or is not to blame.
    Unknown,
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
            FetchErrorKind::Busy { .. }
            | FetchErrorKind::CircuitOpen { .. }
            | FetchErrorKind::Deadline { .. }
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

    /// What it says about the server.
    pub(super) fn server_health(&self) -> ServerHealth {
        match self {
            FetchErrorKind::Connect { .. }
            | FetchErrorKind::ConnectTimeout { .. }
            | FetchErrorKind::ReadTimeout { .. }
            | FetchErrorKind::Transfer { .. } => ServerHealth::Fails,
            FetchErrorKind::Status { .. } if self.is_temporary() => ServerHealth::Fails,
            FetchErrorKind::Status { .. }
            | FetchErrorKind::TooLarge { .. }
            | FetchErrorKind::ContentEncoding
            | FetchErrorKind::NotUtf8
            | FetchErrorKind::Json(_)
            | FetchErrorKind::Yaml(_) => ServerHealth::Answers,
            FetchErrorKind::Address
            | FetchErrorKind::Option { .. }
            | FetchErrorKind::Header { .. }
            | FetchErrorKind::File { .. }
            | FetchErrorKind::Tls { .. }
            | FetchErrorKind::Busy { .. }
            | FetchErrorKind::CircuitOpen { .. }
            | FetchErrorKind::Deadline { .. }
            | FetchErrorKind::Interrupted => ServerHealth::Unknown,
        }
    }

    /// Is it cached for a moment? The state of a circuit breaker is not: it is known at once, and ends at a given time.
    pub(super) fn is_cached(&self) -> bool {
        !matches!(self, FetchErrorKind::CircuitOpen { .. })
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
