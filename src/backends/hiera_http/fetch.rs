//! One fetch: a request → the document of a server, within limits of time and size.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hiera_resolver::Value;
use hiera_resolver::data::{self, Texts, json};
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_ENCODING;
use hyper::{Request, Response, StatusCode};
use hyper_util::client::legacy::connect::capture_connection;
use tokio::time::timeout;

use super::call::{Call, OutputFormat};
use super::connect::{ConnectError, PooledClient};
use super::error::{FetchError, FetchErrorKind};
use super::upstream::Passage;
use super::{ClientInner, FetchResult, address};

/// Bytes of an unused response body that are read so that its connection can be reused.
const MAX_DRAINED: usize = 64 * 1024;
/// How long reading them may take.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A document of a server.
#[derive(Clone)]
pub(super) struct Document {
    /// Its value; `None` if the server has nothing.
    pub(super) value: Option<Value>,
    /// Bytes of the response body.
    pub(super) size: usize,
}

impl Document {
    pub(super) fn into_answer(self) -> RemoteAnswer {
        match self.value {
            Some(value) => RemoteAnswer::Found(value),
            None => RemoteAnswer::NotFound,
        }
    }
}

/// Fetches the document that a request asks for. `None` if nobody wants it any more before the request is sent, which
/// `is_unwanted` says by ending.
pub(super) async fn fetch(
    inner: &ClientInner,
    request: &RemoteRequest,
    is_unwanted: impl Future<Output = ()>,
) -> Option<FetchResult> {
    let result = match Call::check(request) {
        Ok(call) => {
            let passage = tokio::select! {
                biased;
                passage = inner.upstreams.enter(call.server(), call.connection.timeout) => passage,
                () = is_unwanted => return None,
            };
            match passage {
                Ok(passage) => send_and_parse(inner, call, passage).await,
                Err(kind) => Err(kind),
            }
        }
        Err(kind) => Err(kind),
    };
    Some(result.map_err(|kind| FetchError {
        uri: address::displayed(&request.uri),
        kind,
    }))
}

async fn send_and_parse(
    inner: &ClientInner,
    call: Call,
    passage: Passage<'_>,
) -> Result<Document, FetchErrorKind> {
    let body = get_in_time(inner, &call).await;
    passage.end(&body);
    let Some(body) = body? else {
        return Ok(Document {
            value: None,
            size: 0,
        });
    };
    let size = body.len();
    // Parsing a large document would block other tasks.
    let value = tokio::task::spawn_blocking(move || parse(call.output, &body))
        .await
        .map_err(|_| FetchErrorKind::Interrupted)??;
    Ok(Document { value, size })
}

async fn get_in_time(inner: &ClientInner, call: &Call) -> Result<Option<Bytes>, FetchErrorKind> {
    let client = inner.pools.client(&call.connection).await?;
    let getting = get(&client, call, inner.settings.max_document_size);
    let body = timeout(call.timeout(), getting).await;
    body.unwrap_or_else(|_| Err(timed_out(call.timeout())))
}

/// The body of the response; `None` if the server says that there is nothing.
async fn get(
    client: &PooledClient,
    call: &Call,
    limit: usize,
) -> Result<Option<Bytes>, FetchErrorKind> {
    let response = match send(client, call).await {
        // The server may close an idle connection just when it is reused. Ruby retries once, too.
        Err(error) if is_closed(error.as_ref()) => send(client, call).await,
        sent => sent,
    }
    .map_err(|error| error_kind(error.as_ref(), call))?;
    let status = response.status();
    let encoding = response.headers().get(CONTENT_ENCODING);
    let is_encoded =
        encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if !status.is_success() {
        drain(response.into_body()).await;
        // Puppet: lookup_http does not follow redirects either.
        return match status {
            StatusCode::NOT_FOUND if call.ignores_404 => Ok(None),
            _ => Err(FetchErrorKind::Status {
                status: status.as_u16(),
            }),
        };
    }
    // These have no body, which is nil in Ruby, not an empty string.
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
        return Ok(None);
    }
    if is_encoded {
        return Err(FetchErrorKind::ContentEncoding);
    }
    read_body(response.into_body(), call.read_timeout, limit)
        .await
        .map(Some)
}

