//! [`Decoder`]: files → values. Files are read, decrypted if they are encrypted, and decoded on many cores, or reused from
//! the previous load if they have not changed.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use hiera_resolver::data::Texts;
use hiera_resolver::{DataFile, Format};

use super::loaded::{CachedFile, LoadedEnvironment};
use super::parent_directory::ParentDirectory;
use super::progress::Progress;
use super::read::{ReadError, read_file, read_inspected_file, read_open_file};
use super::revision::{ContentDigest, LogicalNames, Revision, digest};
use super::{FileFingerprint, KeyRings};
use crate::config::CodeDirectory;

/// The files of an environment, sorted, and their contribution to its revision.
#[derive(Default)]
pub(super) struct DecodedFiles {
    pub(super) files: Vec<CachedFile>,
    pub(super) revision: Revision,
}

/// Files that a thread takes at a time.
const CHUNK: usize = 16;

/// What a thread keeps from one file to the next.
#[derive(Default)]
pub(super) struct DecodeState {
    texts: Texts,
    parent: ParentDirectory,
}

/// Reads and decodes the files of one environment.
pub(super) struct Decoder<'a> {
    pub(super) code: &'a CodeDirectory,
    pub(super) keys: &'a KeyRings,
    pub(super) names: &'a LogicalNames,
    /// The previous load, from which unchanged files are reused.
    pub(super) previous: Option<&'a LoadedEnvironment>,
}

