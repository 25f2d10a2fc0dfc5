//! [`Load`]: one environment on disk → [`LoadedEnvironment`].

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{Fault, Snapshot};

use super::FileFingerprint;
use super::decode::Decoder;
use super::key_rings::KeyRings;
use super::layers::{self, Layers};
use super::listings::{Listings, nearest_directory};
use super::loaded::{CachedFile, LoadedEnvironment, OtherInputs};
use super::progress::Progress;
use super::revision::{ContentDigest, LogicalNames, Revision, digest};
use super::search::Search;
use super::stability_check::{Stability, StabilityCheck};
use crate::config::CodeDirectory;

/// The cores to load with while nothing is served.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The cores to load with while requests are answered: one is left to them.
pub(crate) fn all_cores_but_one() -> usize {
    (all_cores() - 1).max(1)
}

/// An environment to load.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) code: &'a CodeDirectory,
    pub(crate) name: &'a str,
    /// The load before. Files that have not changed since are shared with it.
    pub(crate) previous: Option<&'a LoadedEnvironment>,
    /// How many cores to use.
    pub(crate) cores: usize,
    pub(crate) progress: &'a Progress,
}

/// An environment that has been read, before its snapshot is built.
struct ReadEnvironment {
    files: Vec<CachedFile>,
    revision: Revision,
    inputs: OtherInputs,
}

impl ReadEnvironment {
    fn build_snapshot(&self, other_parts: Parts) -> Snapshot {
        let files = self.files.iter();
        Snapshot::build(Parts {
            files: files
                .map(|cached| (cached.format, cached.file.clone()))
                .collect(),
            ..other_parts
        })
    }

    fn into_loaded(self, snapshot: Snapshot) -> LoadedEnvironment {
        LoadedEnvironment {
            snapshot: Arc::new(snapshot),
            files: self.files,
            revision: self.revision,
            inputs: Arc::new(self.inputs),
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

    /// Loads the environment.
    pub(crate) fn run(&self) -> LoadedEnvironment {
        let (other_parts, read) = self.read();
        let snapshot = read.build_snapshot(other_parts);
        read.into_loaded(snapshot)
    }

    /// Loads the environment, and checks whether anything changed while it was read.
    pub(crate) fn run_and_verify(&self) -> (LoadedEnvironment, Stability) {
        let (other_parts, read) = self.read();
        let check = StabilityCheck::new(&read.inputs.directories, &read.files);
        let snapshot = std::thread::scope(|scope| {
            for _ in 1..check.chunks().min(self.cores) {
                scope.spawn(|| check.run_chunks());
            }
            let snapshot = read.build_snapshot(other_parts);
            check.run_chunks();
            snapshot
        });
        let mut stability = check.stability();
        if stability == Stability::Stable && !self.has_same_configs(&read.inputs) {
            stability = Stability::DirectoriesChanged;
        }
        (read.into_loaded(snapshot), stability)
    }

    /// Configurations are few and small, so they are read again instead of comparing fingerprints.
    fn has_same_configs(&self, inputs: &OtherInputs) -> bool {
        let now = layers::read_layers(self.code, self.name).files.texts;
        now.iter()
            .all(|(path, bytes)| inputs.configs.get(path) == Some(&digest(bytes)))
    }

    /// Reads everything. The parts of the snapshot lack the files.
    fn read(&self) -> (Parts, ReadEnvironment) {
        let Load { code, name, .. } = *self;
        let root = code.environment(name);
        // Taken before anything is read, so that a directory that is replaced meanwhile is noticed.
        let root_fingerprint = FileFingerprint::of(&root);
        let mut layers = layers::read_layers(code, name);
        let listings = Listings::default();
        let search = Search {
            environment: name,
            listings: &listings,
            code,
        };
        let found = search.find_files(layers.iter());
        let keys = KeyRings::of(layers.iter(), &search);
        let names = LogicalNames::new(code, name);
        let decoder = Decoder {
            code,
            keys: &keys,
            names: &names,
            previous: self.previous,
        };
        let decoded = decoder.decode_all(&found.files, self.cores, self.progress);
        let configs = config_digests(&mut layers, &keys);
        let mut faults = std::mem::take(&mut layers.faults);
        faults.extend(found.faults);
        faults.extend(keys.faults().iter().cloned());
        faults.extend(listings.faults());
        let mut revision = decoded.revision;
        for (path, digest) in &configs {
            revision.add(names.config(path, *digest));
        }
        for fault in &faults {
            // A path that cannot be read is another state of the data than a path that is absent.
            let digest = digest(fault.problem.as_bytes());
            revision.add(names.config(Path::new(&fault.path), digest));
        }
        let listed = listings.into_entries();
        let mut config_directories: HashSet<PathBuf> = std::mem::take(&mut layers.directories)
            .into_iter()
            .collect();
        config_directories.extend(keys.directories());
        config_directories.extend(configs.keys().filter_map(|path| nearest_directory(path)));
        let links = decoded.files.iter();
        let links = links.filter_map(|file| file.link_directory.as_deref());
        let has_links = links.clone().next().is_some();
        let directories = listed
            .iter()
            .map(|(path, _)| PathBuf::from(path.as_str()))
            .chain(config_directories.iter().cloned())
            .chain(found.directories)
            .chain(links.map(Path::to_path_buf));
        let inputs = OtherInputs {
            directories: with_fingerprints(directories, (&root, root_fingerprint)),
            configs,
            key_files: keys.key_files().to_vec(),
            config_directories,
            has_unread_configs: layers.files.has_unread,
            has_links,
        };
        let parts = Parts {
            name: name.into(),
            global: layers.global,
            environment: layers.environment,
            modules: layers.modules,
            files: Vec::new(),
            directories: listed,
            unreadable: unreadable_paths(faults),
            unlisted_module: layers.unlisted_module,
            strictness: code.strictness,
            loops: found
                .loops
                .iter()
                .map(|(link, target)| (link.into(), target.into()))
                .collect(),
            revision: revision.to_string(),
        };
        let read = ReadEnvironment {
            files: decoded.files,
            revision,
            inputs,
        };
        (parts, read)
    }
}

/// The digests of configurations and key files.
fn config_digests(layers: &mut Layers, keys: &KeyRings) -> HashMap<PathBuf, ContentDigest> {
    let texts = std::mem::take(&mut layers.files.texts);
    let mut configs: HashMap<PathBuf, ContentDigest> = texts
        .into_iter()
        .map(|(path, bytes)| (path, digest(&bytes)))
        .chain(keys.key_files().iter().cloned())
        .collect();
    // A module without data counts as well: it hides modules of the same name.
    configs.extend(layers.module_roots.iter().map(|root| (root.clone(), 0)));
    configs
}

/// Each directory once, sorted, with its fingerprint.
fn with_fingerprints(
    directories: impl Iterator<Item = PathBuf>,
    (root, root_fingerprint): (&Path, Option<FileFingerprint>),
) -> Vec<(PathBuf, Option<FileFingerprint>)> {
    let mut directories: Vec<PathBuf> = directories.collect();
    directories.sort();
    directories.dedup();
    let directories = directories.into_iter().map(|path| {
        let fingerprint = if path == root {
            root_fingerprint
        } else {
            FileFingerprint::of(&path)
        };
        (path, fingerprint)
    });
    directories.collect()
}

fn unreadable_paths(faults: Vec<Fault>) -> Vec<(ArcStr, String)> {
    let faults = faults.into_iter();
    faults
        .map(|fault| (fault.path.into(), fault.problem))
        .collect()
}
