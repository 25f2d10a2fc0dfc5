//! Files → values: read, decrypted where they are encrypted, decoded on all cores; unless nothing changed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use hiera_resolver::data::Texts;
use hiera_resolver::{DataFile, Format};
use sha2::{Digest, Sha256};

use super::{CachedFile, CodeDirectory, ContentDigest, KeyRings, Loaded, Stamp, read_file};
use crate::progress::Progress;

/// Reads and decodes files on all cores, and takes over those that have not changed.
pub(super) fn decode_all(
    code: &CodeDirectory,
    wanted: Vec<(Format, String)>,
    keys: &KeyRings,
    previous: Option<&Loaded>,
    progress: &Progress,
) -> HashMap<(Format, String), CachedFile> {
    let mut files = HashMap::with_capacity(wanted.len());
    let mut changed = Vec::new();
    for (format, path) in wanted {
        let stamp = Stamp::of(Path::new(&path));
        let known = previous.and_then(|previous| previous.files.get(&(format, path.clone())));
        match known {
            Some(known)
                if known.stamp.is_some()
                    && known.stamp == stamp
                    && keys.is_same(format, previous) =>
            {
                files.insert((format, path), known.clone());
            }
            _ => changed.push((format, path, stamp)),
        }
    }
    progress.add(changed.len());
    files.extend(decode_changed(code, &changed, keys, progress));
    files
}

type Wanted = (Format, String, Option<Stamp>);

fn decode_changed(
    code: &CodeDirectory,
    changed: &[Wanted],
    keys: &KeyRings,
    progress: &Progress,
) -> Vec<((Format, String), CachedFile)> {
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(changed.len().div_ceil(16))
        .max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut texts = Texts::default();
        let mut done = Vec::new();
        while let Some((format, path, stamp)) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
            let now = SystemTime::now();
            let (file, digest) = decode_one(code, *format, path, &mut texts, keys);
            progress.advance();
            // Read again next time, unless it is sure to look different when it changes.
            let (seen, stamp) = (*stamp, stamp.filter(|stamp| !stamp.is_young(now)));
            done.push((
                (*format, path.clone()),
                CachedFile {
                    seen,
                    stamp,
                    file: Arc::new(file),
                    digest,
                },
            ));
        }
        done
    };
    if workers == 1 {
        return work();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_default())
            .collect()
    })
}

/// Reads and decodes one file.
pub(crate) fn decode_one(
    code: &CodeDirectory,
    format: Format,
    path: &str,
    texts: &mut Texts,
    keys: &KeyRings,
) -> (DataFile, ContentDigest) {
    if format == Format::Unknown {
        return (DataFile::decode(path, format, &[], texts), [0; 32]);
    }
    let bytes = match read_file(Path::new(path), code.max_file_size) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let digest = Sha256::digest(reason.to_string().as_bytes()).into();
            return (DataFile::unreadable(path, &reason), digest);
        }
    };
    let digest = Sha256::digest(&bytes).into();
    let file = match format {
        Format::Eyaml(id) => keys.decode(id, path, &bytes, texts),
        _ => DataFile::decode(path, format, &bytes, texts),
    };
    (file, digest)
}
