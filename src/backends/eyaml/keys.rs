//! [`Keys`]: a private key, with or without its certificate, from PEM.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{Pkcs1PrivateDecryptingKey, PrivateDecryptingKey};
use cms::cert::IssuerAndSerialNumber;
use cms::cert::x509::Certificate;
use cms::cert::x509::der::asn1::{Any, Null, ObjectIdentifier, OctetStringRef};
use cms::cert::x509::der::{self, Decode, Encode, Tag};
use cms::cert::x509::spki::AlgorithmIdentifierOwned;
use psych_yaml::base64;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{DecryptError, KeySource, KeysError, envelope};

/// A private key, and the certificate that values are encrypted for.
pub(crate) struct Keys {
    private: Arc<Pkcs1PrivateDecryptingKey>,
    /// The recipient that the certificate names, if there is one. As in hiera-eyaml 4.1, the private key is enough.
    recipient: Option<IssuerAndSerialNumber>,
}

/// A private key without certificate.
pub(super) struct PrivateKey {
    key: Arc<Pkcs1PrivateDecryptingKey>,
    /// The public key that a matching certificate contains.
    public: Vec<u8>,
}

/// A certificate without private key.
pub(super) struct PublicKey {
    recipient: IssuerAndSerialNumber,
    public: Vec<u8>,
}

impl PrivateKey {
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, KeysError> {
        let private_der = private_key(text)?;
        let private =
            PrivateDecryptingKey::from_pkcs8(&private_der).map_err(|_| KeysError::PrivateSize)?;
        let public: PublicKeyX509Der<'_> = private
            .public_key()
            .as_der()
            .map_err(|_| KeysError::Private)?;
        let public = public.as_ref().to_vec();
        let key = Pkcs1PrivateDecryptingKey::new(private).map_err(|_| KeysError::Private)?;
        Ok(PrivateKey {
            key: Arc::new(key),
            public,
        })
    }
}

impl PublicKey {
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, KeysError> {
        // OpenSSL reads this older label as well.
        let text = String::from_utf8_lossy(text).replace(" X509 CERTIFICATE-", " CERTIFICATE-");
        let der = CertificateDer::from_pem_slice(text.as_bytes()).map_err(|_| KeysError::Public)?;
        let certificate = Certificate::from_der(&der).map_err(|_| KeysError::Public)?;
        let certificate = certificate.tbs_certificate;
        let public = certificate.subject_public_key_info.to_der();
        Ok(PublicKey {
            public: public.map_err(|_| KeysError::Public)?,
            recipient: IssuerAndSerialNumber {
                issuer: certificate.issuer,
                serial_number: certificate.serial_number,
            },
        })
    }
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

impl Keys {
    /// Parses the texts of key files.
    pub(crate) fn from_pem(private: &[u8], public: Option<&[u8]>) -> Result<Keys, KeysError> {
        let private = PrivateKey::from_pem(private)?;
        match public {
            Some(public) => Keys::pair(&private, &PublicKey::from_pem(public)?),
            None => Ok(Keys::alone(&private)),
        }
    }

    /// A private key without certificate.
    pub(super) fn alone(private: &PrivateKey) -> Keys {
        Keys {
            private: private.key.clone(),
            recipient: None,
        }
    }

    /// A private key with its certificate.
    pub(super) fn pair(private: &PrivateKey, public: &PublicKey) -> Result<Keys, KeysError> {
        if private.public != public.public {
            return Err(KeysError::Mismatch);
        }
        Ok(Keys {
            private: private.key.clone(),
            recipient: Some(public.recipient.clone()),
        })
    }

    /// Reads keys from their source; files by `read_file`.
    pub(crate) fn load(
        source: &KeySource,
        mut read_file: impl FnMut(&Path) -> Result<Vec<u8>, String>,
    ) -> Result<Keys, KeysError> {
        let variable = |name: &str| std::env::var_os(name).map(OsString::into_encoded_bytes);
        let (private, public) = source.read(&mut read_file, &variable)?;
        Keys::from_pem(&private, public.as_deref())
    }

    /// Decrypts the text between `ENC[PKCS7,` and `]`.
    pub(crate) fn decrypt(&self, base64: &str) -> Result<Vec<u8>, DecryptError> {
        self.open(&base64::decode(base64.as_bytes()))
    }

    /// Opens an envelope.
    pub(super) fn open(&self, envelope: &[u8]) -> Result<Vec<u8>, DecryptError> {
        envelope::open(envelope, &self.private, self.recipient.as_ref())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Keys").finish_non_exhaustive()
    }
}

/// The private key as PKCS#8.
fn private_key(pem: &[u8]) -> Result<Vec<u8>, KeysError> {
    match PrivateKeyDer::from_pem_slice(pem) {
        Ok(PrivateKeyDer::Pkcs1(key)) => {
            to_pkcs8(key.secret_pkcs1_der()).map_err(|_| KeysError::Private)
        }
        Ok(PrivateKeyDer::Pkcs8(key)) => Ok(key.secret_pkcs8_der().to_vec()),
        _ if is_encrypted(pem) => Err(KeysError::Passphrase),
        _ => Err(KeysError::Private),
    }
}

/// Does the text look like a key with a passphrase, in PKCS#8 or in OpenSSL's traditional form?
fn is_encrypted(pem: &[u8]) -> bool {
    let marks = ["BEGIN ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED"];
    let mut marks = marks.iter().map(|mark| mark.as_bytes());
    marks.any(|mark| memchr::memmem::find(pem, mark).is_some())
}

/// Wraps a PKCS#1 key as PKCS#8: version, algorithm, key.
fn to_pkcs8(key: &[u8]) -> der::Result<Vec<u8>> {
    let algorithm = AlgorithmIdentifierOwned {
        oid: RSA,
        parameters: Some(Any::from(Null)),
    };
    let mut parts = 0u8.to_der()?;
    parts.extend(algorithm.to_der()?);
    parts.extend(OctetStringRef::new(key)?.to_der()?);
    Any::new(Tag::Sequence, parts)?.to_der()
}
