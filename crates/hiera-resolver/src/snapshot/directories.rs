//! [`Directories`]: the directories of a snapshot, its links that form loops, and the paths that could not be read.

use std::sync::Arc;

use arcstr::ArcStr;

use super::Map;
use crate::data::{DataFile, FileFault};
use crate::hierarchy::glob::{Directory, DirectoryEntry, EntryKind};
use crate::hierarchy::path;

#[derive(Clone, Debug)]
pub(super) struct Directories {
    listings: Map<Arc<[DirectoryEntry]>>,
    /// A faulty file for each path that could not be read. It stands for every file that may exist at or below the path.
    unreadable: Arc<[DataFile]>,
    /// Links to a directory that contains them, each with that directory. Files are stored by their paths without these.
    loops: Arc<Map<ArcStr>>,
}

impl Directories {
    pub(super) fn build(
        listings: Vec<(ArcStr, Arc<[DirectoryEntry]>)>,
        unreadable: &[(ArcStr, String)],
        loops: Vec<(ArcStr, ArcStr)>,
    ) -> Self {
        let unreadable = unreadable.iter();
        let unreadable = unreadable.map(|(path, reason)| DataFile::unreadable(path, reason));
        Directories {
            listings: listings.into_iter().collect(),
            unreadable: unreadable.collect(),
            loops: Arc::new(loops.into_iter().collect()),
        }
    }

    /// Adds directories, or replaces those with the same path.
    pub(super) fn extend(&mut self, listings: Vec<(ArcStr, Arc<[DirectoryEntry]>)>) {
        self.listings.extend(listings);
    }

    pub(super) fn listing(&self, directory: &str) -> Option<&Arc<[DirectoryEntry]>> {
        self.listings.get(directory)
    }

    /// Does every file have one path, and is every path that leads to no file known to lead to none?
    pub(super) fn are_plain(&self) -> bool {
        self.unreadable.is_empty() && self.loops.is_empty()
    }

    pub(super) fn unreadable(&self) -> impl Iterator<Item = &FileFault> {
        let files = self.unreadable.iter();
        files.filter_map(|file| file.contents().err())
    }

    /// The faulty file that stands for an unknown one at this path.
    pub(super) fn unreadable_at(&self, path: &str) -> Option<&DataFile> {
        self.unreadable.iter().find(|file| {
            let below = path.strip_prefix(file.path().trim_end_matches('/'));
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    }

    pub(super) fn kind_of(&self, path: &str) -> Option<EntryKind> {
        let (parent, name) = path.rsplit_once('/')?;
        let parent = if parent.is_empty() { "/" } else { parent };
        let listed = self.find(parent, |parent| self.listings.get(parent));
        let listed = listed.and_then(|entries| entries.iter().find(|entry| entry.name == name));
        let is_directory = || self.listings.contains_key(path);
        listed
            .map(|entry| entry.kind)
            .or_else(|| is_directory().then_some(EntryKind::Directory))
    }

    /// Finds something by a path, or by the same path without links that form loops.
    pub(super) fn find<T>(&self, path: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = find(path);
        if found.is_some() || self.loops.is_empty() {
            return found;
        }
        // Each step makes a path shorter, so this ends.
        let mut shorter = vec![path.to_owned()];
        while let Some(path) = shorter.pop() {
            for (link, target) in self.loops.iter() {
                let rest = path.strip_prefix(link.as_str());
                if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                    let path = [target.as_str(), rest].concat();
                    let found = find(&path);
                    if found.is_some() {
                        return found;
                    }
                    shorter.push(path);
                }
            }
        }
        None
    }
}

impl Directory for Directories {
    fn entries(&self, path: &str) -> Vec<DirectoryEntry> {
        let path = path::normalize(path);
        self.find(&path, |path| self.listings.get(path))
            .map(|entries| entries.to_vec())
            .unwrap_or_default()
    }

    fn is_unreadable(&self, path: &str) -> bool {
        self.unreadable_at(path).is_some() && !self.listings.contains_key(path)
    }
}
