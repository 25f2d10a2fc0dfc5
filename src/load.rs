//! From disk to memory: a code directory → [`Snapshot`]s.
//!
//! Nothing else in the server reads data. Configurations come first (`load/layers.rs`), since they say which
//! files there may be; then the directories they name are searched (`load/search.rs`), and each file that fits
//! is read and decoded on all cores (`load/decode.rs`), or taken over from the load before where it has not
//! changed. Whatever is wrong stays with its file: loading itself cannot fail.

mod decode;
mod key_rings;
mod layers;
mod read;
mod search;
mod stamp;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{DataFile, Format, Layer, Snapshot};
use sha2::{Digest, Sha256};

use crate::progress::Progress;

pub(crate) use decode::decode_one;
pub(crate) use key_rings::{KeyRings, Known};
pub(crate) use layers::{
    EnvironmentConf, environment_layer, environment_names, global_layer, is_environment_name,
    is_module_name, module_layer,
};
pub(crate) use read::read_file;
pub(crate) use search::Listings;
pub(crate) use stamp::Stamp;

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
    /// The directories that were looked into for them.
    pub(crate) directories: Vec<PathBuf>,
    /// The directories of the modules.
    pub(crate) module_roots: Vec<PathBuf>,
}

/// An environment that has been loaded, and what it takes to load it again.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What is served.
    pub(crate) snapshot: Arc<Snapshot>,
    /// The files by what they are read as.
    files: HashMap<(Format, String), CachedFile>,
    /// The configurations, by what they hold.
    configs: HashMap<PathBuf, ContentDigest>,
    /// The files with keys, by what they hold.
    key_files: Vec<(PathBuf, ContentDigest)>,
    /// Every directory that was looked into, and what it looked like.
    directories: Vec<(PathBuf, Option<Stamp>)>,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
struct CachedFile {
    /// What it looked like before it was read.
    seen: Option<Stamp>,
    /// The same, where that is enough to know it again.
    stamp: Option<Stamp>,
    file: Arc<DataFile>,
    digest: ContentDigest,
}

type ContentDigest = [u8; 32];

/// Stands for a file that was looked for and could not be read.
const ABSENT: ContentDigest = [1; 32];

/// Which files are not what they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Files that were not there.
    pub(crate) added: Vec<String>,
    /// Files that hold something else.
    pub(crate) changed: Vec<String>,
    /// Files that are gone.
    pub(crate) removed: Vec<String>,
}

/// Loads an environment. Files that have not changed since `previous` are shared with it.
pub(crate) fn load_environment(
    code: &CodeDirectory,
    name: &str,
    previous: Option<&Loaded>,
    progress: &Progress,
) -> Loaded {
    let root = code.environment(name);
    // Seen before anything is read, so that one that is replaced or goes away meanwhile is noticed.
    let root_stamp = Stamp::of(&root);
    let mut layers = layers::read_layers(code, name);
    let listings = Listings::default();
    let found = search::find_files(&layers, &listings);
    let keys = KeyRings::of(
        &layers,
        &Known {
            environment: name,
            listings: &listings,
            max_file_size: code.max_file_size,
        },
    );
    let files = decode::decode_all(code, found.files, &keys, previous, progress);
    let mut configs: HashMap<PathBuf, ContentDigest> = std::mem::take(&mut layers.texts)
        .into_iter()
        .map(|(path, bytes)| (path, Sha256::digest(&bytes).into()))
        .chain(keys.key_files().iter().cloned())
        .collect();
    // A module counts even if it has no data: its name is taken.
    configs.extend(
        layers
            .module_roots
            .iter()
            .map(|root| (root.clone(), [0; 32])),
    );
    let entries = listings.into_entries();
    let mut directories: Vec<PathBuf> = entries
        .iter()
        .map(|(path, _)| PathBuf::from(path.as_str()))
        .collect();
    directories.append(&mut layers.directories);
    directories.extend(found.directories);
    directories.extend_from_slice(keys.directories());
    let linked_keys = keys.key_files().iter();
    directories.extend(linked_keys.filter_map(|(path, _)| linked_directory(path)));
    directories.extend(
        files
            .keys()
            .filter_map(|(_, path)| linked_directory(Path::new(path))),
    );
    directories.extend(
        configs
            .keys()
            .filter_map(|path| search::nearest_directory(path)),
    );
    directories.sort();
    directories.dedup();
    let revision = revision(code, name, &configs, &files);
    let mut sorted: Vec<(Format, Arc<DataFile>)> = files
        .iter()
        .map(|((format, _), cached)| (*format, cached.file.clone()))
        .collect();
    sorted.sort_by(|left, right| left.1.path().cmp(right.1.path()));
    let snapshot = Snapshot::build(Parts {
        global: layers.global,
        environment: layers.environment,
        modules: layers.modules,
        files: sorted,
        directories: entries,
        revision,
    });
    let directories = directories
        .into_iter()
        .map(|path| {
            let stamp = if path == root {
                root_stamp
            } else {
                Stamp::of(&path)
            };
            (path, stamp)
        })
        .collect();
    Loaded {
        snapshot: Arc::new(snapshot),
        files,
        configs,
        key_files: keys.key_files().to_vec(),
        directories,
    }
}

