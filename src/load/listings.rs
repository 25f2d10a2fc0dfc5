//! Directories → their entries, each listed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::glob::{Directory, Entry, EntryKind};

/// Directories as they were when first asked for.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    known: RefCell<HashMap<String, Arc<[Entry]>>>,
}

impl Listings {
    /// The entries of a directory; none where it cannot be read.
    pub(super) fn list(&self, directory: &str) -> Arc<[Entry]> {
        if let Some(known) = self.known.borrow().get(directory) {
            return known.clone();
        }
        let entries: Arc<[Entry]> = read_directory(directory).into();
        self.known
            .borrow_mut()
            .insert(directory.to_owned(), entries.clone());
        entries
    }

    /// All of them.
    pub(super) fn into_entries(self) -> Vec<(ArcStr, Arc<[Entry]>)> {
        self.known
            .into_inner()
            .into_iter()
            .map(|(path, entries)| (path.into(), entries))
            .collect()
    }
}

impl Directory for Listings {
    fn entries(&self, path: &str) -> Vec<Entry> {
        self.list(path).to_vec()
    }
}

fn read_directory(directory: &str) -> Vec<Entry> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut list = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        let kind = if kind.is_dir() {
            EntryKind::Directory
        } else if kind.is_symlink() && entry.path().is_dir() {
            EntryKind::LinkToDirectory
        } else {
            EntryKind::File
        };
        list.push(Entry {
            name: name.into(),
            kind,
        });
    }
    list.sort_unstable_by(|left, right| left.name.cmp(&right.name));
    list
}

/// The directory a path lies in, or the first above that there is.
pub(crate) fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .find(|directory| directory.is_dir())
        .map(Path::to_path_buf)
}

/// Which directory this is, whatever name led to it.
pub(super) fn identity_of(directory: &str) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(directory).ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}
