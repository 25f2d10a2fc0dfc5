//! From disk to memory: a code directory → [`Snapshot`]s.
//!
//! Nothing else in the server reads data. Configurations come first (`load/layers.rs`), since they say which
//! files there may be; then the directories they name are searched (`load/search.rs`), and each file that fits
//! is read and decoded on all cores (`load/decode.rs`), or taken over from the load before where it has not
//! changed. Whatever is wrong stays with its file: loading itself cannot fail.

mod decode;
mod fault;
mod file_fingerprint;
mod key_rings;
mod layers;
mod links;
mod listings;
mod missing;
mod nearby;
pub(crate) mod progress;
mod read;
mod revision;
mod search;
mod stability_check;
mod touched;
mod unseen;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{DataFile, Format, Layer, Snapshot};

use self::decode::Decoder;
use self::revision::{ContentDigest, Names, Revision, digest};
use self::search::Search;
use self::stability_check::StabilityCheck;
use crate::config::CodeDirectory;
use crate::data_loading::progress::Progress;

pub(crate) use decode::decode_one;
pub use fault::Fault;
pub(crate) use file_fingerprint::FileFingerprint;
pub(crate) use key_rings::{KeyRings, Known};
pub(crate) use layers::{
    ConfigFiles, EnvironmentConf, environment_layer, environment_names, global_layer,
    is_module_name, module_layer,
};
pub(crate) use links::refusal as link_refusal;
pub(crate) use listings::{Listings, nearest_directory};
pub(crate) use missing::NoEnvironments;
pub(crate) use read::read_file;
pub(crate) use stability_check::Stillness;

/// The layers of one environment, as configured.
pub(crate) struct Layers {
    pub(crate) global: Arc<Layer>,
    pub(crate) environment: Layer,
    pub(crate) modules: Vec<(ArcStr, Layer)>,
    /// What the configuration files hold.
    pub(crate) files: ConfigFiles,
    /// The directories that were looked into for them.
    pub(crate) directories: Vec<PathBuf>,
    /// The directories of the modules.
    pub(crate) module_roots: Vec<PathBuf>,
    /// The directories that may have modules and cannot be listed, with the reason.
    pub(crate) faults: Vec<Fault>,
    /// The layer of every module that is not named, where there may be others.
    pub(crate) unlisted_module: Option<Layer>,
}

impl Layers {
    /// All of them, from the global one down.
    fn iter(&self) -> impl Iterator<Item = &Layer> {
        [&*self.global, &self.environment]
            .into_iter()
            .chain(self.modules.iter().map(|(_, layer)| layer))
    }
}

/// An environment that has been loaded, and what it takes to load it again.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// What is served.
    pub(crate) snapshot: Arc<Snapshot>,
    // Invariant: sorted by path, then by format.
    files: Vec<CachedFile>,
    revision: Revision,
    surroundings: Arc<Surroundings>,
}

/// What there is beside data files.
#[derive(Debug, Default)]
struct Surroundings {
    /// The configurations, by what they hold.
    configs: HashMap<PathBuf, ContentDigest>,
    /// The files with keys, by what they hold.
    key_files: Vec<(PathBuf, ContentDigest)>,
    /// The directories in which configurations and keys lie or may appear.
    config_directories: HashSet<PathBuf>,
    /// Every directory that was looked into, and what it looked like. Sorted.
    directories: Vec<(PathBuf, Option<FileFingerprint>)>,
    /// The system failed to read a configuration.
    has_unread_configs: bool,
    /// Some data file is a link: it may change where another file does.
    has_links: bool,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
struct CachedFile {
    format: Format,
    file: Arc<DataFile>,
    /// What it looked like before it was read.
    seen: Option<FileFingerprint>,
    /// What it looks like is enough to know it again.
    is_settled: bool,
    /// The directory it really lies in, where it is a link.
    link: Option<Box<Path>>,
    digest: ContentDigest,
    /// The system failed to read it, which may pass.
    is_unread: bool,
}

impl CachedFile {
    fn path(&self) -> &str {
        self.file.path()
    }
}

/// Stands for a file that was looked for and could not be read.
const ABSENT: ContentDigest = 1;

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

/// Cores to load with where nobody waits for answers, and where a core is left to those who do.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// See [`all_cores`].
pub(crate) fn all_cores_but_one() -> usize {
    (all_cores() - 1).max(1)
}

/// An environment that is to be loaded.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) code: &'a CodeDirectory,
    pub(crate) name: &'a str,
    /// The load before. Files that have not changed since are shared with it.
    pub(crate) previous: Option<&'a Loaded>,
    /// How many to load on.
    pub(crate) cores: usize,
    pub(crate) progress: &'a Progress,
}

/// An environment that has been read, before it is put together.
struct Read {
    files: Vec<CachedFile>,
    revision: Revision,
    surroundings: Surroundings,
}

impl Read {
    fn put_together(&self, other_parts: Parts) -> Snapshot {
        let files = self.files.iter();
        Snapshot::build(Parts {
            files: files
                .map(|cached| (cached.format, cached.file.clone()))
                .collect(),
            ..other_parts
        })
    }

