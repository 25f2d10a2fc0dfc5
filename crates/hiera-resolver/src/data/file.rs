//! [`DataFile`]: a file of a hierarchy level, decoded.

use arcstr::ArcStr;

use super::contents::Contents;
use super::encrypted::{Decrypt, NodeKeys};
use super::fault::FileFault;
use super::format::Format;
use super::texts::Texts;
use crate::strictness::Strictness;

/// A file of a hierarchy level.
#[derive(Debug)]
pub struct DataFile {
    pub(super) path: ArcStr,
    pub(super) contents: Result<Contents, FileFault>,
    /// Set if the keys of the file depend on the node.
    pub(super) node_keys: Option<NodeKeys>,
}

/// A file to decode.
#[derive(Clone, Copy)]
pub struct RawFile<'a> {
    /// Its absolute path, for faults.
    pub path: &'a ArcStr,
    /// What it holds.
    pub bytes: &'a [u8],
    /// Decrypts its values. `None` if they stay as they are.
    pub decrypt: Option<Decrypt<'a>>,
}

impl std::fmt::Debug for RawFile<'_> {
    // By hand, since the bytes may be secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RawFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl DataFile {
    /// Decodes a file. Encrypted values stay encrypted; see [`DataFile::decode_encrypted`].
    pub fn decode(path: &str, format: Format, bytes: &[u8], texts: &mut Texts) -> Self {
        DataFile::decode_with(path, format, bytes, texts, None)
    }

    /// Decodes a file and decrypts its values.
    pub fn decode_encrypted(
        path: &str,
        format: Format,
        bytes: &[u8],
        texts: &mut Texts,
        decrypt: Decrypt<'_>,
    ) -> Self {
        DataFile::decode_with(path, format, bytes, texts, Some(decrypt))
    }

    pub(super) fn decode_with(
        path: &str,
        format: Format,
        bytes: &[u8],
        texts: &mut Texts,
        decrypt: Option<Decrypt<'_>>,
    ) -> Self {
        let path = ArcStr::from(path);
        let raw = RawFile {
            path: &path,
            bytes,
            decrypt,
        };
        let contents = format.decode(&raw, texts);
        DataFile::new(path, contents)
    }

    /// The same file, faulty if YAML without a hash counts as empty and lookups are to fail instead.
    pub fn held_to(mut self, strictness: Strictness) -> Self {
        let contents = self.contents.as_ref().ok();
        if let Some(fault) = contents.and_then(|it| it.fault_under(&self.path, strictness)) {
            self.contents = Err(fault);
        }
        self
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &str, reason: &dyn std::fmt::Display) -> Self {
        let path = ArcStr::from(path);
        let fault = FileFault::Unreadable {
            path: path.clone(),
            reason: reason.to_string(),
        };
        DataFile::new(path, Err(fault))
    }

    /// A directory where a file is expected.
    pub fn directory(path: &str) -> Self {
        let path = ArcStr::from(path);
        DataFile::new(path.clone(), Err(FileFault::Directory { path }))
    }

    fn new(path: ArcStr, contents: Result<Contents, FileFault>) -> Self {
        DataFile {
            path,
            contents,
            node_keys: None,
        }
    }

    /// Its absolute path.
    pub fn path(&self) -> &ArcStr {
        &self.path
    }

    /// What it holds, or why it cannot be used.
    pub fn contents(&self) -> Result<&Contents, &FileFault> {
        self.contents.as_ref()
    }
}
