//! A request of a lookup → a [`Call`]: what to send where, every option checked.

use std::time::Duration;

use hiera_resolver::Value;
use hiera_resolver::remote::RemoteRequest;
use hyper::Uri;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
    USER_AGENT,
};
use hyper::http::uri::Scheme;
use psych_yaml::base64;

use super::address;
use super::error::Fault;

/// Seconds that lookup_http waits for a connection, and for an answer.
const USUAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Nobody waits longer, whatever is set.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);
/// A request that can be sent. Holds passwords, so it has no `Debug`.
pub(super) struct Call {
    /// Where to. Its scheme says whether TLS is spoken; there is no user in it.
    pub(super) uri: Uri,
    /// What is sent along.
    pub(super) headers: HeaderMap,
    /// Over which kind of connection.
    pub(super) connection: Connection,
    /// How long to wait for the answer, and for each part of it.
    pub(super) read_timeout: Duration,
    /// What the document is.
    pub(super) output: Output,
    /// Is 404 an answer?
    pub(super) ignores_404: bool,
}

/// What connections have in common that calls may share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Connection {
    /// How long to wait for a connection, up to and including TLS.
    pub(super) timeout: Duration,
    /// What TLS needs, where it is spoken.
    pub(super) tls: Option<TlsOptions>,
}

/// Files with certificates and keys, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TlsOptions {
    /// Who may sign the server's certificate, instead of whom the system trusts.
    pub(super) ca_cert: Option<String>,
    /// The client's own certificate.
    pub(super) cert: Option<String>,
    /// The key to it.
    pub(super) key: Option<String>,
    /// Has the server to prove who it is?
    pub(super) verify: bool,
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Json,
    Yaml,
    /// The text itself.
    Plain,
}

impl Call {
    pub(super) fn check(request: &RemoteRequest) -> Result<Self, Fault> {
        let uri = address::parse(&request.uri, request.is_set("use_ssl")).ok_or(Fault::Address)?;
        let tls = if uri.scheme() == Some(&Scheme::HTTPS) {
            Some(TlsOptions::check(request)?)
        } else {
            None
        };
        Ok(Call {
            uri,
            headers: headers(request)?,
            connection: Connection {
                timeout: seconds(request, "http_connect_timeout")?,
                tls,
            },
            read_timeout: seconds(request, "http_read_timeout")?,
            output: match request.option("output").and_then(Value::as_str) {
                Some("json") => Output::Json,
                Some("yaml") => Output::Yaml,
                _ => Output::Plain,
            },
            ignores_404: request.is_set("ignore_404"),
        })
    }

    /// How long the whole may take. A server that sends a byte now and then would hold its place for days.
    pub(super) fn timeout(&self) -> Duration {
        self.connection.timeout + self.read_timeout * 4
    }
}

