//! Connections: a client, with its pool, for each set of connection options.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client as PooledClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::time::Instant;
use tower::Service;

use super::call::{Connection, TlsOptions};
use super::error::Fault;

/// Sends requests over connections that it keeps.
pub(super) type Client = PooledClient<Connector, Empty<Bytes>>;

/// How long certificates are used before they are read again, since others renew them.
const CLIENT_TTL: Duration = Duration::from_secs(60);
/// Clients at the same time. There are as many as levels with different options, unless facts are in those.
const MAX_CLIENTS: usize = 64;
/// How long a connection is kept without use. Servers close theirs after a minute or so.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Connections to one server that are kept without use.
const MAX_IDLE: usize = 32;

/// Where systems keep the certificates they trust: Debian, Fedora, SUSE, Alpine.
const SYSTEM_CERTIFICATES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The clients, by what their connections have in common.
#[derive(Default)]
pub(super) struct Clients {
    known: Mutex<HashMap<Connection, (Client, Instant)>>,
}

impl Clients {
    /// The client for a kind of connection.
    pub(super) async fn client(&self, connection: &Connection) -> Result<Client, Fault> {
        let now = Instant::now();
        if let Some((client, since)) = self.known().get(connection)
            && (connection.tls.is_none() || now.duration_since(*since) < CLIENT_TTL)
        {
            return Ok(client.clone());
        }
        let wanted = connection.clone();
        // It reads files.
        let client = tokio::task::spawn_blocking(move || client(&wanted))
            .await
            .map_err(|_| Fault::CutOff)??;
        let mut known = self.known();
        if known.len() >= MAX_CLIENTS {
            known.clear();
        }
        known.insert(connection.clone(), (client.clone(), now));
        Ok(client)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Connection, (Client, Instant)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn client(connection: &Connection) -> Result<Client, Fault> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let config = tls_config(connection.tls.as_ref())?;
    let connector = Connector {
        inner: HttpsConnector::from((http, config)),
        timeout: connection.timeout,
    };
    Ok(PooledClient::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .build(connector))
}

/// Connects within a time, TLS included.
#[derive(Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    timeout: Duration,
}

/// Why there is no connection.
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

/// How TLS is spoken. Where it is not, nobody is trusted.
fn tls_config(options: Option<&TlsOptions>) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let unusable = |error: rustls::Error| Fault::Tls {
        reason: error.to_string(),
    };
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let Some(options) = options else {
        return Ok(builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth());
    };
    let builder = if options.verify {
        builder.with_root_certificates(trusted(options)?)
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    };
    match own_certificate(options)? {
        None => Ok(builder.with_no_client_auth()),
        Some((certificates, key)) => builder
            .with_client_auth_cert(certificates, key)
            .map_err(unusable),
    }
}

/// Who may sign a server's certificate.
fn trusted(options: &TlsOptions) -> Result<RootCertStore, Fault> {
    let mut trusted = RootCertStore::empty();
    // Puppet: lookup_http takes `ssl_ca_cert` only together with `ssl_cert`, and only its first certificate.
    if let Some(path) = &options.ca_cert {
        let fault = |reason: String| Fault::File {
            option: "ssl_ca_cert",
            path: path.clone(),
            reason,
        };
        for certificate in certificates("ssl_ca_cert", path)? {
            trusted
                .add(certificate)
                .map_err(|error| fault(error.to_string()))?;
        }
        if trusted.is_empty() {
            return Err(fault("holds no certificate".to_owned()));
        }
        return Ok(trusted);
    }
    let path = SYSTEM_CERTIFICATES
        .into_iter()
        .find(|path| Path::new(path).exists())
        .ok_or_else(|| Fault::Tls {
            reason: "the system has no certificates to trust, so `ssl_ca_cert` must name some"
                .to_owned(),
        })?;
    // Systems carry some that are too old to be understood.
    trusted.add_parsable_certificates(certificates("ssl_ca_cert", path)?);
    Ok(trusted)
}

/// The client's own certificates and its key.
fn own_certificate(
    options: &TlsOptions,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, Fault> {
    let (cert, key) = match (&options.cert, &options.key) {
        (None, None) => return Ok(None),
        // One file may hold both.
        (Some(both), None) | (None, Some(both)) => (both, both),
        (Some(cert), Some(key)) => (cert, key),
    };
    // lookup_http takes the key from `ssl_cert` and the certificate from `ssl_key`, so that they only work
    // there when exchanged. Either way is understood.
    let mut found = certificates("ssl_cert", cert)?;
    if found.is_empty() {
        found = certificates("ssl_key", key)?;
    }
    if found.is_empty() {
        return Err(Fault::File {
            option: "ssl_cert",
            path: cert.clone(),
            reason: "holds no certificate".to_owned(),
        });
    }
    let key = PrivateKeyDer::from_pem_file(key)
        .or_else(|_| PrivateKeyDer::from_pem_file(cert))
        .map_err(|_| Fault::File {
            option: "ssl_key",
            path: key.clone(),
            reason: "holds no key that can be read".to_owned(),
        })?;
    Ok(Some((found, key)))
}

fn certificates(option: &'static str, path: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| Fault::File {
            option,
            path: path.to_owned(),
            reason: error.to_string(),
        })
}

/// Takes any certificate: `ssl_verify: false`.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
