//! The bytes of a request's body, read within its limits of size and time.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use axum::body::HttpBody;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use super::error::{ApiError, ErrorKind};
use crate::config::Limits;

/// The body of a request: from a connection, or from the router, which wraps it.
pub(crate) trait RequestBody: HttpBody<Data = Bytes, Error: Display> {}

impl<B: HttpBody<Data = Bytes, Error: Display>> RequestBody for B {}

/// Reads a body of JSON.
pub(crate) async fn read_json_body(
    headers: &HeaderMap,
    body: impl RequestBody,
    limits: &Limits,
) -> Result<Bytes, ApiError> {
    check_content_type(headers)?;
    let mut reading = pin!(collect(body, limits.max_body_size));
    // Nearly always the whole body has arrived, and no timer is needed.
    let first = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await;
    if let Poll::Ready(read) = first {
        return read;
    }
    let read = tokio::time::timeout(limits.request_timeout(), reading).await;
    read.unwrap_or_else(|_| {
        Err(ApiError::new(
            ErrorKind::RequestTimeout,
            "the body did not arrive in time",
        ))
    })
}

async fn collect(body: impl RequestBody, max_size: usize) -> Result<Bytes, ApiError> {
    let too_large = || {
        let detail = format!("the body is larger than {max_size} bytes");
        ApiError::new(ErrorKind::BodyTooLarge, detail)
    };
    // The declared size is enough to reject it: a client that waits for `100 Continue` need not send the body.
    if body.size_hint().lower() > u64::try_from(max_size).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    // A single frame, which is nearly always all there is, is returned as it came; several are copied together.
    let mut first = Bytes::new();
    let mut gathered = BytesMut::new();
    let mut body = pin!(body);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            ApiError::bad_request(format!("the body could not be read: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len().max(gathered.len()) + data.len() > max_size {
            return Err(too_large());
        }
        if first.is_empty() {
            first = data;
            continue;
        }
        if gathered.is_empty() {
            gathered.extend_from_slice(&first);
        }
        gathered.extend_from_slice(&data);
    }
    Ok(match gathered.is_empty() {
        true => first,
        false => gathered.freeze(),
    })
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    // Nearly all clients send exactly this.
    if given == "application/json" {
        return Ok(());
    }
    let media = given
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if media.eq_ignore_ascii_case("application/json")
        || media.to_ascii_lowercase().ends_with("+json")
    {
        return Ok(());
    }
    let detail = format!("the content type is `{media}`; send `Content-Type: application/json`");
    Err(ApiError::new(ErrorKind::UnsupportedMediaType, detail))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;

    use super::*;

    #[tokio::test]
    async fn a_body_in_pieces_is_read_whole_and_within_its_limit() {
        let pieces = |text: &str| {
            let pieces: Vec<_> = text
                .chars()
                .map(|letter| Ok::<_, Infallible>(letter.to_string()))
                .collect();
            Body::from_stream(tokio_stream::iter(pieces))
        };
        for text in ["", "a", "ab", "abcdef"] {
            assert_eq!(collect(pieces(text), 6).await.unwrap(), text);
        }
        assert!(collect(pieces("abcdefg"), 6).await.is_err());
        assert!(collect(Body::from("abcdefg"), 6).await.is_err());
    }
}
