//! Files → values: read, decrypted where they are encrypted, decoded on many cores; unless nothing changed.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use hiera_resolver::data::Texts;
use hiera_resolver::{DataFile, Format};

use super::nearby::Nearby;
use super::read::{ReadError, read_open_file, read_seen_file};
use super::revision::{ContentDigest, Names, Revision, digest};
use super::{CachedFile, FileFingerprint, KeyRings, Loaded, read_file};
use crate::config::CodeDirectory;
use crate::data_loading::progress::Progress;

/// The files of an environment, sorted, and what they add to its revision.
#[derive(Default)]
pub(super) struct Decoded {
    pub(super) files: Vec<CachedFile>,
    pub(super) revision: Revision,
}

/// Files that a core takes at a time.
const SHARE: usize = 16;

/// What goes from one file to the next.
#[derive(Default)]
pub(super) struct Workbench {
    texts: Texts,
    nearby: Nearby,
}

/// Where files are decoded, and with what.
pub(super) struct Decoder<'a> {
    pub(super) code: &'a CodeDirectory,
    pub(super) keys: &'a KeyRings,
    pub(super) names: &'a Names,
    /// The load before, from which files that have not changed are taken.
    pub(super) previous: Option<&'a Loaded>,
}

impl Decoder<'_> {
    /// Reads and decodes files on so many cores, and takes over those that have not changed.
    pub(super) fn decode_all(
        &self,
        wanted: &[(String, Format)],
        workers: usize,
        progress: &Progress,
    ) -> Decoded {
        progress.add(wanted.len());
        let workers = workers.min(wanted.len().div_ceil(SHARE)).max(1);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut bench = Workbench::default();
            let (mut done, mut revision) = (Vec::new(), Revision::default());
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(share) = wanted.chunks(SHARE).nth(place) else {
                    return (done, revision);
                };
                let decode = |(path, format): &(String, Format)| {
                    progress.advance();
                    let file = self.decode(path, *format, &mut bench)?;
                    revision.add(self.names.file(*format, path, file.digest));
                    Some(file)
                };
                let files: Vec<CachedFile> = share.iter().filter_map(decode).collect();
                done.push((place, files));
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
                        // Without its files the load would be short of them, and nothing would say so.
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        let mut decoded = Decoded::default();
        let mut shares = Vec::new();
        for (done, revision) in parts {
            shares.extend(done);
            decoded.revision.add(revision);
        }
        shares.sort_unstable_by_key(|(place, _)| *place);
        decoded.files.reserve_exact(wanted.len());
        decoded
            .files
            .extend(shares.into_iter().flat_map(|(_, files)| files));
        decoded
    }

    /// Reads and decodes a file, as far as that is needed; `None` where a link leads to nothing, or it is gone since it
    /// was listed.
    pub(super) fn decode(
        &self,
        path: &str,
        format: Format,
        bench: &mut Workbench,
    ) -> Option<CachedFile> {
        let known = self
            .previous
            .and_then(|previous| previous.file(path, format));
        let known = known.filter(|_| self.keys.is_same(format, self.previous));
        let now = SystemTime::now();
        let (looks, bytes) = match known {
            // It has to be read whatever it looks like.
            None => self.read(path, format, &mut bench.nearby),
            Some(known) => {
                let looks = Looks::of(Path::new(path));
                if known.is_settled && known.seen == looks.seen {
                    return Some(CachedFile {
                        link: looks.link,
                        ..known.clone()
                    });
                }
                let bytes = self.read_seen(path, format, &looks);
                (looks, bytes)
            }
        };
        let Looks { seen, link, .. } = looks;
        let bytes = bytes.map_err(|reason| reason.of_listed(path));
        if bytes.as_ref().is_err_and(ReadError::is_absence) {
            return None;
        }
        let digest = digest_of(&bytes);
        let is_unread = bytes.as_ref().is_err_and(ReadError::is_passing);
        let file = match known {
            // Written again as it was.
            Some(known) if known.digest == digest => known.file.clone(),
            _ => Arc::new(decode_bytes(
                self.code,
                format,
                path,
                bytes,
                &mut bench.texts,
                self.keys,
            )),
        };
        Some(CachedFile {
            format,
            file,
            seen,
            is_settled: !is_unread && seen.is_some_and(|fingerprint| !fingerprint.is_young(now)),
            link,
            digest,
            is_unread,
        })
    }

    /// Reads a file that nothing is known of.
    fn read(
        &self,
        path: &str,
        format: Format,
        nearby: &mut Nearby,
    ) -> (Looks, Result<Vec<u8>, ReadError>) {
        if format != Format::Unknown
            && let Some((file, metadata)) = nearby.open_plain_file(path)
        {
            let bytes = read_open_file(file, &metadata, self.code.max_file_size);
            return (Looks::of_itself(&metadata), bytes);
        }
        let looks = Looks::of(Path::new(path));
        let bytes = self.read_seen(path, format, &looks);
        (looks, bytes)
    }

    /// Reads a file that looks like this.
    fn read_seen(&self, path: &str, format: Format, looks: &Looks) -> Result<Vec<u8>, ReadError> {
        if looks.is_file && format != Format::Unknown {
            read_seen_file(Path::new(path), self.code.max_file_size)
        } else {
            read_one(self.code, format, path)
        }
    }
}

/// A file from outside.
struct Looks {
    seen: Option<FileFingerprint>,
    /// The directory it really lies in where it is a link: changes there come with no event where the link is.
    link: Option<Box<Path>>,
    /// It is neither a link nor anything special.
    is_file: bool,
}

impl Looks {
    fn of(path: &Path) -> Self {
        let metadata = std::fs::symlink_metadata(path).ok();
        if metadata.as_ref().is_some_and(Metadata::is_symlink) {
            let real = path.canonicalize().ok();
            let directory = real.as_deref().unwrap_or(path).parent();
            return Looks {
                seen: FileFingerprint::of(path),
                link: directory.map(Into::into),
                is_file: false,
            };
        }
        let nothing = Looks {
            seen: None,
            link: None,
            is_file: false,
        };
        metadata.as_ref().map_or(nothing, Looks::of_itself)
    }

    /// What is no link.
    fn of_itself(metadata: &Metadata) -> Self {
        Looks {
            seen: Some(FileFingerprint::from(metadata)),
            link: None,
            is_file: metadata.is_file(),
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
    match format {
        // Only that it is there matters.
        Format::Unknown => Ok(std::fs::metadata(path).map(|_| Vec::new())?),
        _ => read_file(Path::new(path), code.max_file_size),
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
    let file = match (bytes, format) {
        (Err(ReadError::Directory), _) => DataFile::directory(path),
        (Err(reason), _) => DataFile::unreadable(path, &reason),
        (Ok(bytes), Format::Eyaml(id)) => keys.decode(id, path, &bytes, texts),
        (Ok(bytes), _) => DataFile::decode(path, format, &bytes, texts),
    };
    file.held_to(code.strictness)
}
