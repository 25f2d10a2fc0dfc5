//! [`StabilityCheck`]: whether files changed while they were read. Each file and directory is inspected once more.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::FileFingerprint;
use super::loaded::CachedFile;
use super::parent_directory::ParentDirectory;

/// Files that a thread takes at a time: about as much work as starting a thread.
const CHUNK: usize = 64;

/// A second inspection of what was read, by any number of threads.
pub(super) struct StabilityCheck<'a> {
    directories: &'a [(PathBuf, Option<FileFingerprint>)],
    files: &'a [CachedFile],
    next_chunk: AtomicUsize,
    has_directory_changed: AtomicBool,
    changed_file: OnceLock<String>,
}

/// Whether files changed while they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stability {
    Stable,
    /// Directories or configurations changed, but no data file that was read.
    DirectoriesChanged,
    /// This data file changed.
    FileChanged(String),
}

impl<'a> StabilityCheck<'a> {
    pub(super) fn new(
        directories: &'a [(PathBuf, Option<FileFingerprint>)],
        files: &'a [CachedFile],
    ) -> Self {
        StabilityCheck {
            directories,
            files,
            next_chunk: AtomicUsize::new(0),
            has_directory_changed: AtomicBool::new(false),
            changed_file: OnceLock::new(),
        }
    }

    /// The number of chunks that threads can take: the directories, and the files.
    pub(super) fn chunks(&self) -> usize {
        1 + self.files.len().div_ceil(CHUNK)
    }

    /// Inspects chunks that no other thread has taken, until none is left or a change is found.
    pub(super) fn run_chunks(&self) {
        let mut parent = ParentDirectory::default();
        let mut has_changed =
            |file: &&CachedFile| file.fingerprint != parent.fingerprint(file.path());
        while self.changed_file.get().is_none() {
            let index = self.next_chunk.fetch_add(1, Ordering::Relaxed);
            let Some(index) = index.checked_sub(1) else {
                let has_changed = self.have_directories_changed();
                self.has_directory_changed
                    .store(has_changed, Ordering::Relaxed);
                continue;
            };
            let Some(chunk) = self.files.chunks(CHUNK).nth(index) else {
                return;
            };
            if let Some(changed) = chunk.iter().find(&mut has_changed) {
                // Fails if another thread has found one as well.
                _ = self.changed_file.set(changed.path().to_owned());
            }
        }
    }

    /// The result, once all threads are done.
    pub(super) fn stability(self) -> Stability {
        match self.changed_file.into_inner() {
            Some(path) => Stability::FileChanged(path),
            None if self.has_directory_changed.into_inner() => Stability::DirectoriesChanged,
            None => Stability::Stable,
        }
    }

    fn have_directories_changed(&self) -> bool {
        let mut directories = self.directories.iter();
        directories.any(|(path, fingerprint)| FileFingerprint::of(path) != *fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hiera_resolver::{DataFile, Format};

    use super::*;

    #[test]
    fn every_change_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let names = 0..3 * CHUNK;
        let paths: Vec<_> = names
            .map(|name| root.path().join(name.to_string()))
            .collect();
        for path in &paths {
            std::fs::write(path, "k: 1").unwrap();
        }
        let below = root.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let file = |path: &Path| CachedFile {
            format: Format::YAML,
            file: Arc::new(DataFile::unreadable(path.to_str().unwrap(), &"")),
            fingerprint: FileFingerprint::of(path),
            is_settled: true,
            link_directory: None,
            digest: 0,
            is_unread: false,
        };
        let stability = |change: &dyn Fn()| {
            let files: Vec<_> = paths.iter().map(|path| file(path)).collect();
            let directories = [(below.clone(), FileFingerprint::of(&below))];
            change();
            let check = StabilityCheck::new(&directories, &files);
            std::thread::scope(|scope| {
                scope.spawn(|| check.run_chunks());
                check.run_chunks();
            });
            check.stability()
        };
        assert_eq!(stability(&|| {}), Stability::Stable);
        for path in [&paths[0], &paths[CHUNK + 1], &paths[3 * CHUNK - 1]] {
            let edit = || std::fs::write(path, "k: 22").unwrap();
            let changed = path.to_str().unwrap().to_owned();
            assert_eq!(stability(&edit), Stability::FileChanged(changed));
        }
        let remove = || std::fs::remove_dir(&below).unwrap();
        assert_eq!(stability(&remove), Stability::DirectoriesChanged);
        assert_eq!(stability(&|| {}), Stability::Stable);
    }
}
