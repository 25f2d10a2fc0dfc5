//! Directories → their entries, each listed once.
//!
//! Only "there is no such file" means that something is absent. A directory that cannot be listed for any other
//! reason may hold anything: it is remembered as unreadable, and what lies below it is unknown rather than absent.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::glob::{Directory, Entry, EntryKind};

use super::Fault;
use crate::filesystem::{is_absence, is_directory};

/// Directories as they were when first asked for.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    known: RefCell<HashMap<String, Arc<[Entry]>>>,
    /// The paths below which anything may lie, and why that is not known.
    unreadable: RefCell<BTreeMap<String, String>>,
}

impl Listings {
    /// The entries of a directory; none where there is no directory, or it cannot be listed.
    pub(super) fn list(&self, directory: &str) -> Arc<[Entry]> {
        if let Some(known) = self.known.borrow().get(directory) {
            return known.clone();
        }
        let entries: Arc<[Entry]> = match self.read_directory(directory) {
            Ok(entries) => entries.into(),
            // A directory that is not there must not look like one that is empty.
            Err(error) if is_absence(&error) => return Arc::default(),
            Err(error) => {
                self.note(directory, &error);
                Arc::default()
            }
        };
        self.known
            .borrow_mut()
            .insert(directory.to_owned(), entries.clone());
        entries
    }

    /// Which directory this is, whatever name led to it; `None` where there is none, or it cannot be looked at.
    pub(super) fn identity(&self, directory: &str) -> Option<(u64, u64)> {
        match std::fs::metadata(directory) {
            Ok(metadata) => metadata.is_dir().then(|| (metadata.dev(), metadata.ino())),
            Err(error) => {
                self.note(directory, &error);
                None
            }
        }
    }

    /// Why what lies at or below a path is unknown, where it is.
    pub(crate) fn problem_of(&self, path: &str) -> Option<String> {
        self.unreadable.borrow().get(path).cloned()
    }

    /// The paths below which anything may lie, as faults.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let unreadable = self.unreadable.borrow();
        let faults = unreadable.iter();
        faults
            .map(|(path, problem)| Fault::at_path(path, problem))
            .collect()
    }

    /// All directories that could be listed.
    pub(super) fn into_entries(self) -> Vec<(ArcStr, Arc<[Entry]>)> {
        let unreadable = self.unreadable.into_inner();
        self.known
            .into_inner()
            .into_iter()
            .filter(|(path, _)| !unreadable.contains_key(path))
            .map(|(path, entries)| (path.into(), entries))
            .collect()
    }

    fn note(&self, path: &str, error: &io::Error) {
        if !is_absence(error) {
            self.note_problem(path, error.to_string());
        }
    }

    fn note_problem(&self, path: &str, problem: String) {
        let mut unreadable = self.unreadable.borrow_mut();
        unreadable.entry(path.to_owned()).or_insert(problem);
    }

    fn read_directory(&self, directory: &str) -> io::Result<Vec<Entry>> {
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
                    self.note(&path, &error);
                    EntryKind::File
                }
            };
            // A file of such a name fails when it is read by the name that stands for it.
            if kind != EntryKind::File && entry.file_name().to_str().is_none() {
                self.note_problem(&path, NOT_UTF_8.to_owned());
            }
            list.push(Entry {
                name: name.as_ref().into(),
                kind,
            });
        }
        list.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        Ok(list)
    }
}

/// What is wrong with a name that no path in a configuration can spell.
pub(super) const NOT_UTF_8: &str = "its name is not valid UTF-8";

impl Directory for Listings {
    fn entries(&self, path: &str) -> Vec<Entry> {
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

/// The directory a path lies in, or the first above that there is.
pub(crate) fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .find(|directory| directory.is_dir())
        .map(Path::to_path_buf)
}
