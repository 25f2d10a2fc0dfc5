//! One fetch: a request → the document of a server, within bounds of time and size.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hiera_resolver::data::{self, Texts};
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hiera_resolver::{Value, json};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_ENCODING;
use hyper::{Request, Response, StatusCode};
use hyper_util::client::legacy::connect::capture_connection;
use tokio::time::timeout;

use super::call::{Call, Output};
use super::connect::{Client, ConnectError};
use super::error::{Fault, FetchError};
use super::{Fetched, Inner, address};

/// Bytes of an answer that nobody wants which are read all the same, so that its connection can be used again.
const MAX_DRAINED: usize = 64 * 1024;
/// How long that may take.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// What a server has.
#[derive(Clone)]
pub(super) struct Document {
    /// Its contents; `None` where it has nothing.
    pub(super) value: Option<Value>,
    /// Bytes it came in.
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

/// Fetches the document that a request asks for.
pub(super) async fn fetch(inner: &Inner, request: &RemoteRequest) -> Fetched {
    try_fetch(inner, request).await.map_err(|fault| FetchError {
        uri: address::shown(&request.uri),
        fault,
    })
}

async fn try_fetch(inner: &Inner, request: &RemoteRequest) -> Result<Document, Fault> {
    let call = Call::check(request)?;
    let _slot = timeout(call.connection.timeout, inner.slots.acquire())
        .await
        .map_err(|_| Fault::Busy)?
        .map_err(|_| Fault::CutOff)?;
    let client = inner.clients.client(&call.connection).await?;
    let getting = get(&client, &call, inner.settings.max_document_size);
    let body = timeout(call.timeout(), getting)
        .await
        .map_err(|_| read_timeout(call.timeout()))??;
    let Some(body) = body else {
        return Ok(Document {
            value: None,
            size: 0,
        });
    };
    let size = body.len();
    // A large document takes its time, which other tasks would miss.
    let value = tokio::task::spawn_blocking(move || read(call.output, &body))
        .await
        .map_err(|_| Fault::CutOff)??;
    Ok(Document { value, size })
}

/// The body of the answer; `None` where the server says that there is nothing.
async fn get(client: &Client, call: &Call, limit: usize) -> Result<Option<Bytes>, Fault> {
    let response = match send(client, call).await {
        // The server may close a kept connection just when it is used again. Ruby tries once more, too.
        Err(error) if is_closed(error.as_ref()) => send(client, call).await,
        sent => sent,
    }
    .map_err(|error| fault_of(error.as_ref(), call))?;
    let status = response.status();
    let encoding = response.headers().get(CONTENT_ENCODING);
    let is_encoded =
        encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if !status.is_success() {
        drain(response.into_body()).await;
        // Puppet: lookup_http does not follow redirections either.
        return match status {
            StatusCode::NOT_FOUND if call.ignores_404 => Ok(None),
            _ => Err(Fault::Status {
                status: status.as_u16(),
            }),
        };
    }
    // These have no body, which Ruby takes for nothing and not for an empty text.
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
        return Ok(None);
    }
    if is_encoded {
        return Err(Fault::ContentEncoding);
    }
    read_body(response.into_body(), call.read_timeout, limit)
        .await
        .map(Some)
}

/// Sends the request and waits for the head of the answer.
async fn send(
    client: &Client,
    call: &Call,
) -> Result<Response<Incoming>, Box<dyn Error + Send + Sync>> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = call.uri.clone();
    *request.headers_mut() = call.headers.clone();
    let mut connection = capture_connection(&mut request);
    let mut answered = std::pin::pin!(client.request(request));
    // The connector minds the time until there is a connection.
    let is_connected = async {
        connection.wait_for_connection_metadata().await;
    };
    tokio::select! {
        response = &mut answered => return Ok(response?),
        () = is_connected => {}
    }
    Ok(timeout(call.read_timeout, answered).await??)
}

async fn read_body(mut body: Incoming, patience: Duration, limit: usize) -> Result<Bytes, Fault> {
    let too_large = Fault::TooLarge { limit };
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(too_large);
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = timeout(patience, body.frame())
        .await
        .map_err(|_| read_timeout(patience))?
    {
        let frame = frame.map_err(|error| Fault::Transfer {
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

/// Reads what is left of an answer if it is short, so that its connection can be used again.
async fn drain(body: Incoming) {
    // Whatever comes of it, the connection is closed if there is more.
    drop(timeout(DRAIN_TIMEOUT, read_body(body, DRAIN_TIMEOUT, MAX_DRAINED)).await);
}

/// Makes a value of a body. Nothing at all is no value, as for hiera_http.
fn read(output: Output, body: &[u8]) -> Result<Option<Value>, Fault> {
    let mut texts = Texts::default();
    let text = || std::str::from_utf8(body).map_err(|_| Fault::NotUtf8);
    let value = match output {
        Output::Json => {
            json::parse(text()?.as_bytes(), &mut |text| texts.value(text)).map_err(Fault::Json)?
        }
        // Puppet: an empty document is `false` in Puppet 7 and nothing in Puppet 8.
        Output::Yaml => data::read_yaml(body, &mut texts)
            .map_err(Fault::Yaml)?
            .unwrap_or_default(),
        Output::Plain => texts.value(text()?),
    };
    Ok(match value {
        Value::Null => None,
        value => Some(value),
    })
}

fn fault_of(error: &(dyn Error + 'static), call: &Call) -> Fault {
    if error.is::<tokio::time::error::Elapsed>() {
        return read_timeout(call.read_timeout);
    }
    for cause in chain(error) {
        match cause.downcast_ref() {
            Some(ConnectError::Timeout) => {
                return Fault::ConnectTimeout {
                    seconds: call.connection.timeout.as_secs_f64().to_string(),
                };
            }
            Some(ConnectError::Failed(error)) => {
                return Fault::Connect {
                    reason: causes(error.as_ref()),
                };
            }
            None => {}
        }
    }
    Fault::Transfer {
        reason: causes(error),
    }
}

fn read_timeout(patience: Duration) -> Fault {
    Fault::ReadTimeout {
        seconds: patience.as_secs_f64().to_string(),
    }
}

/// Was the connection closed before the answer came?
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

/// An error and what caused it, on one line.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = chain(error).map(ToString::to_string).collect();
    // Some repeat their cause.
    texts.dedup();
    texts.join(": ")
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}
