//! Servers for tests: one that works, and some that misbehave.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

pub(super) type Answer = Response<Full<Bytes>>;

/// Serves until it is stopped or dropped.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    hits: AtomicUsize,
    connections: AtomicUsize,
}

pub(super) fn answer(status: u16, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status.try_into().unwrap();
    response
}

impl Server {
    pub(super) async fn start(
        handler: impl Fn(Request<Incoming>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start_at(([127, 0, 0, 1], 0).into(), handler).await
    }

    pub(super) async fn start_at(
        address: SocketAddr,
        handler: impl Fn(Request<Incoming>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(address, None, handler).await
    }

    pub(super) async fn start_with(
        address: SocketAddr,
        tls: Option<TlsAcceptor>,
        handler: impl Fn(Request<Incoming>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let (handler, counted) = (Arc::new(handler), counts.clone());
        let task = tokio::spawn(async move {
            // Ends with the task, and every connection with it.
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.connections.fetch_add(1, Ordering::SeqCst);
                let (handler, counted, tls) = (handler.clone(), counted.clone(), tls.clone());
                connections.spawn(async move {
                    match tls {
                        None => serve(stream, handler, counted).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, handler, counted).await;
                            }
                        }
                    }
                });
            }
        });
        Server {
            address,
            counts,
            task,
        }
    }

    pub(super) fn uri(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn hits(&self) -> usize {
        self.counts.hits.load(Ordering::SeqCst)
    }

    pub(super) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    pub(super) async fn stop(mut self) {
        self.task.abort();
        assert!((&mut self.task).await.unwrap_err().is_cancelled());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<H>(stream: impl AsyncRead + AsyncWrite + Unpin, handler: Arc<H>, counts: Arc<Counts>)
where
    H: Fn(Request<Incoming>) -> Answer,
{
    let service = service_fn(|request| {
        counts.hits.fetch_add(1, Ordering::SeqCst);
        let response = handler(request);
        async move { Ok::<_, io::Error>(response) }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // Clients may disconnect at any time.
    drop(connection.await);
}

/// Sends these bytes after each request head, then hangs or closes.
pub(super) async fn raw_server(bytes: &[u8], hangs: bool) -> SocketAddr {
    let bytes = bytes.to_vec();
    start_raw(move |mut stream| {
        let bytes = bytes.clone();
        async move {
            read_head(&mut stream).await;
            stream.write_all(&bytes).await?;
            if hangs {
                std::future::pending::<()>().await;
            }
            stream.shutdown().await
        }
    })
    .await
}

/// Sends a byte at a time, endlessly.
pub(super) async fn drip(pause: Duration) -> SocketAddr {
    start_raw(move |mut stream| async move {
        read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            .await?;
        loop {
            stream.write_all(b"x").await?;
            tokio::time::sleep(pause).await;
        }
    })
    .await
}

/// Answers once on each connection, leaves it open, and closes it when the next request comes.
pub(super) async fn one_answer_each() -> SocketAddr {
    start_raw(|mut stream| async move {
        read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .await?;
        read_head(&mut stream).await;
        Ok(())
    })
    .await
}

/// Answers each request once released.
pub(super) struct HeldServer {
    pub(super) address: SocketAddr,
    arrived: Arc<AtomicUsize>,
    release: watch::Sender<bool>,
}

impl HeldServer {
    pub(super) async fn start() -> Self {
        let arrived = Arc::new(AtomicUsize::new(0));
        let (release, released) = watch::channel(false);
        let counted = arrived.clone();
        let address = start_raw(move |mut stream| {
            let (counted, mut released) = (counted.clone(), released.clone());
            async move {
                read_head(&mut stream).await;
                counted.fetch_add(1, Ordering::SeqCst);
                // The sender may be gone already.
                _ = released.wait_for(|released| *released).await;
                let answer =
                    b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nheld";
                stream.write_all(answer).await
            }
        })
        .await;
        HeldServer {
            address,
            arrived,
            release,
        }
    }

    pub(super) fn uri(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests that have arrived so far.
    pub(super) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }

    pub(super) fn release(&self) {
        self.release.send_replace(true);
    }
}

async fn start_raw<F>(talk: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(talk(stream));
        }
    });
    address
}

async fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
}

/// An address on which nothing listens.
pub(super) async fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}

/// What this thread has logged since [`Log::start`].
#[derive(Debug)]
pub(super) struct Log(());

thread_local! {
    static LOGGED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

impl Log {
    /// Starts to keep what this thread logs. The subscriber is that of all threads: with one for each, a log line that
    /// another thread reaches first can be disabled for all of them.
    pub(super) fn start() -> Self {
        static SUBSCRIBER: Once = Once::new();
        SUBSCRIBER.call_once(|| {
            let subscriber = tracing_subscriber::fmt()
                .with_writer(|| LogWriter)
                .with_ansi(false);
            tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
        });
        LOGGED.set(Some(Vec::new()));
        Log(())
    }

    pub(super) fn text(&self) -> String {
        let logged = LOGGED.with_borrow(Clone::clone);
        String::from_utf8(logged.unwrap_or_default()).unwrap()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        LOGGED.set(None);
    }
}

struct LogWriter;

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED.with_borrow_mut(|logged| {
            if let Some(logged) = logged {
                logged.extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
