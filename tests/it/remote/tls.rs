//! The CA certificates of the system, chosen by `SSL_CERT_FILE` as in other programs.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use crate::support::{Tree, printed};

/// A CA, whose certificate goes to `R/NAME.pem`, and a TLS configuration with a certificate that it signed.
fn certificates(tree: &Tree, name: &str) -> ServerConfig {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.distinguished_name.push(DnType::CommonName, name);
    tree.write(
        &format!("R/{name}.pem"),
        ca.self_signed(&ca_key).unwrap().pem(),
    );
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap()
}

/// Answers a request with `{"k": "secure"}`, if the client accepts the certificate.
async fn answer(stream: TcpStream, tls: TlsAcceptor) -> std::io::Result<()> {
    let mut stream = tls.accept(stream).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let body = r#"{"k": "secure"}"#;
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[test]
fn without_ssl_ca_cert_the_certificates_of_the_system_are_trusted() {
    let tree = Tree::empty();
    let tls = TlsAcceptor::from(Arc::new(certificates(&tree, "trusted")));
    certificates(&tree, "other");
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, tls.clone()));
        }
    });
    let level = format!("uri: 'https://{address}/', options: {{output: json}}");
    tree.write(
        "/hiera.yaml",
        format!("version: 5\nhierarchy: [{{name: tls, lookup_key: hiera_http, {level}}}]\n"),
    );
    let lookup = |bundle: &str| {
        let mut process = tree.hierad("lookup");
        process.args(["k", "--render-as", "s"]);
        process.env("SSL_CERT_FILE", tree.path(bundle));
        let output = process.env_remove("SSL_CERT_DIR").output().unwrap();
        printed(&output)
    };
    assert_eq!(
        lookup("R/trusted.pem"),
        ("secure\n".to_owned(), String::new())
    );
    let (stdout, stderr) = lookup("R/other.pem");
    assert!(
        stderr.contains("UnknownIssuer") && stdout.is_empty(),
        "{stdout}{stderr}"
    );
    let (stdout, stderr) = lookup("R/missing.pem");
    let reason = "no system CA certificates found; set `ssl_ca_cert`";
    assert!(
        stderr.contains(reason) && stdout.is_empty(),
        "{stdout}{stderr}"
    );
}
