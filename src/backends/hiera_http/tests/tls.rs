//! TLS, with certificates made for the test.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;

use super::server::{Server, answer};
use super::{ask, client};

/// A directory with `ca.pem`, and certificates and keys of `server` and `client`.
fn certificates() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write =
        |name: &str, text: String| std::fs::write(directory.path().join(name), text).unwrap();
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.distinguished_name.push(DnType::CommonName, "test CA");
    write("ca.pem", ca.self_signed(&ca_key).unwrap().pem());
    let issuer = Issuer::new(ca, ca_key);
    for (name, usage) in [
        ("server", ExtendedKeyUsagePurpose::ServerAuth),
        ("client", ExtendedKeyUsagePurpose::ClientAuth),
    ] {
        let key = KeyPair::generate().unwrap();
        let mut params =
            CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &issuer).unwrap();
        write(&format!("{name}.pem"), certificate.pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
    directory
}

async fn server(directory: &Path, asks_for_certificate: bool) -> Server {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if asks_for_certificate {
        let mut trusted = RootCertStore::empty();
        trusted
            .add(CertificateDer::from_pem_file(directory.join("ca.pem")).unwrap())
            .unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let config = builder
        .with_single_cert(
            vec![CertificateDer::from_pem_file(directory.join("server.pem")).unwrap()],
            PrivateKeyDer::from_pem_file(directory.join("server.key")).unwrap(),
        )
        .unwrap();
    let tls = TlsAcceptor::from(Arc::new(config));
    Server::start_with(([127, 0, 0, 1], 0).into(), Some(tls), |_| answer(200, "ok")).await
}

/// Checks the answer with these options, in which `DIR` is the directory.
async fn check(asks_for_certificate: bool, options: &str, expected: &str) {
    let directory = certificates();
    let server = server(directory.path(), asks_for_certificate).await;
    let options = options.replace("DIR", &directory.path().display().to_string());
    let uri = server.uri("/").replace("http:", "https:");
    let given = ask(&client(), &uri, &options).await;
    assert!(given.contains(expected), "{options}: {given}");
    // `use_ssl` has the same effect as the scheme.
    let options = options.replace('}', ", use_ssl: true}");
    let given = ask(&client(), &server.uri("/"), &options).await;
    assert!(given.contains(expected), "{options}: {given}");
}

#[tokio::test]
async fn a_server_is_verified_by_its_certificate() {
    check(false, "{ssl_ca_cert: DIR/ca.pem}", r#""ok""#).await;
    check(false, "{ssl_verify: false}", r#""ok""#).await;
    check(false, "{ssl_ca_cert: DIR/client.pem}", "cannot connect: ").await;
    check(
        false,
        "{ssl_ca_cert: DIR/nothing}",
        "option `ssl_ca_cert`: `",
    )
    .await;
    check(
        false,
        "{ssl_ca_cert: DIR/server.key}",
        "contains no certificate",
    )
    .await;
}

#[tokio::test]
async fn a_client_certificate_is_sent() {
    let ca = "ssl_ca_cert: DIR/ca.pem";
    for own in [
        "ssl_cert: DIR/client.pem, ssl_key: DIR/client.key",
        // As lookup_http needs them.
        "ssl_cert: DIR/client.key, ssl_key: DIR/client.pem",
    ] {
        check(true, &format!("{{{ca}, {own}}}"), r#""ok""#).await;
    }
    check(true, &format!("{{{ca}}}"), "failed: ").await;
    check(
        true,
        &format!("{{{ca}, ssl_cert: DIR/client.pem}}"),
        "contains no usable key",
    )
    .await;
    check(
        true,
        &format!("{{{ca}, ssl_cert: DIR/client.pem, ssl_key: DIR/server.key}}"),
        "cannot prepare TLS: ",
    )
    .await;
}