/// Where a file really lies, if it is a link: changes there come with no event where the link is.
fn linked_directory(path: &Path) -> Option<PathBuf> {
    path.is_symlink()
        .then(|| path.canonicalize().ok()?.parent().map(Path::to_path_buf))?
}

impl Loaded {
    /// Nothing at all.
    pub(crate) fn none() -> Self {
        let parts = Parts {
            global: Arc::new(Layer::Absent),
            environment: Layer::Absent,
            modules: Vec::new(),
            files: Vec::new(),
            directories: Vec::new(),
            revision: String::new(),
        };
        Loaded {
            snapshot: Arc::new(Snapshot::build(parts)),
            files: HashMap::new(),
            configs: HashMap::new(),
            key_files: Vec::new(),
            directories: Vec::new(),
        }
    }

    /// Does everything that was read still look as it did then?
    pub(crate) fn is_still(&self, code: &CodeDirectory, name: &str) -> bool {
        self.has_same_configs(code, name) && self.has_same_files()
    }

    /// Configurations are few and small, and are read again rather than looked at.
    fn has_same_configs(&self, code: &CodeDirectory, name: &str) -> bool {
        let now = layers::read_layers(code, name).texts;
        now.iter().all(|(path, bytes)| {
            let digest: ContentDigest = Sha256::digest(bytes).into();
            self.configs.get(path) == Some(&digest)
        })
    }

    fn has_same_files(&self) -> bool {
        self.directories
            .iter()
            .all(|(path, stamp)| Stamp::of(path) == *stamp)
            && self
                .files
                .iter()
                .all(|((_, path), cached)| cached.seen == Stamp::of(Path::new(path)))
    }

    /// The directories that this environment was read from.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(|(path, _)| path.as_path())
    }

    /// Was this directory read, by this name or as the one that it is?
    pub(crate) fn reads(&self, directory: &Path, identity: Option<(u64, u64)>) -> bool {
        self.directories.iter().any(|(path, stamp)| {
            path == directory
                || (identity.is_some() && stamp.map(|stamp| stamp.identity()) == identity)
        })
    }

    /// What differs from an earlier load.
    pub(crate) fn changes_since(&self, earlier: &Loaded) -> Changes {
        let mut changes = Changes::default();
        let (now, before) = (self.digests(), earlier.digests());
        for (path, digest) in &now {
            match before.get(path) {
                None => changes.added.push(path.to_string()),
                Some(old) if old != digest => changes.changed.push(path.to_string()),
                Some(_) => {}
            }
        }
        changes.removed = before
            .keys()
            .filter(|path| !now.contains_key(*path))
            .map(ToString::to_string)
            .collect();
        for list in [
            &mut changes.added,
            &mut changes.changed,
            &mut changes.removed,
        ] {
            list.sort();
        }
        changes
    }

    fn digests(&self) -> HashMap<std::borrow::Cow<'_, str>, ContentDigest> {
        let configs = self
            .configs
            .iter()
            .filter(|(_, digest)| **digest != ABSENT)
            .map(|(path, digest)| (path.to_string_lossy(), *digest));
        let files = self
            .files
            .iter()
            .map(|((_, path), cached)| (path.as_str().into(), cached.digest));
        configs.chain(files).collect()
    }
}

/// A digest of names and contents. Names are relative to what they belong to, so that the place of the code
/// directory does not matter.
fn revision(
    code: &CodeDirectory,
    environment: &str,
    configs: &HashMap<PathBuf, ContentDigest>,
    files: &HashMap<(Format, String), CachedFile>,
) -> String {
    let global = code
        .hiera_config
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_path_buf);
    let mut roots = vec![
        (code.environment(environment), "environment"),
        (code.root.clone(), "code"),
    ];
    roots.extend(global.map(|root| (root, "global")));
    let logical = |path: &Path| {
        let inside = roots
            .iter()
            .find_map(|(root, name)| Some((name, path.strip_prefix(root).ok()?)));
        inside.map_or_else(
            || path.display().to_string(),
            |(name, rest)| format!("{name}:{}", rest.display()),
        )
    };
    let mut entries: Vec<(String, ContentDigest)> = configs
        .iter()
        .map(|(path, digest)| (logical(path), *digest))
        .collect();
    entries.extend(files.iter().map(|((format, path), cached)| {
        let kind = match format {
            Format::Eyaml(_) => "Eyaml".to_owned(),
            other => format!("{other:?}"),
        };
        (
            format!("{kind} {}", logical(Path::new(path))),
            cached.digest,
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
