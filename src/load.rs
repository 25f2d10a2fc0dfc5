//! From disk to memory: a code directory → [`Snapshot`]s.
//!
//! Nothing else in the server reads data. Configurations come first (`load/layers.rs`), since they say which
//! files there may be; then the directories they name are searched (`load/search.rs`) and each file that
//! fits is read (`load/read.rs`) and decoded, on all cores. Whatever is wrong stays with its file: loading
//! itself cannot fail.

mod layers;
mod read;
mod search;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arcstr::ArcStr;
use hiera_resolver::data::Texts;
use hiera_resolver::glob::Entry;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{DataFile, Format, Layer, Snapshot};
use sha2::{Digest, Sha256};

pub(crate) use layers::{
    EnvironmentConf, environment_layer, environment_names, global_layer, is_environment_name,
    is_module_name, module_layer,
};
pub(crate) use read::read_file;
pub(crate) use search::Listings;

/// Where the data lies, and how much of it may be read.
#[derive(Clone, Debug)]
pub struct CodeDirectory {
    /// The directory with `environments` and `modules` in it, in absolute form.
    pub root: PathBuf,
    /// The configuration of the global layer, in absolute form.
    pub hiera_config: Option<PathBuf>,
    /// The size in bytes beyond which a file is not read.
    pub max_file_size: u64,
}

impl CodeDirectory {
    /// The directory of an environment.
    pub fn environment(&self, name: &str) -> PathBuf {
        self.root.join("environments").join(name)
    }
}

/// The layers of one environment, as configured.
pub(crate) struct Layers {
    pub(crate) global: Arc<Layer>,
    pub(crate) environment: Layer,
    pub(crate) modules: Vec<(ArcStr, Layer)>,
    /// What the configuration files hold, for the revision.
    pub(crate) texts: Vec<(PathBuf, Vec<u8>)>,
}

/// Loads an environment.
pub fn load_environment(code: &CodeDirectory, name: &str) -> Snapshot {
    let mut layers = layers::read_layers(code, name);
    let listings = Listings::default();
    let wanted = search::find_files(&layers, &listings);
    let mut files = decode_all(code, wanted);
    files.sort_by(|left, right| left.1.path().cmp(right.1.path()));
    let revision = revision(code, name, &mut layers, &files);
    let directories: Vec<(ArcStr, Vec<Entry>)> = listings.into_entries();
    Snapshot::build(Parts {
        global: layers.global,
        environment: layers.environment,
        modules: layers.modules,
        files: files
            .into_iter()
            .map(|(format, file, _)| (format, file))
            .collect(),
        directories,
        revision,
    })
}

type Decoded = (Format, Arc<DataFile>, [u8; 32]);

/// Reads and decodes files on all cores.
fn decode_all(code: &CodeDirectory, wanted: Vec<(Format, String)>) -> Vec<Decoded> {
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(wanted.len().div_ceil(16))
        .max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut texts = Texts::default();
        let mut done = Vec::new();
        while let Some((format, path)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (file, digest) = decode(code, *format, path, &mut texts);
            done.push((*format, Arc::new(file), digest));
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

pub(crate) fn decode(
    code: &CodeDirectory,
    format: Format,
    path: &str,
    texts: &mut Texts,
) -> (DataFile, [u8; 32]) {
    if format == Format::Unknown {
        return (DataFile::decode(path, format, &[], texts), [0; 32]);
    }
    match read_file(Path::new(path), code.max_file_size) {
        Ok(bytes) => (
            DataFile::decode(path, format, &bytes, texts),
            Sha256::digest(&bytes).into(),
        ),
        Err(reason) => {
            let digest = Sha256::digest(reason.to_string().as_bytes()).into();
            (DataFile::unreadable(path, reason), digest)
        }
    }
}

/// A digest of names and contents. Names are relative to what they belong to, so that the place of the code
/// directory does not matter.
fn revision(
    code: &CodeDirectory,
    environment: &str,
    layers: &mut Layers,
    files: &[Decoded],
) -> String {
    let roots = [
        (code.environment(environment), "environment"),
        (code.root.clone(), "code"),
        (
            code.hiera_config
                .as_deref()
                .and_then(Path::parent)
                .unwrap_or(Path::new("/"))
                .to_owned(),
            "global",
        ),
    ];
    let logical = |path: &Path| {
        let inside = roots
            .iter()
            .find_map(|(root, name)| Some((name, path.strip_prefix(root).ok()?)));
        inside.map_or_else(
            || path.display().to_string(),
            |(name, rest)| format!("{name}:{}", rest.display()),
        )
    };
    let mut entries: Vec<(String, [u8; 32])> = std::mem::take(&mut layers.texts)
        .into_iter()
        .map(|(path, bytes)| (logical(&path), Sha256::digest(&bytes).into()))
        .collect();
    entries.extend(files.iter().map(|(format, file, digest)| {
        (
            format!("{format:?} {}", logical(Path::new(file.path().as_str()))),
            *digest,
        )
    }));
    entries.sort();
    let mut all = Sha256::new();
    for (name, digest) in entries {
        all.update((name.len() as u64).to_be_bytes());
        all.update(name.as_bytes());
        all.update(digest);
    }
    all.finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Loads every environment of a code directory.
pub fn load_all(code: &CodeDirectory) -> HashMap<String, Snapshot> {
    environment_names(code)
        .into_iter()
        .map(|name| (name.clone(), load_environment(code, &name)))
        .collect()
}
