//! [`FilesByFormat`]: the data files of a snapshot.

use std::sync::Arc;

use indexmap::IndexMap;

use super::Map;
use super::layer_index::SortedFiles;
use crate::data::{DataFile, Format};

/// Data files by format and path. A path is read once for each format that the levels read it as.
#[derive(Clone, Debug, Default)]
pub(super) struct FilesByFormat {
    // Invariant: formats are in the order of their functions, and the files of each in the order of their paths.
    formats: IndexMap<Format, Map<Arc<DataFile>>, foldhash::fast::RandomState>,
}

impl FilesByFormat {
    pub(super) fn build(mut files: Vec<(Format, Arc<DataFile>)>) -> Self {
        // The server passes them in order, so that sorting only compares neighbours.
        files.sort_by(|(_, left), (_, right)| left.path().cmp(right.path()));
        let mut built = FilesByFormat::default();
        for (format, file) in files {
            built.files_mut(format).insert(file.path().clone(), file);
        }
        built.sort_formats();
        built
    }

    /// Adds files, or replaces those with the same format and path.
    pub(super) fn extend(&mut self, files: Vec<(Format, Arc<DataFile>)>) {
        for (format, file) in files {
            self.files_mut(format)
                .insert_sorted(file.path().clone(), file);
        }
        self.sort_formats();
    }

    pub(super) fn remove(&mut self, format: Format, path: &str) {
        self.files_mut(format).shift_remove(path);
    }

    /// All files that were read.
    pub(super) fn read(&self) -> impl Iterator<Item = &Arc<DataFile>> {
        let read = self.formats.iter().filter(|(format, _)| format.is_read());
        read.flat_map(|(_, files)| files.values())
    }

    /// The files of a format in the order of their paths.
    pub(super) fn sorted(&self, format: Format) -> &SortedFiles {
        self.files(format).map_or(SortedFiles::new(), Map::as_slice)
    }

    /// The files of a format by path.
    pub(super) fn files(&self, format: Format) -> Option<&Map<Arc<DataFile>>> {
        // A search through a handful of formats is faster than a hash.
        let mut formats = self.formats.iter();
        formats.find_map(|(known, files)| (*known == format).then_some(files))
    }

    fn files_mut(&mut self, format: Format) -> &mut Map<Arc<DataFile>> {
        self.formats.entry(format).or_default()
    }

    fn sort_formats(&mut self) {
        self.formats
            .sort_by(|left, _, right, _| left.cmp_function(*right));
    }
}
