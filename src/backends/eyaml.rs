//! Encrypted text in data files, `ENC[PKCS7,...]` → plain text, as hiera-eyaml decrypts it.
//!
//! [`KeySource`] is where the keys of a level come from, [`Keys`] opens an envelope, [`decrypt_text`] decrypts every block of
//! a string. No error here contains a key or a decrypted value.

mod block;
mod envelope;
mod key_source;
mod key_store;
mod keys;

use hiera_resolver::template::DecryptFault;

pub(crate) use block::decrypt_text;
pub(crate) use key_source::KeySource;
pub(crate) use key_store::{EyamlKeyStore, KeyTexts};
pub(crate) use keys::Keys;

/// Why there are no keys to decrypt with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeysError {
    /// Neither file nor variable is set for the private key. Puppet's function has no defaults, unlike the command
    /// `eyaml`, which tries `./keys`.
    #[error("neither `pkcs7_private_key` nor `pkcs7_private_key_env_var` is set")]
    Missing {
        /// The public key is set.
        has_public: bool,
    },
    /// The value of an option is not a string.
    #[error("`{0}` must be a string")]
    NotText(&'static str),
    /// The variable is not set, and no file is given.
    #[error("the environment variable `{0}` is not set")]
    Variable(String),
    /// The file cannot be read.
    #[error("in `{path}`: {cause}")]
    File {
        /// The file.
        path: String,
        /// The error of the reader.
        cause: String,
    },
    /// Not a private key of a supported kind.
    #[error("the private key is not an RSA key in PEM")]
    Private,
    /// The private key needs a passphrase.
    #[error("the private key is protected by a passphrase")]
    Passphrase,
    /// Not RSA, or of an unsupported size.
    #[error("the private key is not an RSA key of 2048 to 8192 bits")]
    PrivateSize,
    /// Not a certificate.
    #[error("the public key is not a certificate in PEM")]
    Public,
    /// Both are valid, but not a pair.
    #[error("the private key does not belong to the certificate")]
    Mismatch,
}

/// Why a block or a string with blocks cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecryptError {
    /// A block of another plugin, `ENC[GPG,...]`.
    #[error("unknown encryptor `{0}`, only `PKCS7` is supported")]
    Encryptor(String),
    /// A block of only white space.
    #[error("encrypted block without content")]
    EmptyBlock,
    /// Not an envelope as `eyaml encrypt` makes it.
    #[error("encrypted block is not a PKCS#7 envelope")]
    NotAnEnvelope,
    /// The envelope is for another certificate.
    #[error("encrypted for another certificate")]
    Recipient,
    /// A cipher other than AES in CBC mode.
    #[error("encrypted with the unsupported algorithm {0}")]
    Algorithm(String),
    /// The key or the content in the envelope is damaged, or for another key.
    #[error("encrypted block cannot be opened with this key")]
    Undecryptable,
    /// The result is not UTF-8.
    #[error("decrypted value is not text")]
    NotText,
}

impl KeysError {
    /// The fault of values that need these keys. Ruby's texts are those of hiera-eyaml and its libraries.
    pub(crate) fn fault(&self) -> DecryptFault {
        let puppet_text = match self {
            // hiera-eyaml 3 checks the public key first.
            KeysError::Missing { has_public } => {
                let kind = if *has_public { "private" } else { "public" };
                Some(format!("pkcs7_{kind}_key is not defined"))
            }
            KeysError::Variable(_) => Some("no implicit conversion of nil into String".to_owned()),
            KeysError::File { path, cause } if cause.starts_with("No such file or directory") => {
                Some(format!("No such file or directory @ rb_sysopen - {path}"))
            }
            KeysError::Mismatch => Some("private key does not match certificate".to_owned()),
            _ => None,
        };
        DecryptFault {
            reason: self.to_string().into(),
            puppet_text: puppet_text.map(Into::into),
        }
    }
}

impl DecryptError {
    /// The fault of a value with this block.
    pub(crate) fn fault(&self) -> DecryptFault {
        let puppet_text = match self {
            DecryptError::Undecryptable => Some("bad decrypt".into()),
            _ => None,
        };
        DecryptFault {
            reason: self.to_string().into(),
            puppet_text,
        }
    }
}

#[cfg(test)]
mod tests;
