//! Connections: one pool for each set of [`ConnectionOptions`].

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;
use tower::Service;

use super::call::ConnectionOptions;
use super::error::FetchErrorKind;
use super::tls;

/// Sends requests over pooled connections.
pub(super) type PooledClient = Client<Connector, Empty<Bytes>>;

/// How long a client with TLS is used before its certificates are read again, since they are renewed on disk.
const TLS_CLIENT_TTL: Duration = Duration::from_secs(60);
/// The most clients to keep: one for each set of options. Options with facts in them have no limit of their own.
const MAX_CLIENTS: usize = 64;
/// How long an idle connection is kept. Servers usually close theirs after a minute.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Idle connections to keep for each server.
const MAX_IDLE: usize = 32;

/// The clients, by options, each with the time it was made.
type Clients = HashMap<ConnectionOptions, (PooledClient, Instant)>;

/// A client, with its pool, for each set of options.
#[derive(Default)]
pub(super) struct ConnectionPools {
    clients: Mutex<Clients>,
}

impl ConnectionPools {
    /// The client for a set of options.
    pub(super) async fn client(
        &self,
        options: &ConnectionOptions,
    ) -> Result<PooledClient, FetchErrorKind> {
        let now = Instant::now();
        if let Some((client, made_at)) = self.clients().get(options)
            && (options.tls.is_none() || now.duration_since(*made_at) < TLS_CLIENT_TTL)
        {
            return Ok(client.clone());
        }
        let owned = options.clone();
        // Reads certificate files.
        let client = tokio::task::spawn_blocking(move || new_client(&owned))
            .await
            .map_err(|_| FetchErrorKind::Interrupted)??;
        let mut clients = self.clients();
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(options.clone(), (client.clone(), now));
        Ok(client)
    }

    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_client(options: &ConnectionOptions) -> Result<PooledClient, FetchErrorKind> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let config = tls::client_config(options.tls.as_ref())?;
    let connector = Connector {
        inner: HttpsConnector::from((http, config)),
        timeout: options.timeout,
    };
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .build(connector))
}

/// Connects within a timeout, including the TLS handshake.
#[derive(Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    timeout: Duration,
}

/// Why a connection failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("timed out")]
    Timeout,
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl Service<Uri> for Connector {
    type Response = <HttpsConnector<HttpConnector> as Service<Uri>>::Response;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.inner.poll_ready(context).map_err(ConnectError::Failed)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connected = self.inner.call(uri);
        let timeout = self.timeout;
        Box::pin(async move {
            match tokio::time::timeout(timeout, connected).await {
                Ok(connected) => connected.map_err(ConnectError::Failed),
                Err(_) => Err(ConnectError::Timeout),
            }
        })
    }
}