    fn served_by(self, snapshot: Snapshot) -> Loaded {
        Loaded {
            snapshot: Arc::new(snapshot),
            files: self.files,
            revision: self.revision,
            surroundings: Arc::new(self.surroundings),
        }
    }
}

impl<'a> Load<'a> {
    /// A load of everything, on all cores.
    pub(crate) fn from_scratch(
        code: &'a CodeDirectory,
        name: &'a str,
        progress: &'a Progress,
    ) -> Self {
        Load {
            code,
            name,
            previous: None,
            cores: all_cores(),
            progress,
        }
    }

    /// Loads it.
    pub(crate) fn run(&self) -> Loaded {
        let (parts, read) = self.read();
        let snapshot = read.put_together(parts);
        read.served_by(snapshot)
    }

    /// The same, and whether everything still looked as it did when all of it had been read.
    pub(crate) fn run_and_look_again(&self) -> (Loaded, Stillness) {
        let (parts, read) = self.read();
        let look = StabilityCheck::new(&read.surroundings.directories, &read.files);
        let snapshot = std::thread::scope(|scope| {
            for _ in 1..look.shares().min(self.cores) {
                scope.spawn(|| look.take_part());
            }
            let snapshot = read.put_together(parts);
            look.take_part();
            snapshot
        });
        let mut stillness = look.stillness();
        if stillness == Stillness::Still && !self.has_same_configs(&read.surroundings) {
            stillness = Stillness::Moved;
        }
        (read.served_by(snapshot), stillness)
    }

    /// Configurations are few and small, and are read again rather than looked at.
    fn has_same_configs(&self, then: &Surroundings) -> bool {
        let now = layers::read_layers(self.code, self.name).files.texts;
        now.iter()
            .all(|(path, bytes)| then.configs.get(path) == Some(&digest(bytes)))
    }

    /// Reads everything. The parts of the snapshot lack the files.
    fn read(&self) -> (Parts, Read) {
        let Load {
            code,
            name,
            previous,
            cores,
            progress,
        } = *self;
        let root = code.environment(name);
        // Seen before anything is read, so that one that is replaced or goes away meanwhile is noticed.
        let root_fingerprint = FileFingerprint::of(&root);
        let mut layers = layers::read_layers(code, name);
        let listings = Listings::default();
        let search = Search {
            environment: name,
            listings: &listings,
            code,
        };
        let found = search.find_files(layers.iter());
        let keys = KeyRings::of(
            layers.iter(),
            &Known {
                environment: name,
                listings: &listings,
                code,
            },
        );
        let names = Names::new(code, name);
        let decoder = Decoder {
            code,
            keys: &keys,
            names: &names,
            previous,
        };
        let decoded = decoder.decode_all(&found.files, cores, progress);
        let configs = configs_of(&mut layers, &keys);
        let mut revision = decoded.revision;
        for (path, digest) in &configs {
            revision.add(names.config(path, *digest));
        }
        let mut faults = std::mem::take(&mut layers.faults);
        faults.extend(found.faults);
        faults.extend(keys.faults().iter().cloned());
        faults.extend(listings.faults());
        for fault in &faults {
            // What could not be read is another state of the data than what is not there.
            let digest = digest(fault.problem.as_bytes());
            revision.add(names.config(Path::new(&fault.path), digest));
        }
        let listed = listings.into_entries();
        let mut config_directories: HashSet<PathBuf> = std::mem::take(&mut layers.directories)
            .into_iter()
            .collect();
        config_directories.extend(keys.directories());
        config_directories.extend(configs.keys().filter_map(|path| nearest_directory(path)));
        let links = decoded.files.iter().filter_map(|file| file.link.as_deref());
        let has_links = links.clone().next().is_some();
        let mut directories: Vec<PathBuf> = listed
            .iter()
            .map(|(path, _)| PathBuf::from(path.as_str()))
            .chain(config_directories.iter().cloned())
            .chain(found.directories)
            .chain(links.map(Path::to_path_buf))
            .collect();
        directories.sort();
        directories.dedup();
        let directories = directories
            .into_iter()
            .map(|path| {
                let fingerprint = if path == root {
                    root_fingerprint
                } else {
                    FileFingerprint::of(&path)
                };
                (path, fingerprint)
            })
            .collect();
        let parts = Parts {
            name: name.into(),
            global: layers.global,
            environment: layers.environment,
            modules: layers.modules,
            files: Vec::new(),
            directories: listed,
            unreadable: faults
                .into_iter()
                .map(|fault| (fault.path.into(), fault.problem))
                .collect(),
            unlisted_module: layers.unlisted_module,
            strictness: self.code.strictness,
            loops: found
                .loops
                .iter()
                .map(|(link, target)| (link.into(), target.into()))
                .collect(),
            revision: revision.to_string(),
        };
        let surroundings = Surroundings {
            configs,
            key_files: keys.key_files().to_vec(),
            config_directories,
            directories,
            has_unread_configs: layers.files.has_unread,
            has_links,
        };
        let read = Read {
            files: decoded.files,
            revision,
            surroundings,
        };
        (parts, read)
    }
}

