//! A few changed files → the next [`LoadedEnvironment`], without inspecting the others.
//!
//! In a tree of many thousand files it takes a tenth of a second to inspect them all. If events report only regular files,
//! in directories that were read before, and no links are involved, only those files are read. Any other change takes a
//! full load.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::Format;
use hiera_resolver::hierarchy::glob::{DirectoryEntry, EntryKind};
use hiera_resolver::snapshot::Differences;

use super::decode::{DecodeState, Decoder};
use super::loaded::{CachedFile, LoadedEnvironment};
use super::revision::LogicalNames;
use super::{FileFingerprint, KeyRings, Listings, Search, search};
use crate::config::CodeDirectory;

/// The most files that are loaded one by one.
const MAX_CHANGED: usize = 256;

impl LoadedEnvironment {
    /// The next load if nothing but these paths has changed; `None` if that takes a full load.
    pub(crate) fn with_changed_files(
        &self,
        code: &CodeDirectory,
        name: &str,
        paths: &BTreeSet<PathBuf>,
    ) -> Option<LoadedEnvironment> {
        let is_unreadable = self.snapshot.unreadable().next().is_some();
        if self.inputs.has_links || is_unreadable || paths.len() > MAX_CHANGED {
            return None;
        }
        let search = Search {
            environment: name,
            listings: &Listings::default(),
            code,
        };
        let keys = KeyRings::of(self.snapshot.layers(), &search);
        if !keys.are_those_of(self) {
            return None;
        }
        let names = LogicalNames::new(code, name);
        let decoder = Decoder {
            code,
            keys: &keys,
            names: &names,
            previous: Some(self),
        };
        let mut next = NextLoad {
            loaded: self.clone(),
            differences: Differences::default(),
            listings: HashMap::new(),
        };
        let mut state = DecodeState::default();
        for path in paths {
            let Some(changed) = self.changed_file(path)? else {
                continue;
            };
            next.update_listing(&changed)?;
            let cached = self.cached_files(changed.path);
            if !changed.exists {
                next.remove(changed.path, &names);
            } else if !cached.is_empty() {
                for format in cached.iter().map(|file| file.format) {
                    next.replace(decoder.decode(changed.path, format, &mut state)?, &names);
                }
            } else {
                for format in self.formats_of(name, &changed) {
                    next.add(decoder.decode(changed.path, format, &mut state)?, &names);
                }
            }
        }
        Some(next.finish())
    }

    /// Are these files still as they were read, and still regular files?
    pub(crate) fn is_unchanged_at(&self, paths: &BTreeSet<PathBuf>) -> bool {
        paths.iter().all(|path| {
            let cached = path.to_str().map(|path| self.cached_files(path));
            let mut cached = cached.unwrap_or_default().iter();
            self.changed_file(path).is_some()
                && cached.all(|file| file.fingerprint == FileFingerprint::of(path))
        })
    }

    /// A path that is, or was, a regular file. `Some(None)`: the environment does not read its directory. `None`: it takes
    /// a full load.
    fn changed_file<'a>(&self, path: &'a Path) -> Option<Option<ChangedFile<'a>>> {
        // A directory was replaced.
        if self.reads_directory(path, None) {
            return None;
        }
        let directory = path.parent()?;
        let identity = FileFingerprint::of(directory).map(|fingerprint| fingerprint.identity());
        let mut known_paths = self.directory_paths(directory, identity);
        let Some((known_path, fingerprint)) = known_paths.next() else {
            return Some(None);
        };
        // The directory was replaced, or was read under another path too: other files may be affected.
        let is_same =
            identity.is_some() && fingerprint.map(|fingerprint| fingerprint.identity()) == identity;
        if !is_same || known_path != directory || known_paths.next().is_some() {
            return None;
        }
        if self.inputs.config_directories.contains(directory) {
            return None;
        }
        let exists = match path.symlink_metadata() {
            Ok(metadata) if is_plain_file(&metadata) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            _ => return None,
        };
        // Names that are not UTF-8 take a listing.
        let (path, directory) = (path.to_str()?, directory.to_str()?);
        let (_, name) = path.rsplit_once('/')?;
        Some(Some(ChangedFile {
            path,
            directory,
            name,
            exists,
        }))
    }

    /// The formats in which a new file is read.
    fn formats_of(&self, environment: &str, file: &ChangedFile<'_>) -> Vec<Format> {
        let is_listed = self.snapshot.listing(file.directory).is_some();
        search::formats_of(self.snapshot.layers(), environment, file.path, is_listed)
    }

    /// A file as it was read, once for each format.
    fn cached_files(&self, path: &str) -> &[CachedFile] {
        let range = index_range(&self.files, path);
        self.files.get(range).unwrap_or_default()
    }
}

