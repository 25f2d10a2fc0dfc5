//! A request of a lookup → [`Call`]: what to send where, with every option checked.

use std::time::Duration;

use hiera_resolver::Value;
use hiera_resolver::remote::RemoteRequest;
use hyper::Uri;
use hyper::header::HeaderMap;
use hyper::http::uri::Scheme;

use super::error::FetchErrorKind;
use super::{address, headers};

/// How long lookup_http waits for a connection, and for a response.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The upper limit for timeouts.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// A request that can be sent. Contains passwords, so it has no `Debug`.
pub(super) struct Call {
    /// The URI, without user and password. Its scheme decides on TLS.
    pub(super) uri: Uri,
    /// The headers to send.
    pub(super) headers: HeaderMap,
    /// The connection to use.
    pub(super) connection: ConnectionOptions,
    /// How long to wait for the response, and for each part of it.
    pub(super) read_timeout: Duration,
    /// How the document is parsed.
    pub(super) output: OutputFormat,
    /// Does 404 mean "not found"?
    pub(super) ignores_404: bool,
}

/// What calls must have in common to share connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConnectionOptions {
    /// How long to wait for a connection, including the TLS handshake.
    pub(super) timeout: Duration,
    /// The options of TLS; `None` without TLS.
    pub(super) tls: Option<TlsOptions>,
}

/// Files with certificates and keys, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TlsOptions {
    /// The CA certificates to trust instead of the system's.
    pub(super) ca_cert: Option<String>,
    /// The client certificate.
    pub(super) cert: Option<String>,
    /// The key of the client certificate.
    pub(super) key: Option<String>,
    /// Is the server's certificate verified?
    pub(super) verify: bool,
}

/// How a document is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    Json,
    Yaml,
    /// The text itself.
    Plain,
}

impl Call {
    pub(super) fn check(request: &RemoteRequest) -> Result<Self, FetchErrorKind> {
        let uri = address::parse(&request.uri, request.is_set("use_ssl"))
            .ok_or(FetchErrorKind::Address)?;
        let tls = if uri.scheme() == Some(&Scheme::HTTPS) {
            Some(TlsOptions::check(request)?)
        } else {
            None
        };
        Ok(Call {
            uri,
            headers: headers::check(request)?,
            connection: ConnectionOptions {
                timeout: timeout(request, "http_connect_timeout")?,
                tls,
            },
            read_timeout: timeout(request, "http_read_timeout")?,
            output: match request.option("output").and_then(Value::as_str) {
                Some("json") => OutputFormat::Json,
                Some("yaml") => OutputFormat::Yaml,
                _ => OutputFormat::Plain,
            },
            ignores_404: request.is_set("ignore_404"),
        })
    }

    /// The server: scheme, host and port.
    pub(super) fn server(&self) -> String {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        let authority = self
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        format!("{scheme}://{}", authority.to_ascii_lowercase())
    }

    /// How long the whole fetch may take. Otherwise a server that sends a byte now and then would hold its permit for days.
    pub(super) fn timeout(&self) -> Duration {
        self.connection.timeout + self.read_timeout * 4
    }
}

impl TlsOptions {
    fn check(request: &RemoteRequest) -> Result<Self, FetchErrorKind> {
        let path = |name| match request.option(name) {
            None | Some(Value::Null | Value::Bool(false)) => Ok(None),
            Some(Value::Str(path)) => Ok(Some(path.to_string())),
            Some(_) => Err(FetchErrorKind::Option {
                name,
                expected: "the path of a file",
            }),
        };
        Ok(TlsOptions {
            ca_cert: path("ssl_ca_cert")?,
            cert: path("ssl_cert")?,
            key: path("ssl_key")?,
            verify: request.option("ssl_verify") != Some(&Value::Bool(false)),
        })
    }
}

fn timeout(request: &RemoteRequest, name: &'static str) -> Result<Duration, FetchErrorKind> {
    let seconds = match request.option(name) {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(DEFAULT_TIMEOUT),
        Some(Value::Int(seconds)) => Some(*seconds as f64),
        Some(Value::Float(seconds)) => Some(*seconds),
        // Interpolated from a fact.
        Some(Value::Str(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match seconds {
        // In Ruby, 0 means no limit for connecting and no time at all for the response.
        Some(0.0) if name == "http_connect_timeout" => Ok(MAX_TIMEOUT),
        Some(seconds) if seconds > 0.0 => Ok(Duration::try_from_secs_f64(seconds)
            .map_or(MAX_TIMEOUT, |timeout| timeout.min(MAX_TIMEOUT))),
        _ => Err(FetchErrorKind::Option {
            name,
            expected: "a number of seconds above 0",
        }),
    }
}

#[cfg(test)]
mod tests;
