//! TLS to servers: which certificates are trusted, and the client's own.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_native_certs::load_native_certs;

use super::call::TlsOptions;
use super::error::FetchErrorKind;

/// The configuration of TLS. Without options TLS is not used, and no certificate is trusted.
pub(super) fn client_config(options: Option<&TlsOptions>) -> Result<ClientConfig, FetchErrorKind> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let unusable = |error: rustls::Error| FetchErrorKind::Tls {
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
        builder.with_root_certificates(root_certificates(options)?)
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    };
    match client_certificate(options)? {
        None => Ok(builder.with_no_client_auth()),
        Some((certificates, key)) => builder
            .with_client_auth_cert(certificates, key)
            .map_err(unusable),
    }
}

/// The CA certificates that are trusted.
fn root_certificates(options: &TlsOptions) -> Result<RootCertStore, FetchErrorKind> {
    let mut roots = RootCertStore::empty();
    // Puppet: lookup_http uses `ssl_ca_cert` only together with `ssl_cert`, and only its first certificate.
    if let Some(path) = &options.ca_cert {
        let unusable = |reason: String| FetchErrorKind::File {
            option: "ssl_ca_cert",
            path: path.clone(),
            reason,
        };
        for certificate in certificates("ssl_ca_cert", path)? {
            roots
                .add(certificate)
                .map_err(|error| unusable(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(unusable("contains no certificate".to_owned()));
        }
        return Ok(roots);
    }
    // System bundles may contain certificates that are too old to parse, and directories files that are unreadable.
    roots.add_parsable_certificates(load_native_certs().certs);
    match roots.is_empty() {
        false => Ok(roots),
        true => Err(FetchErrorKind::Tls {
            reason: "no system CA certificates found; set `ssl_ca_cert`".to_owned(),
        }),
    }
}

/// The client certificate with its chain, and its key.
fn client_certificate(
    options: &TlsOptions,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, FetchErrorKind> {
    let (cert, key) = match (&options.cert, &options.key) {
        (None, None) => return Ok(None),
        // One file may contain both.
        (Some(both), None) | (None, Some(both)) => (both, both),
        (Some(cert), Some(key)) => (cert, key),
    };
    // Puppet: lookup_http reads the key from `ssl_cert` and the certificate from `ssl_key`, so existing configurations
    // may have them swapped. Both ways work.
    let mut chain = certificates("ssl_cert", cert)?;
    if chain.is_empty() {
        chain = certificates("ssl_key", key)?;
    }
    if chain.is_empty() {
        return Err(FetchErrorKind::File {
            option: "ssl_cert",
            path: cert.clone(),
            reason: "contains no certificate".to_owned(),
        });
    }
    let key = PrivateKeyDer::from_pem_file(key)
        .or_else(|_| PrivateKeyDer::from_pem_file(cert))
        .map_err(|_| FetchErrorKind::File {
            option: "ssl_key",
            path: key.clone(),
            reason: "contains no usable key".to_owned(),
        })?;
    Ok(Some((chain, key)))
}

fn certificates(
    option: &'static str,
    path: &str,
) -> Result<Vec<CertificateDer<'static>>, FetchErrorKind> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| FetchErrorKind::File {
            option,
            path: path.to_owned(),
            reason: error.to_string(),
        })
}

/// Accepts any certificate: `ssl_verify: false`.
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
