//! [`InspectedStream`]: a connection whose requests are checked before hyper sees them.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::request_framing::RequestFraming;
use crate::http::HeadFault;

/// What hyper gets instead of a line with a fault. It is no part of any head, so hyper refuses the request by itself, in
/// the order of the requests before.
const INVALID_LINE: &[u8] = b"\0\r\n\r\n";

/// A connection whose requests are checked.
#[derive(Debug)]
pub(super) struct InspectedStream {
    tcp: TcpStream,
    framing: RequestFraming,
    fault: Option<HeadFault>,
    /// What hyper still has to get of the invalid line.
    invalid_line: &'static [u8],
}

impl InspectedStream {
    pub(super) fn new(tcp: TcpStream) -> Self {
        InspectedStream {
            tcp,
            framing: RequestFraming::default(),
            fault: None,
            invalid_line: INVALID_LINE,
        }
    }

    pub(super) fn tcp(&mut self) -> &mut TcpStream {
        &mut self.tcp
    }

    /// What is wrong with the last head, if anything is.
    pub(super) fn fault(&self) -> Option<HeadFault> {
        self.fault
    }

    /// The size of the last request line, or of the part that has arrived.
    pub(super) fn request_line_size(&self) -> usize {
        self.framing.request_line_size()
    }

    /// Has every request that has begun also arrived?
    pub(super) fn is_between_requests(&self) -> bool {
        self.fault.is_none() && self.framing.is_between_requests()
    }

    fn put_invalid_line(&mut self, buffer: &mut ReadBuf<'_>) {
        let count = buffer.remaining().min(self.invalid_line.len());
        if let Some((now, later)) = self.invalid_line.split_at_checked(count) {
            buffer.put_slice(now);
            self.invalid_line = later;
        }
    }
}

impl AsyncRead for InspectedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.fault.is_none() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.tcp).poll_read(context, buffer))?;
            let new = buffer.filled().get(before..).unwrap_or_default();
            let Err(at) = self.framing.read(new) else {
                return Poll::Ready(Ok(()));
            };
            self.fault = Some(at.fault);
            buffer.set_filled(before + at.offset);
        }
        // Once the invalid line is out, nothing is read: for hyper, this is the end.
        self.put_invalid_line(buffer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for InspectedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