/// Sends the request and waits for the head of the response.
async fn send(
    client: &PooledClient,
    call: &Call,
) -> Result<Response<Incoming>, Box<dyn Error + Send + Sync>> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = call.uri.clone();
    *request.headers_mut() = call.headers.clone();
    let mut connection = capture_connection(&mut request);
    let mut response = std::pin::pin!(client.request(request));
    // The connector has its own timeout.
    let is_connected = async {
        connection.wait_for_connection_metadata().await;
    };
    tokio::select! {
        response = &mut response => return Ok(response?),
        () = is_connected => {}
    }
    Ok(timeout(call.read_timeout, response).await??)
}

async fn read_body(
    mut body: Incoming,
    read_timeout: Duration,
    limit: usize,
) -> Result<Bytes, FetchErrorKind> {
    let too_large = FetchErrorKind::TooLarge { limit };
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(too_large);
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = timeout(read_timeout, body.frame())
        .await
        .map_err(|_| timed_out(read_timeout))?
    {
        let frame = frame.map_err(|error| FetchErrorKind::Transfer {
            reason: causes(&error),
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > limit {
            return Err(too_large);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Reads the rest of a short response, so that its connection can be reused.
async fn drain(body: Incoming) {
    // If this fails, the connection is closed.
    drop(timeout(DRAIN_TIMEOUT, read_body(body, DRAIN_TIMEOUT, MAX_DRAINED)).await);
}

/// Parses a body. As for hiera_http, null is no value.
fn parse(output: OutputFormat, body: &[u8]) -> Result<Option<Value>, FetchErrorKind> {
    let mut texts = Texts::default();
    let text = || std::str::from_utf8(body).map_err(|_| FetchErrorKind::NotUtf8);
    let value = match output {
        OutputFormat::Json => json::parse(text()?.as_bytes(), &mut |text| texts.value(text))
            .map_err(FetchErrorKind::Json)?,
        // Puppet: an empty document is `false` in Puppet 7 and nil in Puppet 8.
        OutputFormat::Yaml => data::read_yaml(body, &mut texts)
            .map_err(FetchErrorKind::Yaml)?
            .unwrap_or_default(),
        OutputFormat::Plain => texts.value(text()?),
    };
    Ok(match value {
        Value::Null => None,
        value => Some(value),
    })
}

fn error_kind(error: &(dyn Error + 'static), call: &Call) -> FetchErrorKind {
    if error.is::<tokio::time::error::Elapsed>() {
        return timed_out(call.read_timeout);
    }
    for cause in chain(error) {
        match cause.downcast_ref() {
            Some(ConnectError::Timeout) => {
                return FetchErrorKind::ConnectTimeout {
                    seconds: call.connection.timeout.as_secs_f64().to_string(),
                };
            }
            Some(ConnectError::Failed(error)) => {
                return FetchErrorKind::Connect {
                    reason: causes(error.as_ref()),
                };
            }
            None => {}
        }
    }
    FetchErrorKind::Transfer {
        reason: causes(error),
    }
}

fn timed_out(after: Duration) -> FetchErrorKind {
    FetchErrorKind::ReadTimeout {
        seconds: after.as_secs_f64().to_string(),
    }
}

/// Was the connection closed before the response came?
fn is_closed(error: &(dyn Error + 'static)) -> bool {
    if chain(error).any(|cause| cause.is::<ConnectError>()) {
        return false;
    }
    chain(error).any(|cause| {
        cause.downcast_ref::<hyper::Error>().is_some_and(|error| {
            error.is_incomplete_message() || error.is_closed() || error.is_canceled()
        }) || cause.downcast_ref::<io::Error>().is_some_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
            )
        })
    })
}

/// An error and its causes, on one line.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = chain(error).map(ToString::to_string).collect();
    // Some errors repeat their cause.
    texts.dedup();
    texts.join(": ")
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}
