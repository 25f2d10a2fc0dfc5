//! Files → values: read, decrypted where they are encrypted, decoded on all cores; unless nothing changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use hiera_resolver::data::{KeysId, Texts};
use hiera_resolver::scope::Variables;
use hiera_resolver::{DataFile, Format, Hash};
use sha2::{Digest, Sha256};

use super::{ABSENT, CachedFile, CodeDirectory, ContentDigest, Layers, Loaded, Stamp, read_file};
use crate::eyaml::{self, KeySource, Keys};
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
        Format::Eyaml(id) => {
            DataFile::decode_encrypted(path, &bytes, texts, &|text| keys.decrypt(id, text))
        }
        _ => DataFile::decode(path, format, &bytes, texts),
    };
    (file, digest)
}

/// The keys of all levels that read encrypted files.
#[derive(Default)]
pub(crate) struct KeyRings {
    rings: Vec<(KeysId, Result<Keys, String>)>,
    /// The key files that were looked for, by what they hold.
    read: Vec<(PathBuf, ContentDigest)>,
}

impl KeyRings {
    /// Reads the keys that the levels of an environment name. Their options know the environment and no node.
    pub(crate) fn of(layers: &Layers, environment: &str, max_file_size: u64) -> Self {
        let all = [&*layers.global, &layers.environment]
            .into_iter()
            .chain(layers.modules.iter().map(|(_, layer)| layer));
        let mut rings = KeyRings::default();
        for level in all
            .filter_map(|layer| layer.config())
            .flat_map(|config| config.all_levels())
        {
            if let Format::Eyaml(id) = level.format() {
                rings.add(id, level, environment, max_file_size);
            }
        }
        rings
    }

    /// Reads the keys of one level.
    pub(crate) fn add(
        &mut self,
        id: KeysId,
        level: &hiera_resolver::config::Level,
        environment: &str,
        max_file_size: u64,
    ) {
        if self.rings.iter().any(|(known, _)| *known == id) {
            return;
        }
        let scope = Variables::new(environment, Hash::new(), Hash::new(), Hash::new());
        let read = |path: &Path| {
            let bytes = read_file(path, max_file_size).map_err(|error| error.to_string());
            let digest = bytes
                .as_ref()
                .map_or(ABSENT, |bytes| Sha256::digest(bytes).into());
            self.read.push((path.to_path_buf(), digest));
            bytes
        };
        let ring = match level.filled_options(&scope) {
            Ok(options) => KeySource::from_options(&options)
                .and_then(|source| Keys::load(&source, read))
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        self.rings.push((id, ring));
    }

    /// The key files that were looked for: a new key is a new state of the data.
    pub(super) fn files(&self) -> impl Iterator<Item = (PathBuf, ContentDigest)> + '_ {
        self.read.iter().cloned()
    }

    fn is_same(&self, format: Format, previous: Option<&Loaded>) -> bool {
        !matches!(format, Format::Eyaml(_))
            || previous.is_some_and(|previous| {
                self.read
                    .iter()
                    .all(|(path, digest)| previous.configs.get(path) == Some(digest))
            })
    }

    fn decrypt(&self, id: KeysId, text: &str) -> Result<String, String> {
        match self.rings.iter().find(|(known, _)| *known == id) {
            Some((_, Ok(keys))) => {
                eyaml::decrypt_text(text, keys).map_err(|error| error.to_string())
            }
            Some((_, Err(reason))) => Err(reason.clone()),
            None => Err("there are no keys for it".to_owned()),
        }
    }
}
