//! Encrypted text in data files, `ENC[PKCS7,...]` → plain text, as hiera-eyaml decrypts it.
//!
//! [`KeySource`] says where the keys of a level come from, [`Keys`] opens an envelope, [`decrypt_text`] replaces
//! every block of a string. No error here says anything of a key or of what was encrypted.

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
    /// Neither file nor variable is given for the private key. The paths below `./keys` that the command `eyaml`
    /// falls back to are not known to Puppet's function.
    #[error("neither `pkcs7_private_key` nor `pkcs7_private_key_env_var` is set")]
    Missing {
        /// The public key is given.
        names_public: bool,
    },
    /// The value of an option is not text.
    #[error("`{0}` must be a string")]
    NotText(&'static str),
    /// The variable is not set, and there is no file instead.
    #[error("the environment variable `{0}` is not set")]
    Variable(String),
    /// The file cannot be read.
    #[error("in `{path}`: {cause}")]
    File {
        /// The file.
        path: String,
        /// What the caller's reader says.
        cause: String,
    },
    /// No private key of a known kind.
    #[error("the private key is not an RSA key in PEM")]
    Private,
    /// The private key wants a passphrase.
    #[error("the private key is protected by a passphrase")]
    Passphrase,
    /// Perhaps RSA, but of an unusual size.
    #[error("the private key is not an RSA key of 2048 to 8192 bits")]
    PrivateSize,
    /// No certificate.
    #[error("the public key is not a certificate in PEM")]
    Public,
    /// Both are fine, but not a pair.
    #[error("the private key does not belong to the certificate")]
    Mismatch,
}

/// Why a block or a string with blocks cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecryptError {
    /// A block of another plugin, `ENC[GPG,...]`.
    #[error("unknown encryptor `{0}`, only `PKCS7` is supported")]
    Encryptor(String),
    /// A block of nothing but white space.
    #[error("encrypted block without content")]
    EmptyBlock,
    /// Not what `eyaml encrypt` makes.
    #[error("encrypted block is not a PKCS#7 envelope")]
    NotAnEnvelope,
    /// The envelope is for someone else.
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
    /// What a lookup is told. Ruby's words are those of hiera-eyaml and of what it calls.
    pub(crate) fn fault(&self) -> DecryptFault {
        let puppet_text = match self {
            // hiera-eyaml 3 asks for the public key first.
            KeysError::Missing { names_public } => {
                let kind = if *names_public { "private" } else { "public" };
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
    /// The same of a block.
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