/// What the configurations and key files hold.
fn configs_of(layers: &mut Layers, keys: &KeyRings) -> HashMap<PathBuf, ContentDigest> {
    let texts = std::mem::take(&mut layers.files.texts);
    let mut configs: HashMap<PathBuf, ContentDigest> = texts
        .into_iter()
        .map(|(path, bytes)| (path, digest(&bytes)))
        .chain(keys.key_files().iter().cloned())
        .collect();
    // A module counts even if it has no data: its name is taken.
    configs.extend(layers.module_roots.iter().map(|root| (root.clone(), 0)));
    configs
}

impl Loaded {
    /// A file as it is read for this format.
    fn file(&self, path: &str, format: Format) -> Option<&CachedFile> {
        let place = self
            .files
            .binary_search_by(|file| file.path().cmp(path).then(file.format.cmp(&format)));
        self.files.get(place.ok()?)
    }

    /// Did the system fail to read something that may be there? A later load may succeed without any change on disk.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.snapshot.unreadable().next().is_some()
            || self.surroundings.has_unread_configs
            || self.files.iter().any(|file| file.is_unread)
    }

    /// The directories that this environment was read from.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        let directories = self.surroundings.directories.iter();
        directories.map(|(path, _)| path.as_path())
    }

    /// Was this directory read, by this name or as the one that it is?
    pub(crate) fn reads(&self, directory: &Path, identity: Option<(u64, u64)>) -> bool {
        match identity {
            // Asked for every event, and there may be many of both.
            None => self.fingerprint_of(directory).is_some(),
            Some(_) => self.names_of(directory, identity).next().is_some(),
        }
    }

    /// What a directory looked like that was read by this name; outer `None` where none was.
    fn fingerprint_of(&self, directory: &Path) -> Option<Option<FileFingerprint>> {
        let directories = &self.surroundings.directories;
        let place = directories.binary_search_by(|(path, _)| path.as_path().cmp(directory));
        directories
            .get(place.ok()?)
            .map(|(_, fingerprint)| *fingerprint)
    }

    /// The names by which a directory was read, and what it looked like.
    fn names_of(
        &self,
        directory: &Path,
        identity: Option<(u64, u64)>,
    ) -> impl Iterator<Item = (&Path, Option<FileFingerprint>)> {
        let directories = self.surroundings.directories.iter();
        directories
            .filter(move |(path, fingerprint)| {
                (identity.is_some()
                    && fingerprint.map(|fingerprint| fingerprint.identity()) == identity)
                    || path.as_os_str() == directory.as_os_str()
            })
            .map(|(path, fingerprint)| (path.as_path(), *fingerprint))
    }

    /// What differs from an earlier load; all of it where there was none.
    pub(crate) fn changes_since(&self, earlier: Option<&Loaded>) -> Changes {
        let mut changes = Changes::default();
        let configs = earlier.map(Loaded::config_digests);
        changes.compare(&configs.unwrap_or_default(), &self.config_digests());
        let files = earlier.map(Loaded::file_digests);
        changes.compare(&files.unwrap_or_default(), &self.file_digests());
        for list in [
            &mut changes.added,
            &mut changes.changed,
            &mut changes.removed,
        ] {
            list.sort();
        }
        changes
    }

    /// What the configurations hold, sorted by their paths.
    fn config_digests(&self) -> Vec<(&str, &ContentDigest)> {
        let configs = self.surroundings.configs.iter();
        let mut configs: Vec<_> = configs
            .filter(|(_, digest)| **digest != ABSENT)
            .filter_map(|(path, digest)| Some((path.to_str()?, digest)))
            .collect();
        configs.sort();
        configs
    }

    /// What the data files hold, sorted by their paths.
    fn file_digests(&self) -> Vec<(&str, &ContentDigest)> {
        let files = self.files.iter();
        let mut files: Vec<_> = files.map(|file| (file.path(), &file.digest)).collect();
        // One may be read as several formats.
        files.dedup_by_key(|(path, _)| *path);
        files
    }
}

impl Changes {
    /// Goes through two sorted lists.
    fn compare(&mut self, before: &[(&str, &ContentDigest)], now: &[(&str, &ContentDigest)]) {
        let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
        loop {
            let order = match (before.peek(), now.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let old = before.next_if(|_| order.is_le());
            let new = now.next_if(|_| order.is_ge());
            match (old, new) {
                (Some((path, _)), None) => self.removed.push((*path).to_owned()),
                (None, Some((path, _))) => self.added.push((*path).to_owned()),
                (Some((_, old)), Some((path, new))) if old != new => {
                    self.changed.push((*path).to_owned());
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_what_two_sorted_lists_do_not_share() {
        let (one, two) = (1, 2);
        let before = [("a", &one), ("b", &one), ("d", &one), ("e", &one)];
        let now = [("b", &two), ("c", &one), ("d", &one), ("f", &one)];
        let mut changes = Changes::default();
        changes.compare(&before, &now);
        let expected = Changes {
            added: vec!["c".to_owned(), "f".to_owned()],
            changed: vec!["b".to_owned()],
            removed: vec!["a".to_owned(), "e".to_owned()],
        };
        assert_eq!(changes, expected);
    }
}
