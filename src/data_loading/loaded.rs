//! [`LoadedEnvironment`]: a snapshot, and what the next load needs to know about it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hiera_resolver::{DataFile, Format, Snapshot};

use super::file_changes::FileChanges;
use super::file_fingerprint::{FileFingerprint, FileIdentity};
use super::revision::{ABSENT_DIGEST, ContentDigest, Revision};

/// An environment that has been loaded, with what it takes to load it again.
#[derive(Clone, Debug)]
pub(crate) struct LoadedEnvironment {
    /// The data to serve.
    pub(crate) snapshot: Arc<Snapshot>,
    // Invariant: sorted by path, then by format.
    pub(super) files: Vec<CachedFile>,
    pub(super) revision: Revision,
    pub(super) inputs: Arc<OtherInputs>,
}

/// What a load read besides data files.
#[derive(Debug, Default)]
pub(super) struct OtherInputs {
    /// Configurations and key files, with their digests.
    pub(super) configs: HashMap<PathBuf, ContentDigest>,
    /// Key files, with their digests.
    pub(super) key_files: Vec<(PathBuf, ContentDigest)>,
    /// Directories in which configurations or keys exist or may appear.
    pub(super) config_directories: HashSet<PathBuf>,
    /// Every directory that was read, with its fingerprint. Sorted.
    pub(super) directories: Vec<(PathBuf, Option<FileFingerprint>)>,
    /// The system failed to read a configuration.
    pub(super) has_unread_configs: bool,
    /// Some data file is a link, so it may change in a directory that is not its own.
    pub(super) has_links: bool,
}

/// A data file as it was read.
#[derive(Clone, Debug)]
pub(super) struct CachedFile {
    pub(super) format: Format,
    pub(super) file: Arc<DataFile>,
    /// Its fingerprint before it was read.
    pub(super) fingerprint: Option<FileFingerprint>,
    /// An equal fingerprint means equal content. Not so if the file changed just before it was read.
    pub(super) is_settled: bool,
    /// The directory of the link's target, if the file is a link.
    pub(super) link_directory: Option<Box<Path>>,
    pub(super) digest: ContentDigest,
    /// The system failed to read it, which may be temporary.
    pub(super) is_unread: bool,
}

impl CachedFile {
    pub(super) fn path(&self) -> &str {
        self.file.path()
    }
}

impl LoadedEnvironment {
    /// A file as read for a format.
    pub(super) fn file(&self, path: &str, format: Format) -> Option<&CachedFile> {
        let index = self
            .files
            .binary_search_by(|file| file.path().cmp(path).then(file.format.cmp(&format)));
        self.files.get(index.ok()?)
    }

    /// Did the system fail to read something? A later load may succeed without any change on disk.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.snapshot.unreadable().next().is_some()
            || self.inputs.has_unread_configs
            || self.files.iter().any(|file| file.is_unread)
    }

    /// The directories that were read.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        let directories = self.inputs.directories.iter();
        directories.map(|(path, _)| path.as_path())
    }

    /// Was a directory read, under this path or as this identity?
    pub(crate) fn reads_directory(&self, path: &Path, identity: Option<FileIdentity>) -> bool {
        match identity {
            // Called for every event, and there may be many events and directories.
            None => self.directory_fingerprint(path).is_some(),
            Some(_) => self.directory_paths(path, identity).next().is_some(),
        }
    }

    /// The fingerprint of a directory that was read under this path. The outer `None`: it was not read.
    pub(super) fn directory_fingerprint(&self, path: &Path) -> Option<Option<FileFingerprint>> {
        let directories = &self.inputs.directories;
        let index = directories.binary_search_by(|(known, _)| known.as_path().cmp(path));
        directories
            .get(index.ok()?)
            .map(|(_, fingerprint)| *fingerprint)
    }

    /// The paths under which a directory was read, with their fingerprints.
    pub(super) fn directory_paths(
        &self,
        path: &Path,
        identity: Option<FileIdentity>,
    ) -> impl Iterator<Item = (&Path, Option<FileFingerprint>)> {
        let is_same = move |fingerprint: &Option<FileFingerprint>| {
            identity.is_some() && fingerprint.map(|found| found.identity()) == identity
        };
        let directories = self.inputs.directories.iter();
        directories
            .filter(move |(known, fingerprint)| {
                is_same(fingerprint) || known.as_os_str() == path.as_os_str()
            })
            .map(|(known, fingerprint)| (known.as_path(), *fingerprint))
    }

    /// What differs from an earlier load; everything if there was none.
    pub(crate) fn changes_since(&self, earlier: Option<&LoadedEnvironment>) -> FileChanges {
        let mut changes = FileChanges::default();
        let configs = earlier.map(LoadedEnvironment::config_digests);
        changes.compare(&configs.unwrap_or_default(), &self.config_digests());
        let files = earlier.map(LoadedEnvironment::file_digests);
        changes.compare(&files.unwrap_or_default(), &self.file_digests());
        changes.sort();
        changes
    }

    /// The digests of the configurations that exist, sorted by path.
    fn config_digests(&self) -> Vec<(&str, &ContentDigest)> {
        let configs = self.inputs.configs.iter();
        let mut configs: Vec<_> = configs
            .filter(|(_, digest)| **digest != ABSENT_DIGEST)
            .filter_map(|(path, digest)| Some((path.to_str()?, digest)))
            .collect();
        configs.sort();
        configs
    }

    /// The digests of the data files, sorted by path.
    fn file_digests(&self) -> Vec<(&str, &ContentDigest)> {
        let files = self.files.iter();
        let mut files: Vec<_> = files.map(|file| (file.path(), &file.digest)).collect();
        // A file may be read in several formats.
        files.dedup_by_key(|(path, _)| *path);
        files
    }
}
