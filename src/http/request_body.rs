//! The bytes of a request's body, read within its limits of size and time.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use axum::body::HttpBody;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use super::App;
use super::error::{ApiError, ErrorKind};
use super::gate::{BodyBytes, Client};

/// The body of a request: from a connection, or from the router, which wraps it.
pub(crate) trait RequestBody: HttpBody<Data = Bytes, Error: Display> {}

impl<B: HttpBody<Data = Bytes, Error: Display>> RequestBody for B {}

/// Reads a body of JSON.
pub(crate) async fn read_json_body(
    headers: &HeaderMap,
    body: impl RequestBody,
    app: &App,
    client: Option<Client>,
) -> Result<Bytes, ApiError> {
    check_content_type(headers)?;
    let mut buffer = BodyBuffer::new(app);
    let mut body = pin!(body);
    // The declared size is enough to reject it: a client that waits for `100 Continue` need not send the body.
    if body.size_hint().lower() > u64::try_from(buffer.max_size).unwrap_or(u64::MAX) {
        return Err(buffer.too_large());
    }
    // Nearly always the whole body has arrived: no timer is needed, and nothing has to be kept for long.
    let first = {
        let mut reading = pin!(buffer.read(body.as_mut()));
        poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await
    };
    match first {
        Poll::Ready(read) => read?,
        Poll::Pending => {
            buffer.count(client)?;
            let timeout = app.limits.request_timeout();
            let read = tokio::time::timeout(timeout, buffer.read(body)).await;
            read.unwrap_or_else(|_| {
                Err(ApiError::new(
                    ErrorKind::RequestTimeout,
                    "the body did not arrive in time",
                ))
            })?;
        }
    }
    Ok(buffer.into_bytes())
}

/// The part of a body that has arrived.
struct BodyBuffer<'a> {
    app: &'a App,
    max_size: usize,
    /// A single frame, which is nearly always all there is, is returned as it came.
    first: Bytes,
    /// Several frames, copied together.
    gathered: BytesMut,
    /// The share of the bytes in flight, once the rest has to be waited for.
    share: Option<BodyBytes<'a>>,
}

impl<'a> BodyBuffer<'a> {
    fn new(app: &'a App) -> Self {
        BodyBuffer {
            app,
            max_size: app.limits.max_body_size,
            first: Bytes::new(),
            gathered: BytesMut::new(),
            share: None,
        }
    }

    fn len(&self) -> usize {
        self.first.len().max(self.gathered.len())
    }

    fn too_large(&self) -> ApiError {
        let detail = format!("the body is larger than {} bytes", self.max_size);
        ApiError::new(ErrorKind::BodyTooLarge, detail)
    }

    /// Counts what has arrived, and from now on what arrives, as bytes in flight.
    fn count(&mut self, client: Option<Client>) -> Result<(), ApiError> {
        self.share = Some(BodyBytes::count(self.app, client, self.len())?);
        Ok(())
    }

    /// Reads to the end of the body. If it is dropped, it can be called again.
    async fn read<B: RequestBody>(&mut self, mut body: Pin<&mut B>) -> Result<(), ApiError> {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                ApiError::bad_request(format!("the body could not be read: {error}"))
            })?;
            if let Ok(data) = frame.into_data() {
                self.push(data)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, data: Bytes) -> Result<(), ApiError> {
        if self.len() + data.len() > self.max_size {
            return Err(self.too_large());
        }
        if let Some(share) = &mut self.share {
            share.count_more(data.len())?;
        }
        if self.first.is_empty() {
            self.first = data;
            return Ok(());
        }
        if self.gathered.is_empty() {
            self.gathered.extend_from_slice(&self.first);
        }
        self.gathered.extend_from_slice(&data);
        Ok(())
    }

    fn into_bytes(self) -> Bytes {
        match self.gathered.is_empty() {
            true => self.first,
            false => self.gathered.freeze(),
        }
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    // A web page of another server can send any other type without asking the browser first.
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Err(ApiError::new(
            ErrorKind::UnsupportedMediaType,
            "there is no content type; send `Content-Type: application/json`",
        ));
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
    use axum::http::HeaderValue;
    use tokio_stream::{Stream, StreamExt as _};

    use super::*;

    use crate::config::{ConnectionSettings, Limits};
    use crate::environments::Environments;

    fn app(max_body_size: usize, max_body_bytes_in_flight: usize) -> App {
        let limits = Limits {
            max_body_size,
            ..Limits::default()
        };
        let settings = ConnectionSettings {
            max_body_bytes_in_flight,
            ..ConnectionSettings::default()
        };
        App::new(Environments::new(), limits).with_connections(&settings)
    }

    async fn read(body: Body, app: &App) -> Result<Bytes, ApiError> {
        let json = HeaderValue::from_static("application/json");
        let headers = [(header::CONTENT_TYPE, json)].into_iter().collect();
        read_json_body(&headers, body, app, None).await
    }

    /// A body that arrives letter by letter.
    fn pieces(text: &str) -> impl Stream<Item = Result<String, Infallible>> + use<> {
        let pieces: Vec<_> = text.chars().map(|letter| Ok(letter.to_string())).collect();
        tokio_stream::iter(pieces)
    }

    #[tokio::test]
    async fn a_body_in_pieces_is_read_whole_and_within_its_limit() {
        let app = app(6, 0);
        for text in ["", "a", "ab", "abcdef"] {
            let body = Body::from_stream(pieces(text));
            assert_eq!(read(body, &app).await.unwrap(), text);
        }
        let body = Body::from_stream(pieces("abcdefg"));
        assert!(read(body, &app).await.is_err());
        assert!(read(Body::from("abcdefg"), &app).await.is_err());
    }

    #[tokio::test]
    async fn bodies_that_are_waited_for_share_a_limit() {
        let app = app(100, 6);
        let (more, rest) = tokio::sync::mpsc::channel::<Result<String, Infallible>>(1);
        let rest = tokio_stream::wrappers::ReceiverStream::new(rest);
        let waiting = Body::from_stream(pieces("abcd").chain(rest));
        let mut waiting = pin!(read(waiting, &app));
        let first = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
        assert!(first.is_pending());
        // Whatever has arrived completely does not count.
        assert!(
            read(Body::from_stream(pieces("abcdefghi")), &app)
                .await
                .is_ok()
        );
        let never = tokio_stream::pending::<Result<String, Infallible>>();
        let other = Body::from_stream(pieces("xyz").chain(never));
        let refused = read(other, &app).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Overloaded);
        more.send(Ok("ef".to_owned())).await.unwrap();
        drop(more);
        assert_eq!(waiting.await.unwrap(), "abcdef");
        // Its bytes are no longer in flight.
        assert!(BodyBytes::count(&app, None, 6).is_ok());
    }

    #[tokio::test]
    async fn a_body_without_a_content_type_is_refused() {
        let body = Body::from("{}");
        let refused = read_json_body(&HeaderMap::new(), body, &app(6, 0), None).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::UnsupportedMediaType);
    }
}