/// Is it a regular file without further hard links?
fn is_plain_file(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.nlink() == 1
}

/// A file that has been added, changed or removed.
struct ChangedFile<'a> {
    path: &'a str,
    directory: &'a str,
    name: &'a str,
    exists: bool,
}

/// The next load, under construction, and how its snapshot differs.
struct NextLoad {
    loaded: LoadedEnvironment,
    differences: Differences,
    /// Directories whose entries have changed, for globs.
    listings: HashMap<ArcStr, Vec<DirectoryEntry>>,
}

impl NextLoad {
    fn replace(&mut self, file: CachedFile, names: &LogicalNames) {
        let key = (file.path(), file.format);
        let index = index_of(&self.loaded.files, key);
        let Some(old) = self.loaded.files.get_mut(index) else {
            return;
        };
        let part = |file: &CachedFile| names.file(file.format, file.path(), file.digest);
        self.loaded.revision.remove(part(old));
        self.loaded.revision.add(part(&file));
        self.differences
            .files
            .push((file.format, file.file.clone()));
        *old = file;
    }

    fn add(&mut self, file: CachedFile, names: &LogicalNames) {
        let part = names.file(file.format, file.path(), file.digest);
        self.loaded.revision.add(part);
        self.differences
            .files
            .push((file.format, file.file.clone()));
        let index = index_of(&self.loaded.files, (file.path(), file.format));
        self.loaded.files.insert(index, file);
    }

    /// Removes a file, in all its formats.
    fn remove(&mut self, path: &str, names: &LogicalNames) {
        let range = index_range(&self.loaded.files, path);
        for file in self.loaded.files.drain(range) {
            let part = names.file(file.format, file.path(), file.digest);
            self.loaded.revision.remove(part);
            let removed = (file.format, file.file.path().clone());
            self.differences.removed.push(removed);
        }
    }

    /// Adds a file to the listing of its directory, or removes it. `None` if the name was not that of a file before.
    fn update_listing(&mut self, file: &ChangedFile<'_>) -> Option<()> {
        let listed = self.loaded.snapshot.listing(file.directory);
        let changed = self.listings.get(file.directory).map(Vec::as_slice);
        let Some(entries) = changed.or(listed.map(AsRef::as_ref)) else {
            return Some(());
        };
        let position = entries.binary_search_by(|entry| entry.name.as_str().cmp(file.name));
        if let Ok(index) = position
            && entries.get(index)?.kind != EntryKind::File
        {
            return None;
        }
        if position.is_ok() == file.exists {
            return Some(());
        }
        let changed = self.listings.entry(file.directory.into());
        let entries =
            changed.or_insert_with(|| listed.map(|entries| entries.to_vec()).unwrap_or_default());
        match position {
            Ok(index) => _ = entries.remove(index),
            Err(index) => {
                let (name, kind) = (file.name.into(), EntryKind::File);
                entries.insert(index, DirectoryEntry { name, kind });
            }
        }
        Some(())
    }

    fn finish(mut self) -> LoadedEnvironment {
        let listings = self.listings.into_iter();
        self.differences.directories = listings
            .map(|(path, entries)| (path, entries.into()))
            .collect();
        self.differences.revision = self.loaded.revision.to_string();
        self.loaded.snapshot = Arc::new(self.loaded.snapshot.with(self.differences));
        self.loaded
    }
}

/// The index of a file, or the one at which to insert it.
fn index_of(files: &[CachedFile], key: (&str, Format)) -> usize {
    files.partition_point(|file| (file.path(), file.format) < key)
}

/// The indices of a file in all its formats.
fn index_range(files: &[CachedFile], path: &str) -> Range<usize> {
    let start = files.partition_point(|file| file.path() < path);
    let end = files.partition_point(|file| file.path() <= path);
    start..end
}
