//! Why there is no document, and what follows from that.

use hiera_resolver::json::JsonError;

/// Why a request has no document. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{uri}`: {fault}")]
pub(super) struct FetchError {
    /// The address, without user and password.
    pub(super) uri: String,
    /// What went wrong.
    pub(super) fault: Fault,
}

/// What can go wrong with a fetch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// The address cannot be asked.
    #[error("not an http or https address")]
    Address,
    /// An option of the level makes no sense.
    #[error("option `{name}` must be {expected}")]
    Option {
        name: &'static str,
        expected: &'static str,
    },
    /// A header that HTTP has no room for. Its value may be secret.
    #[error("header `{name}` cannot be sent")]
    Header { name: String },
    /// A certificate or key cannot be used.
    #[error("option `{option}`: `{path}`: {reason}")]
    File {
        option: &'static str,
        path: String,
        reason: String,
    },
    /// The certificates and the key do not make a connection.
    #[error("cannot prepare TLS: {reason}")]
    Tls { reason: String },
    /// As many fetches as may be are under way, for too long.
    #[error("too many other requests are under way")]
    Busy,
    /// No connection.
    #[error("cannot connect: {reason}")]
    Connect { reason: String },
    /// No connection in time.
    #[error("no connection within {seconds} s")]
    ConnectTimeout { seconds: String },
    /// No answer in time.
    #[error("no answer within {seconds} s")]
    ReadTimeout { seconds: String },
    /// The answer breaks off or is no HTTP.
    #[error("the answer cannot be read: {reason}")]
    Transfer { reason: String },
    /// The server says no.
    #[error("answered with status {status}")]
    Status { status: u16 },
    /// The document is too large to be kept.
    #[error("the document is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// The document is compressed.
    #[error("the document is encoded in a way that was not asked for")]
    ContentEncoding,
    /// Text that is none.
    #[error("the document is not UTF-8")]
    NotUtf8,
    /// `output: json`, and it is not.
    #[error("the document is not JSON: {0}")]
    Json(JsonError),
    /// `output: yaml`, and it is not.
    #[error("the document is not YAML: {0}")]
    Yaml(psych_yaml::ReadError),
    /// The fetch ended before its time.
    #[error("the request was cut off")]
    CutOff,
}

impl FetchError {
    /// What an explanation of Puppet says at its end; nothing of what lookup_http does not expect.
    pub(super) fn told(&self) -> Option<String> {
        let text = match &self.fault {
            Fault::Status { .. } => "Bad HTTP response".to_owned(),
            Fault::ReadTimeout { .. } => "Net::ReadTimeout with #<Socket:(closed)>".to_owned(),
            fault if fault.is_graceful() => self.to_string(),
            _ => return None,
        };
        Some(format!("lookup_http failed {text}"))
    }
}

impl Fault {
    /// Does `failure: graceful` cover it? As in lookup_http, that is what can befall a request, and neither a
    /// wrong option nor a document that is not what `output` says.
    pub(super) fn is_graceful(&self) -> bool {
        match self {
            Fault::Address
            | Fault::Option { .. }
            | Fault::Header { .. }
            | Fault::File { .. }
            | Fault::Tls { .. }
            | Fault::NotUtf8
            | Fault::Json(_)
            | Fault::Yaml(_) => false,
            Fault::Busy
            | Fault::Connect { .. }
            | Fault::ConnectTimeout { .. }
            | Fault::ReadTimeout { .. }
            | Fault::Transfer { .. }
            | Fault::Status { .. }
            | Fault::TooLarge { .. }
            | Fault::ContentEncoding
            | Fault::CutOff => true,
        }
    }

    /// May it pass, so that an older answer is better than none? A server that says no has answered.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Fault::Address | Fault::Option { .. } | Fault::Header { .. } => false,
            // 408 and 429 ask to come again.
            Fault::Status { status } => *status >= 500 || matches!(status, 408 | 429),
            _ => true,
        }
    }
}
