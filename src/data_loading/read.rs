//! One file → its bytes, within a limit, whatever kind of file it is.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::listings::NOT_UTF_8;
use crate::filesystem::is_absence;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it is a directory")]
    Directory,
    #[error("it is {0}, not a file")]
    Special(&'static str),
    #[error("it is larger than {limit} bytes; raise `limits.max_file_size` if that is intended")]
    TooLarge { limit: u64 },
    #[error("{NOT_UTF_8}")]
    Name,
    #[error("{0}")]
    System(#[from] io::Error),
}

impl ReadError {
    /// Is there no such file?
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, ReadError::System(error) if is_absence(error))
    }

    /// The error for a file that was listed: if it is absent under its name, that name is not valid UTF-8.
    pub(super) fn for_listed_file(self, path: &str) -> Self {
        match path.contains(char::REPLACEMENT_CHARACTER) && self.is_absence() {
            true => ReadError::Name,
            false => self,
        }
    }

    /// Is it an error of the system, which may go away without a change of the file?
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, ReadError::System(_))
    }
}

/// Reads a file of at most `limit` bytes. Pipes, sockets and devices are refused, since reading them could block.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    refuse_special(&std::fs::metadata(path)?)?;
    read_inspected_file(path, limit)
}

/// Reads a file that was just inspected and is a regular file.
pub(super) fn read_inspected_file(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    // It may have been replaced by a pipe since: opened without blocking, and inspected again.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let metadata = file.metadata()?;
    refuse_special(&metadata)?;
    read_open_file(file, &metadata, limit)
}

/// Reads an open file with this metadata.
pub(super) fn read_open_file(
    file: File,
    metadata: &Metadata,
    limit: u64,
) -> Result<Vec<u8>, ReadError> {
    if metadata.len() > limit {
        return Err(ReadError::TooLarge { limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    // One byte more than allowed, to detect a file that has grown meanwhile.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { limit });
    }
    Ok(bytes)
}

fn refuse_special(metadata: &Metadata) -> Result<(), ReadError> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err(ReadError::Directory);
    }
    for (is_it, name) in [
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (kind.is_char_device() || kind.is_block_device(), "a device"),
    ] {
        if is_it {
            return Err(ReadError::Special(name));
        }
    }
    Ok(())
}