impl Decoder<'_> {
    /// Reads and decodes files with this many threads, or reuses those that have not changed.
    pub(super) fn decode_all(
        &self,
        wanted: &[(String, Format)],
        workers: usize,
        progress: &Progress,
    ) -> DecodedFiles {
        progress.add(wanted.len());
        let workers = workers.min(wanted.len().div_ceil(CHUNK)).max(1);
        let next_chunk = AtomicUsize::new(0);
        let work = || {
            let mut state = DecodeState::default();
            let (mut done, mut revision) = (Vec::new(), Revision::default());
            loop {
                let index = next_chunk.fetch_add(1, Ordering::Relaxed);
                let Some(chunk) = wanted.chunks(CHUNK).nth(index) else {
                    return (done, revision);
                };
                let decode = |(path, format): &(String, Format)| {
                    progress.advance();
                    let file = self.decode(path, *format, &mut state)?;
                    revision.add(self.names.file(*format, path, file.digest));
                    Some(file)
                };
                let files: Vec<CachedFile> = chunk.iter().filter_map(decode).collect();
                done.push((index, files));
            }
        };
        let mut parts = Vec::new();
        if workers == 1 {
            parts.push(work());
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
                for thread in threads {
                    match thread.join() {
                        Ok(part) => parts.push(part),
                        // Otherwise its files would be missing without an error.
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        let mut decoded = DecodedFiles::default();
        let mut chunks = Vec::new();
        for (done, revision) in parts {
            chunks.extend(done);
            decoded.revision.add(revision);
        }
        chunks.sort_unstable_by_key(|(index, _)| *index);
        decoded.files.reserve_exact(wanted.len());
        decoded
            .files
            .extend(chunks.into_iter().flat_map(|(_, files)| files));
        decoded
    }

    /// Reads and decodes a file, or reuses it; `None` for a dangling link, or if it is gone since it was listed.
    pub(super) fn decode(
        &self,
        path: &str,
        format: Format,
        state: &mut DecodeState,
    ) -> Option<CachedFile> {
        let cached = self
            .previous
            .and_then(|previous| previous.file(path, format));
        let cached = cached.filter(|_| self.keys.are_unchanged(format, self.previous));
        let now = SystemTime::now();
        let (inspected, bytes) = match cached {
            None => self.read(path, format, &mut state.parent),
            Some(cached) => {
                let inspected = InspectedFile::at(Path::new(path));
                if cached.is_settled && cached.fingerprint == inspected.fingerprint {
                    return Some(CachedFile {
                        link_directory: inspected.link_directory,
                        ..cached.clone()
                    });
                }
                let bytes = self.read_inspected(path, format, &inspected);
                (inspected, bytes)
            }
        };
        let InspectedFile {
            fingerprint,
            link_directory,
            ..
        } = inspected;
        let bytes = bytes.map_err(|reason| reason.for_listed_file(path));
        if bytes.as_ref().is_err_and(ReadError::is_absence) {
            return None;
        }
        let digest = digest_of(&bytes);
        let is_unread = bytes.as_ref().is_err_and(ReadError::is_temporary);
        let file = match cached {
            // Written again with the same content.
            Some(cached) if cached.digest == digest => cached.file.clone(),
            _ => Arc::new(decode_bytes(
                self.code,
                format,
                path,
                bytes,
                &mut state.texts,
                self.keys,
            )),
        };
        Some(CachedFile {
            format,
            file,
            fingerprint,
            is_settled: !is_unread && fingerprint.is_some_and(|found| !found.is_recent(now)),
            link_directory,
            digest,
            is_unread,
        })
    }

    /// Reads a file that is not cached.
    fn read(
        &self,
        path: &str,
        format: Format,
        parent: &mut ParentDirectory,
    ) -> (InspectedFile, Result<Vec<u8>, ReadError>) {
        if format.is_read()
            && let Some((file, metadata)) = parent.open_regular_file(path)
        {
            let bytes = read_open_file(file, &metadata, self.code.max_file_size);
            return (InspectedFile::from(&metadata), bytes);
        }
        let inspected = InspectedFile::at(Path::new(path));
        let bytes = self.read_inspected(path, format, &inspected);
        (inspected, bytes)
    }

    fn read_inspected(
        &self,
        path: &str,
        format: Format,
        inspected: &InspectedFile,
    ) -> Result<Vec<u8>, ReadError> {
        if inspected.is_regular_file && format.is_read() {
            read_inspected_file(Path::new(path), self.code.max_file_size)
        } else {
            read_one(self.code, format, path)
        }
    }
}

/// What the metadata of a file say.
struct InspectedFile {
    fingerprint: Option<FileFingerprint>,
    /// The directory of the link's target, if it is a link: changes there cause no event where the link is.
    link_directory: Option<Box<Path>>,
    /// It is neither a link nor anything special.
    is_regular_file: bool,
}

impl InspectedFile {
    fn at(path: &Path) -> Self {
        let metadata = std::fs::symlink_metadata(path).ok();
        if metadata.as_ref().is_some_and(Metadata::is_symlink) {
            let target = path.canonicalize().ok();
            let directory = target.as_deref().unwrap_or(path).parent();
            return InspectedFile {
                fingerprint: FileFingerprint::of(path),
                link_directory: directory.map(Into::into),
                is_regular_file: false,
            };
        }
        let absent = InspectedFile {
            fingerprint: None,
            link_directory: None,
            is_regular_file: false,
        };
        metadata.as_ref().map_or(absent, InspectedFile::from)
    }
}

/// From the metadata of something that is not a link.
impl From<&Metadata> for InspectedFile {
    fn from(metadata: &Metadata) -> Self {
        InspectedFile {
            fingerprint: Some(FileFingerprint::from(metadata)),
            link_directory: None,
            is_regular_file: metadata.is_file(),
        }
    }
}

/// Reads and decodes one file.
pub(crate) fn decode_one(
    code: &CodeDirectory,
    format: Format,
    path: &str,
    texts: &mut Texts,
    keys: &KeyRings,
) -> DataFile {
    let bytes = read_one(code, format, path);
    decode_bytes(code, format, path, bytes, texts, keys)
}

fn read_one(code: &CodeDirectory, format: Format, path: &str) -> Result<Vec<u8>, ReadError> {
    match format.is_read() {
        true => read_file(Path::new(path), code.max_file_size),
        // Only its existence matters.
        false => Ok(std::fs::metadata(path).map(|_| Vec::new())?),
    }
}

fn digest_of(bytes: &Result<Vec<u8>, ReadError>) -> ContentDigest {
    match bytes {
        Ok(bytes) => digest(bytes),
        Err(reason) => digest(reason.to_string().as_bytes()),
    }
}

fn decode_bytes(
    code: &CodeDirectory,
    format: Format,
    path: &str,
    bytes: Result<Vec<u8>, ReadError>,
    texts: &mut Texts,
    keys: &KeyRings,
) -> DataFile {
    let file = match bytes {
        Err(ReadError::Directory) => DataFile::directory(path),
        Err(reason) => DataFile::unreadable(path, &reason),
        Ok(bytes) => keys.decode(path, format, &bytes, texts),
    };
    file.held_to(code.strictness)
}
