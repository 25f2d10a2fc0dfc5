//! What a client gets if the gate refuses its request: the reason, and the setting that decides.

use axum::http::request::Parts;
use axum::http::{HeaderValue, header};

use super::client_quota::Excess;
use crate::http::App;
use crate::http::error::{ApiError, ErrorKind};
use crate::metrics::Refusal;

/// The maximum length of a client's text in an error.
const MAX_SHOWN: usize = 100;

impl App {
    /// The error for a request that is refused by its head. It is counted.
    #[cold]
    pub(super) fn refused(&self, reason: Refusal, head: &Parts) -> ApiError {
        let error = match reason {
            Refusal::Host => foreign_host(head),
            Refusal::Origin => foreign_page(head),
            Refusal::ContentEncoding => encoded_body(head),
            _ => return self.overloaded(reason, Excess::OfAll(self.in_flight.requests.limit())),
        };
        self.metrics.count_refusal(reason);
        error
    }

    /// The error for what exceeds a limit of all clients or of one. It is counted.
    #[cold]
    pub(crate) fn overloaded(&self, reason: Refusal, excess: Excess) -> ApiError {
        self.metrics.count_refusal(reason);
        let excess = describe_excess(reason, excess);
        ApiError::new(ErrorKind::Overloaded, format!("too many {excess}"))
    }
}

/// What there is too much of, the limit, and its setting.
pub(crate) fn describe_excess(reason: Refusal, excess: Excess) -> String {
    // The settings are named like the reasons.
    let label = reason.label();
    let what = label.replace('_', " ");
    let setting = format!("`connections.max_{label}`");
    match (reason, excess) {
        (_, Excess::OfAll(limit)) => format!("{what}; the limit is {limit} ({setting})"),
        // It has a setting of its own.
        (Refusal::ConnectionsPerAddress, Excess::OfClient(limit)) => {
            format!("connections from one address; the limit is {limit} ({setting})")
        }
        (_, Excess::OfClient(limit)) => {
            format!("{what} from one address; the limit is {limit} (half of {setting})")
        }
    }
}

/// The error for a request that does not name this server.
fn foreign_host(head: &Parts) -> ApiError {
    let authority = head.uri.authority().map(|authority| authority.as_str());
    let host = match (authority, head.headers.get(header::HOST)) {
        (Some(authority), _) => cut(authority),
        (None, Some(host)) => shown(host),
        (None, None) => String::new(),
    };
    let detail = format!(
        "`{host}` is not a name of this machine; to serve requests for it, add it to `http.allowed_hosts`"
    );
    ApiError::new(ErrorKind::HostNotAllowed, detail)
}

/// The error for a request from a page of another server.
fn foreign_page(head: &Parts) -> ApiError {
    let page = match head.headers.get(header::ORIGIN) {
        Some(origin) => format!("`{}`", shown(origin)),
        None => "another site".to_owned(),
    };
    let detail = format!(
        "the request comes from a web page of {page}; to allow this, add the origin of the page to `http.cors_origins`"
    );
    ApiError::new(ErrorKind::OriginNotAllowed, detail)
}

/// The error for a body that is encoded.
fn encoded_body(head: &Parts) -> ApiError {
    let encoding = head.headers.get(header::CONTENT_ENCODING).map(shown);
    let encoding = encoding.unwrap_or_default();
    let detail = format!("the body is encoded as `{encoding}`; send it without `Content-Encoding`");
    ApiError::new(ErrorKind::UnsupportedMediaType, detail)
}

fn shown(value: &HeaderValue) -> String {
    cut(&String::from_utf8_lossy(value.as_bytes()))
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}
