//! [`PathIndex`]: the files that match one path of a hierarchy, by the names in their paths.

use std::sync::Arc;

use arcstr::ArcStr;
use hashbrown::HashTable;

use super::SortedFiles;
use super::names::Names;
use super::path_pattern::{PathPattern, Piece, combine};
use crate::data::{DataFile, Format};
use crate::hierarchy::{Level, path};
use crate::snapshot::Tree;

#[derive(Debug)]
pub(super) struct PathIndex {
    pattern: PathPattern,
    files: HashTable<IndexedFile>,
    /// The length of the data directory with its slash. Only used for paths in which a component is missing.
    start: usize,
    format: Format,
}

#[derive(Debug)]
struct IndexedFile {
    /// The hash of the names in its path.
    hash: u64,
    file: Arc<DataFile>,
}

impl PathIndex {
    pub(super) fn build(level: &Level, pattern: PathPattern, files: &SortedFiles) -> Self {
        let prefix = pattern.prefix();
        let start = files.partition_point(|path, _| path.as_str() < prefix);
        let is_near = |path: &ArcStr| path.as_str() < prefix || path.starts_with(prefix);
        let end = files.partition_point(|path, _| is_near(path));
        let near = files.get_range(start..end).unwrap_or_default();
        let mut table = HashTable::with_capacity(near.len());
        for (path, file) in near {
            if let Some(hash) = pattern.hash_of_names_in(path) {
                let file = Arc::clone(file);
                table.insert_unique(hash, IndexedFile { hash, file }, |indexed| indexed.hash);
            }
        }
        table.shrink_to_fit(|indexed| indexed.hash);
        PathIndex {
            pattern,
            files: table,
            start: level.datadir().source().len() + 1,
            format: level.format(),
        }
    }

    /// The file at the path with these names, if it exists; outer `None` if only the plan can find it.
    pub(super) fn find<'a>(
        &'a self,
        names: &Names<'_>,
        tree: &'a dyn Tree,
    ) -> Option<Option<&'a DataFile>> {
        let found = match self.pattern.pieces() {
            [_] => self.files.find(0, |_| true),
            // Nearly all paths have one name, and all files that match have the same text around it.
            [
                Piece::Text(before),
                Piece::Name { source, .. },
                Piece::Text(behind),
            ] => {
                let name = names.get(*source)?;
                let end = before.len() + name.text.len();
                self.files.find(combine(0, name.hash), |indexed| {
                    let path = indexed.file.path();
                    path.len() == end + behind.len()
                        && path.as_bytes().get(before.len()..end) == Some(name.text.as_bytes())
                })
            }
            _ => {
                let in_path = self.pattern.names(names);
                let hash = in_path.fold(0, |hash, (name, _)| combine(hash, name.hash));
                let matches =
                    |indexed: &IndexedFile| self.pattern.matches(names, indexed.file.path());
                self.files.find(hash, matches)
            }
        };
        match found {
            Some(indexed) => Some(Some(&indexed.file)),
            None => self.find_unusual(names, tree),
        }
    }

    /// The same if no file has exactly these names in its path.
    fn find_unusual<'a>(
        &self,
        names: &Names<'_>,
        tree: &'a dyn Tree,
    ) -> Option<Option<&'a DataFile>> {
        let mut lacks_component = false;
        for (name, may_be_dots) in self.pattern.names(names) {
            if !path::is_within_component(&name.text) {
                return None;
            }
            if !may_be_dots && path::is_only_dots(&name.text) {
                if !name.text.is_empty() {
                    return None;
                }
                lacks_component = true;
            }
        }
        match lacks_component {
            true => Some(self.find_by_path(names, tree)),
            false => Some(None),
        }
    }

    /// The same if a component consists of a variable that is not set.
    fn find_by_path<'a>(&self, names: &Names<'_>, tree: &'a dyn Tree) -> Option<&'a DataFile> {
        let mut whole = String::with_capacity(128);
        for piece in self.pattern.pieces() {
            let text = piece.text(names)?;
            match text.strip_prefix('/') {
                // Puppet: treats it as a path from the root of the disk.
                Some(_) if whole.len() == self.start => return None,
                // An empty component leaves one slash, not two.
                Some(behind) if whole.ends_with('/') => whole.push_str(behind),
                _ => whole.push_str(text),
            }
        }
        tree.file(whole.trim_end_matches('/'), self.format)
    }
}
