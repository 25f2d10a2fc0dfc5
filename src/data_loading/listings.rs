//! [`Listings`]: directories → their entries, each listed once.
//!
//! A directory that is absent has no entries. A directory that cannot be listed for any other reason may contain
//! anything: it is recorded as unreadable, and what is below it is unknown rather than absent.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::Fault;
use hiera_resolver::hierarchy::glob::{Directory, DirectoryEntry, EntryKind};

use super::FileIdentity;
use crate::filesystem::{is_absence, is_directory};

/// Directories as they were when first listed.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    listed: RefCell<HashMap<String, Arc<[DirectoryEntry]>>>,
    /// The paths that cannot be read, and why.
    unreadable: RefCell<BTreeMap<String, String>>,
}

impl Listings {
    /// The entries of a directory; none if it is absent or cannot be listed.
    pub(super) fn list(&self, directory: &str) -> Arc<[DirectoryEntry]> {
        if let Some(entries) = self.listed.borrow().get(directory) {
            return entries.clone();
        }
        let entries: Arc<[DirectoryEntry]> = match self.read_directory(directory) {
            Ok(entries) => entries.into(),
            // An absent directory must not look like an empty one.
            Err(error) if is_absence(&error) => return Arc::default(),
            Err(error) => {
                self.record_error(directory, &error);
                Arc::default()
            }
        };
        self.listed
            .borrow_mut()
            .insert(directory.to_owned(), entries.clone());
        entries
    }

    /// The identity of a directory, whatever path led to it; `None` if it is absent or cannot be inspected.
    pub(super) fn identity(&self, directory: &str) -> Option<FileIdentity> {
        match std::fs::metadata(directory) {
            Ok(metadata) => metadata.is_dir().then(|| (metadata.dev(), metadata.ino())),
            Err(error) => {
                self.record_error(directory, &error);
                None
            }
        }
    }

    /// Why a path cannot be read; `None` if it can, as far as known.
    pub(crate) fn problem_at(&self, path: &str) -> Option<String> {
        self.unreadable.borrow().get(path).cloned()
    }

    /// The paths that cannot be read, as faults.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let unreadable = self.unreadable.borrow();
        let faults = unreadable.iter();
        faults
            .map(|(path, problem)| Fault::at_path(path, problem))
            .collect()
    }

    /// The directories that could be listed.
    pub(super) fn into_entries(self) -> Vec<(ArcStr, Arc<[DirectoryEntry]>)> {
        let unreadable = self.unreadable.into_inner();
        self.listed
            .into_inner()
            .into_iter()
            .filter(|(path, _)| !unreadable.contains_key(path))
            .map(|(path, entries)| (path.into(), entries))
            .collect()
    }

    fn record_error(&self, path: &str, error: &io::Error) {
        if !is_absence(error) {
            self.record_problem(path, error.to_string());
        }
    }

    fn record_problem(&self, path: &str, problem: String) {
        let mut unreadable = self.unreadable.borrow_mut();
        unreadable.entry(path.to_owned()).or_insert(problem);
    }

    fn read_directory(&self, directory: &str) -> io::Result<Vec<DirectoryEntry>> {
        let mut list = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = [directory, "/", &name].concat();
            let kind = match kind_of(&entry) {
                Ok(kind) => kind,
                Err(error) if is_absence(&error) => continue,
                Err(error) => {
                    self.record_error(&path, &error);
                    EntryKind::File
                }
            };
            // A file with such a name fails later, when it is read under its lossy name.
            if kind != EntryKind::File && entry.file_name().to_str().is_none() {
                self.record_problem(&path, NOT_UTF_8.to_owned());
            }
            list.push(DirectoryEntry {
                name: name.as_ref().into(),
                kind,
            });
        }
        list.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        Ok(list)
    }
}

/// The problem of a name that no path in a configuration can contain.
pub(super) const NOT_UTF_8: &str = "its name is not valid UTF-8";

impl Directory for Listings {
    fn entries(&self, path: &str) -> Vec<DirectoryEntry> {
        self.list(path).to_vec()
    }

    fn is_unreadable(&self, path: &str) -> bool {
        self.unreadable.borrow().contains_key(path)
    }
}

fn kind_of(entry: &DirEntry) -> io::Result<EntryKind> {
    let kind = entry.file_type()?;
    Ok(if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_symlink() && is_directory(&entry.path())? {
        EntryKind::LinkToDirectory
    } else {
        EntryKind::File
    })
}

/// The parent directory of a path, or the nearest ancestor that exists.
pub(crate) fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .find(|directory| directory.is_dir())
        .map(Path::to_path_buf)
}
