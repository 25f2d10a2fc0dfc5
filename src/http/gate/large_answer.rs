//! Answers that occupy the server for as long as their client likes: large ones, and event streams.
//!
//! A large answer takes a share of the bytes in flight until the last of them is sent or dropped. An event stream is one
//! of a limited number, and ends when it has reached its maximum age.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::http::header;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use super::client_quota::{Client, ClientShare};
use crate::http::App;
use crate::http::error::ApiError;
use crate::metrics::Refusal;

/// Are these server-sent events?
pub(super) fn is_event_stream(response: &Response) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// Counts the bytes of a large answer; an error if there are too many in flight.
pub(super) fn count_bytes(
    app: &App,
    client: Option<Client>,
    response: Response,
) -> Result<Response, ApiError> {
    // Only answers that are produced while they are sent have no exact size, and those are not in memory.
    let size = response.body().size_hint().exact().unwrap_or(0);
    let quota = &app.in_flight.answer_bytes;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let share = quota.take(client, size);
    let share = share.map_err(|excess| app.overloaded(Refusal::AnswerBytes, excess))?;
    let share = Arc::new(share);
    Ok(response.map(|body| Body::new(CountedBody { body, share })))
}

/// Limits the age of an event stream; an error if there are too many.
pub(super) fn limit_stream(
    app: &App,
    client: Option<Client>,
    response: Response,
) -> Result<Response, ApiError> {
    let quota = &app.in_flight.event_streams;
    let share = quota.take(client, 1);
    let share = share.map_err(|excess| app.overloaded(Refusal::EventStreams, excess))?;
    let end = Box::pin(tokio::time::sleep(app.in_flight.event_stream_max_age));
    Ok(response.map(|body| {
        Body::new(LimitedStream {
            body,
            end,
            _share: share,
        })
    }))
}

/// A body whose bytes are counted.
struct CountedBody {
    body: Body,
    share: Arc<ClientShare>,
}

/// The connection drops a body as soon as it has all of its bytes, but the bytes only when they are sent.
struct CountedBytes {
    bytes: Bytes,
    _share: Arc<ClientShare>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let counted = |bytes| {
                Bytes::from_owner(CountedBytes {
                    bytes,
                    _share: self.share.clone(),
                })
            };
            frame.map(|frame| frame.map_data(counted))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that ends at a certain time.
struct LimitedStream {
    body: Body,
    end: Pin<Box<Sleep>>,
    _share: ClientShare,
}

impl HttpBody for LimitedStream {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::config::{ConnectionSettings, Limits};
    use crate::environments::Environments;
    use crate::http::error::ErrorKind;

    fn app(settings: &ConnectionSettings) -> App {
        App::new(Environments::new(), Limits::default()).with_connections(settings)
    }

    #[tokio::test]
    async fn bytes_are_counted_until_the_last_of_them_is_dropped() {
        let app = app(&ConnectionSettings {
            max_answer_bytes_in_flight: 100,
            ..ConnectionSettings::default()
        });
        let answer = || count_bytes(&app, None, Response::new(Body::from(vec![b'x'; 60])));
        let mut first = answer().unwrap();
        assert_eq!(first.body().size_hint().exact(), Some(60));
        assert_eq!(answer().unwrap_err().kind(), ErrorKind::Overloaded);
        let bytes = first
            .body_mut()
            .frame()
            .await
            .unwrap()
            .unwrap()
            .into_data()
            .unwrap();
        assert_eq!(bytes, [b'x'; 60].as_slice());
        // As a connection does: it still has to send the bytes.
        drop(first);
        assert!(answer().is_err());
        drop(bytes);
        assert!(answer().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_at_its_maximum_age_and_makes_room() {
        let app = app(&ConnectionSettings {
            max_event_streams: 1,
            event_stream_max_age_s: 5,
            ..ConnectionSettings::default()
        });
        let never = || Body::from_stream(tokio_stream::pending::<Result<Bytes, axum::Error>>());
        let stream = || limit_stream(&app, None, Response::new(never()));
        let start = tokio::time::Instant::now();
        let mut first = stream().unwrap();
        assert_eq!(stream().unwrap_err().kind(), ErrorKind::Overloaded);
        assert!(first.body_mut().frame().await.is_none());
        assert_eq!(start.elapsed(), Duration::from_secs(5));
        drop(first);
        assert!(stream().is_ok());
    }
}
