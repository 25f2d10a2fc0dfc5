//! [`Acceptor`]: accepts connections within their limits, and turns the others away.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::http::{App, Client, ClientShare, Excess, describe_excess};
use crate::metrics::Refusal;

/// The size of the send buffer of a connection, which the system doubles. By default it grows to some megabytes: clients
/// that read nothing would fill the memory of the system, and it would take a slow one minutes to make room, during
/// which nothing seems to happen.
const SEND_BUFFER: usize = 128 * 1024;

/// How many connections that were turned away are waited for, and for how long.
const MAX_CLOSING: usize = 16;
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// How long to wait if the system cannot accept a connection.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The time between two log lines of the same kind.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Accepts connections.
#[derive(Debug)]
pub(super) struct Acceptor {
    listener: TcpListener,
    app: App,
    closing: Arc<Semaphore>,
    refusals: RareLog,
    failures: RareLog,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct OpenConnection {
    pub(super) stream: TcpStream,
    pub(super) client: Client,
    /// Counts it for as long as it is open.
    pub(super) share: ClientShare,
}

/// Listens on an address.
pub(super) async fn listen(address: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on `{address}`"))?;
    let local = listener
        .local_addr()
        .context("cannot determine the address")?;
    // Connections inherit it.
    if let Err(error) = set_socket_send_buffer_size(&listener, SEND_BUFFER) {
        tracing::debug!("cannot set the size of send buffers: {error}");
    }
    Ok((listener, local))
}

impl Acceptor {
    pub(super) fn new(listener: TcpListener, app: App) -> Self {
        Acceptor {
            listener,
            app,
            closing: Arc::new(Semaphore::new(MAX_CLOSING)),
            refusals: RareLog::default(),
            failures: RareLog::default(),
        }
    }

    /// The next connection. If the future is dropped, no connection is lost.
    pub(super) async fn next(&mut self) -> OpenConnection {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    let client = Client::from(address.ip());
                    match self.app.connections().take(Some(client), 1) {
                        Ok(share) => {
                            return OpenConnection {
                                stream,
                                client,
                                share,
                            };
                        }
                        Err(excess) => self.refuse(stream, address, excess),
                    }
                }
                Err(error) if is_of_one_connection(&error) => {
                    tracing::debug!("cannot accept a connection: {error}");
                }
                Err(error) => {
                    // Probably out of file descriptors; waiting lets other connections close.
                    if self.failures.count().is_some() {
                        tracing::warn!(
                            "cannot accept connections: {error}; serving those that are open"
                        );
                    }
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    fn refuse(&mut self, stream: TcpStream, address: SocketAddr, excess: Excess) {
        let reason = match excess {
            Excess::OfAll(_) => Refusal::Connections,
            Excess::OfClient(_) => Refusal::ConnectionsPerAddress,
        };
        let response = self.app.refuse_connection(reason, excess);
        self.turn_away(stream, &response);
        if let Some(count) = self.refusals.count() {
            tracing::warn!(
                "refused {count} connections, the last one from {}: too many {}",
                address.ip(),
                describe_excess(reason, excess)
            );
        }
    }

    /// Sends a response and closes the connection.
    ///
    /// A connection that is closed before its request has been read is reset, and the response may be lost. So the client
    /// gets some time to close its side first, unless there are too many of these.
    fn turn_away(&self, stream: TcpStream, response: &[u8]) {
        // An error means that the client is gone.
        let Ok(stream) = send_and_close(stream, response) else {
            return;
        };
        let Ok(permit) = self.closing.clone().try_acquire_owned() else {
            return;
        };
        tokio::spawn(async move {
            // After the time, the connection is closed like after an error.
            _ = tokio::time::timeout(CLOSE_TIME, discard(stream)).await;
            drop(permit);
        });
    }
}

/// Sends a response and closes the sending side, without waiting. Returns the other side.
fn send_and_close(stream: TcpStream, response: &[u8]) -> io::Result<std::net::TcpStream> {
    // The runtime does not know yet that it can write.
    let mut stream = stream.into_std()?;
    // It fits into the empty send buffer.
    stream.write_all(response)?;
    stream.shutdown(Shutdown::Write)?;
    // Nearly always the request is already there.
    match stream.read(&mut [0; 4 * 1024]) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(stream),
    }
}

/// Reads until the client has closed its side.
async fn discard(stream: std::net::TcpStream) -> io::Result<()> {
    let stream = TcpStream::from_std(stream)?;
    let mut discarded = [0; 4 * 1024];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut discarded) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
}

/// Has the client given up, so that the next connection may be fine?
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

/// Counts something that may happen often, so that it is logged once in a while.
#[derive(Debug, Default)]
struct RareLog {
    count: u64,
    last: Option<Instant>,
}

impl RareLog {
    /// Counts once. If it is time for a log line, returns the number since the last one.
    fn count(&mut self) -> Option<u64> {
        self.count += 1;
        if self.last.is_some_and(|last| last.elapsed() < LOG_INTERVAL) {
            return None;
        }
        self.last = Some(Instant::now());
        Some(std::mem::take(&mut self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_log_reports_the_first_time_only() {
        let mut log = RareLog::default();
        assert_eq!(log.count(), Some(1));
        assert_eq!((log.count(), log.count()), (None, None));
        log.last = Instant::now().checked_sub(LOG_INTERVAL);
        assert_eq!(log.count(), Some(3));
    }
}
