//! [`ClientStream`]: a connection whose error responses reach the client, and whose client has to read its answers.
//!
//! hyper answers an invalid head with a bare status, and closes a connection whose request it has not read completely.
//! Closing with unread input resets the connection, and a client that is still sending never sees the response. Here bare
//! statuses become problem documents, and after an error, input is read and discarded for a while.
//!
//! If a client reads nothing for some time while there is something to send, the connection is reset. A client that reads
//! slowly is no problem: whenever it makes room for more, the time starts again.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Read, ReadBufCursor, Timer as _, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::inspected_stream::InspectedStream;
use super::slow_clock::SlowClock;
use crate::http::{App, RefusedHead};

/// How long input is discarded at most.
const LINGER_TIME: Duration = Duration::from_secs(5);
/// How much input is discarded at most.
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// A connection to a client.
pub(super) struct ClientStream {
    stream: TokioIo<InspectedStream>,
    app: App,
    clock: SlowClock,
    send_timeout: Duration,
    /// Since when the client has not read anything, if there is something to send.
    blocked_since: Option<Instant>,
    /// What is sent instead of the response that hyper is writing, and how many bytes of it have been.
    replacement: Option<(Vec<u8>, usize)>,
    /// The last response is an error and closes the connection.
    has_failed: bool,
    linger: Option<Linger>,
}

/// Input being discarded.
struct Linger {
    end: Pin<Box<Sleep>>,
    bytes_left: usize,
}

impl ClientStream {
    /// The clock must drive the connection, so that a client that reads nothing is noticed.
    pub(super) fn new(
        stream: TcpStream,
        app: App,
        clock: SlowClock,
        send_timeout: Duration,
    ) -> Self {
        ClientStream {
            stream: TokioIo::new(InspectedStream::new(stream)),
            app,
            clock,
            send_timeout,
            blocked_since: None,
            replacement: None,
            has_failed: false,
            linger: None,
        }
    }

    fn inspect_error(&mut self, response: &[u8]) {
        let closes = b"connection: close\r\n";
        self.has_failed = response
            .windows(closes.len())
            .take_while(|window| !window.starts_with(b"\r\n\r\n"))
            .any(|window| window == closes);
        let input = self.stream.inner();
        let refused = RefusedHead {
            fault: input.fault(),
            request_line_size: input.request_line_size(),
        };
        self.replacement = self
            .app
            .replace_refusal(response, &refused)
            .map(|replacement| (replacement, 0));
    }

    /// Watches the progress of a write.
    fn watch(&mut self, write: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if write.is_ready() {
            self.blocked_since = None;
            return write;
        }
        let now = self.clock.now();
        let since = *self.blocked_since.get_or_insert(now);
        if now.saturating_duration_since(since) < self.send_timeout {
            return Poll::Pending;
        }
        self.app.count_send_timeout();
        // What the client has not read is dropped with the connection.
        if let Err(error) = self.stream.inner_mut().tcp().set_zero_linger() {
            tracing::debug!("cannot reset a connection: {error}");
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_write_error(
        &mut self,
        context: &mut Context<'_>,
        response: &[u8],
    ) -> Poll<io::Result<usize>> {
        // After a partial write, hyper calls again with the same response.
        if self.replacement.is_none() {
            self.inspect_error(response);
        }
        let Some((replacement, written)) = &mut self.replacement else {
            return Pin::new(&mut self.stream).poll_write(context, response);
        };
        while let Some(rest) = replacement.get(*written..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => *written += count,
            }
        }
        self.replacement = None;
        Poll::Ready(Ok(response.len()))
    }

    /// Discards input until the client closes its side or a limit is reached.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let linger = self.linger.get_or_insert_with(|| Linger {
            end: Box::pin(tokio::time::sleep(LINGER_TIME)),
            bytes_left: LINGER_BYTES,
        });
        if linger.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut discarded = [0; 8 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut discarded);
            let read = Pin::new(self.stream.inner_mut().tcp()).poll_read(context, &mut buffer);
            let count = buffer.filled().len();
            linger.bytes_left = linger.bytes_left.saturating_sub(count);
            let is_over = ready!(read).is_err() || count == 0 || linger.bytes_left == 0;
            if is_over {
                return Poll::Ready(());
            }
        }
    }
}

/// Is this the start of an error response? Errors may leave input unread.
fn is_error(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            _,
            b' ',
            b'4' | b'5',
            ..
        ]
    )
}

impl Read for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = match is_error(bytes) {
            true => self.poll_write_error(context, bytes),
            false => Pin::new(&mut self.stream).poll_write(context, bytes),
        };
        self.watch(write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = match slices.first() {
            Some(first) if is_error(first) => self.poll_write_error(context, first),
            _ => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
        };
        self.watch(write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        // If the whole request has arrived, there is nothing to discard.
        if self.has_failed && !self.stream.inner().is_between_requests() {
            ready!(self.poll_discard(context));
        }
        Poll::Ready(Ok(()))
    }
}
