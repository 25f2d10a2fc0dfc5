//! [`Readers`]: which environments read a directory.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::data_loading::{FileFingerprint, FileIdentity, LoadedEnvironment};

/// The environments that read a directory, by path. Valid until an environment is loaded.
#[derive(Debug, Default)]
pub(super) struct Readers {
    by_directory: HashMap<PathBuf, BTreeSet<String>>,
}

impl Readers {
    /// Forgets everything, since an environment may have been loaded.
    pub(super) fn clear(&mut self) {
        self.by_directory.clear();
    }

    /// The environments that a changed path belongs to; none if that is unknown.
    pub(super) fn of_path<'a>(
        &mut self,
        path: &Path,
        loaded: impl Iterator<Item = (&'a String, &'a LoadedEnvironment)> + Clone,
    ) -> BTreeSet<String> {
        let Some(parent) = path.parent() else {
            return BTreeSet::new();
        };
        let mut names = match self.by_directory.get(parent) {
            Some(names) => names.clone(),
            None => {
                // Links lead to one directory by several paths, and an event has only one of them.
                let identity = FileFingerprint::of(parent).map(|found| found.identity());
                let names = readers_of_directory(parent, identity, loaded.clone());
                self.by_directory.insert(parent.to_owned(), names.clone());
                names
            }
        };
        names.extend(readers_of_directory(path, None, loaded));
        names
    }
}

/// The environments that read a directory, under this path or as this identity.
pub(super) fn readers_of_directory<'a>(
    directory: &Path,
    identity: Option<FileIdentity>,
    loaded: impl Iterator<Item = (&'a String, &'a LoadedEnvironment)>,
) -> BTreeSet<String> {
    let readers = loaded.filter(|(_, loaded)| loaded.reads_directory(directory, identity));
    readers.map(|(name, _)| name.clone()).collect()
}