impl TlsOptions {
    fn check(request: &RemoteRequest) -> Result<Self, Fault> {
        let path = |name| match request.option(name) {
            None | Some(Value::Null | Value::Bool(false)) => Ok(None),
            Some(Value::Str(path)) => Ok(Some(path.to_string())),
            Some(_) => Err(Fault::Option {
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

fn seconds(request: &RemoteRequest, name: &'static str) -> Result<Duration, Fault> {
    let seconds = match request.option(name) {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(USUAL_TIMEOUT),
        Some(Value::Int(seconds)) => Some(*seconds as f64),
        Some(Value::Float(seconds)) => Some(*seconds),
        // Filled in from a fact.
        Some(Value::Str(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match seconds {
        // Ruby waits for a connection as long as it takes, and for an answer not at all.
        Some(0.0) if name == "http_connect_timeout" => Ok(LONGEST_TIMEOUT),
        Some(seconds) if seconds > 0.0 => Ok(Duration::try_from_secs_f64(seconds)
            .map_or(LONGEST_TIMEOUT, |timeout| timeout.min(LONGEST_TIMEOUT))),
        _ => Err(Fault::Option {
            name,
            expected: "a number of seconds above 0",
        }),
    }
}

/// What is sent along. As with Ruby's `add_field`, what a level gives is added to what is sent anyway.
fn headers(request: &RemoteRequest) -> Result<HeaderMap, Fault> {
    let mut fields = Fields::default();
    fields.add(ACCEPT, "*/*");
    fields.add(USER_AGENT, concat!("hierad/", env!("CARGO_PKG_VERSION")));
    if request.is_set("use_auth") {
        let text = |name| match request.option(name) {
            None => Ok(String::new()),
            Some(value) => text_of(value).ok_or(Fault::Option {
                name,
                expected: "a text",
            }),
        };
        let credentials = format!("{}:{}", text("auth_user")?, text("auth_pass")?);
        let credentials = base64::encode(credentials.as_bytes());
        fields.add(AUTHORIZATION, &format!("Basic {credentials}"));
    }
    match request.option("headers") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Hash(given)) => {
            for (name, value) in given.iter() {
                fields.add_given(name, value)?;
            }
        }
        Some(_) => {
            return Err(Fault::Option {
                name: "headers",
                expected: "a hash",
            });
        }
    }
    fields.into_headers()
}

/// Headers and their values, each to be sent in one line.
#[derive(Default)]
struct Fields(Vec<(HeaderName, String)>);

impl Fields {
    fn add(&mut self, name: HeaderName, text: &str) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, line)) => {
                line.push_str(", ");
                line.push_str(text);
            }
            None => self.0.push((name, text.to_owned())),
        }
    }

    /// Adds what a level wants to send under a name: a text, or several.
    fn add_given(&mut self, name: &Value, value: &Value) -> Result<(), Fault> {
        let name = text_of(name).unwrap_or_default();
        let wrong = || Fault::Header {
            name: name.escape_debug().to_string(),
        };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        // The connection sets these; a wrong one would make nonsense of what follows.
        if header == CONTENT_LENGTH || header == TRANSFER_ENCODING {
            return Err(wrong());
        }
        let values = value.as_array().unwrap_or(std::slice::from_ref(value));
        for value in values {
            let text = text_of(value).ok_or_else(wrong)?;
            header_value(&name, &text)?;
            self.add(header.clone(), &text);
        }
        Ok(())
    }

    fn into_headers(self) -> Result<HeaderMap, Fault> {
        let fields = self.0.into_iter().map(|(name, line)| {
            let value = header_value(name.as_str(), &line)?;
            Ok((name, value))
        });
        fields.collect()
    }
}

fn header_value(name: &str, text: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| Fault::Header {
        name: name.to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// What Ruby's `to_s` makes of a scalar.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(format!("{number:?}")),
        Value::BigInt(number) => Some(number.to_string()),
        Value::Str(text) => Some(text.to_string()),
        Value::Symbol(name) => Some(name.to_string()),
        Value::Sensitive(inner) => text_of(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::remote::tests::request;

    fn check(uri: &str, options: &str) -> Result<Call, String> {
        Call::check(&request(uri, options)).map_err(|fault| fault.to_string())
    }

    #[test]
    fn options_are_those_of_lookup_http() {
        let call = check("http://host/", "{}").unwrap();
        assert_eq!(call.output, Output::Plain);
        assert_eq!(call.read_timeout, Duration::from_secs(10));
        assert_eq!(call.connection.timeout, Duration::from_secs(10));
        assert!(!call.ignores_404);
        let call = check(
            "https://host/",
            "{output: yaml, http_read_timeout: 2, http_connect_timeout: '0.5', ignore_404: true, ssl_verify: false, ssl_cert: /c}",
        )
        .unwrap();
        assert_eq!(call.output, Output::Yaml);
        assert_eq!(call.read_timeout, Duration::from_secs(2));
        assert_eq!(call.connection.timeout, Duration::from_millis(500));
        assert!(call.ignores_404);
        let tls = call.connection.tls.unwrap();
        assert!(!tls.verify);
        assert_eq!(tls.cert.as_deref(), Some("/c"));
    }

    #[test]
    fn wrong_options_are_named_and_not_quoted() {
        for (options, expected) in [
            (
                "{http_read_timeout: 0}",
                "option `http_read_timeout` must be a number of seconds above 0",
            ),
            (
                "{http_connect_timeout: x}",
                "option `http_connect_timeout` must be a number of seconds above 0",
            ),
            (
                "{http_connect_timeout: .nan}",
                "option `http_connect_timeout` must be a number of seconds above 0",
            ),
            ("{headers: secret}", "option `headers` must be a hash"),
            (
                r#"{headers: {X-Token: "secret\r\nHost: other"}}"#,
                "header `X-Token` cannot be sent",
            ),
            (
                r#"{headers: {"X\nY": secret}}"#,
                r"header `X\nY` cannot be sent",
            ),
            (
                "{headers: {Content-Length: 5}}",
                "header `Content-Length` cannot be sent",
            ),
            ("{headers: {X: {a: secret}}}", "header `X` cannot be sent"),
            (
                "{use_auth: true, auth_pass: [secret]}",
                "option `auth_pass` must be a text",
            ),
            (
                "{use_ssl: true, ssl_key: 5}",
                "option `ssl_key` must be the path of a file",
            ),
        ] {
            assert_eq!(check("http://host/", options).err().unwrap(), expected);
        }
    }

    #[test]
    fn headers_of_the_level_are_added_to_ours_and_are_not_shown() {
        let call = check(
            "http://host/",
            "{headers: {Accept: a/b, X-Number: 5, X-List: [c, d]}, use_auth: yes, auth_user: Aladdin, auth_pass: open sesame}",
        )
        .unwrap();
        let sent = |name: &str| -> Vec<&str> {
            let values = call.headers.get_all(name).iter();
            values.map(|value| value.to_str().unwrap()).collect()
        };
        assert_eq!(sent("accept"), ["*/*, a/b"]);
        assert_eq!(sent("x-number"), ["5"]);
        assert_eq!(sent("x-list"), ["c, d"]);
        assert_eq!(
            sent("authorization"),
            ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]
        );
        let shown = format!("{:?}", call.headers);
        assert!(!shown.contains("QWxh") && !shown.contains("a/b"), "{shown}");
    }
}
