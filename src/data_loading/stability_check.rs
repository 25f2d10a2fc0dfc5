//! Whether a tree held still while it was read: every file and directory is looked at once more.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::nearby::Nearby;
use super::{CachedFile, FileFingerprint};

/// Files that a core takes at a time: what takes about as long as to start a thread.
const SHARE: usize = 64;

/// A look at what was read, by as many threads as take part in it.
pub(super) struct StabilityCheck<'a> {
    directories: &'a [(PathBuf, Option<FileFingerprint>)],
    files: &'a [CachedFile],
    next: AtomicUsize,
    has_directory_moved: AtomicBool,
    moved_file: OnceLock<String>,
}

/// Whether a tree held still while it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stillness {
    Still,
    /// Directories or configurations moved, but no data file that was read.
    Moved,
    /// This data file is not what was read.
    FileMoved(String),
}

impl<'a> StabilityCheck<'a> {
    pub(super) fn new(
        directories: &'a [(PathBuf, Option<FileFingerprint>)],
        files: &'a [CachedFile],
    ) -> Self {
        StabilityCheck {
            directories,
            files,
            next: AtomicUsize::new(0),
            has_directory_moved: AtomicBool::new(false),
            moved_file: OnceLock::new(),
        }
    }

    /// Pieces that threads can take.
    pub(super) fn shares(&self) -> usize {
        1 + self.files.len().div_ceil(SHARE)
    }

    /// Looks at what no other thread has taken yet, until there is nothing left or a file has moved.
    pub(super) fn take_part(&self) {
        let mut nearby = Nearby::default();
        let mut has_moved = |file: &&CachedFile| file.seen != nearby.fingerprint(file.path());
        while self.moved_file.get().is_none() {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = place.checked_sub(1) else {
                let has_moved = self.have_directories_moved();
                self.has_directory_moved.store(has_moved, Ordering::Relaxed);
                continue;
            };
            let Some(share) = self.files.chunks(SHARE).nth(share) else {
                return;
            };
            if let Some(moved) = share.iter().find(&mut has_moved) {
                // Another thread may have found one as well.
                _ = self.moved_file.set(moved.path().to_owned());
            }
        }
    }

    /// What was found. To be asked when all who take part are done.
    pub(super) fn stillness(self) -> Stillness {
        match self.moved_file.into_inner() {
            Some(path) => Stillness::FileMoved(path),
            None if self.has_directory_moved.into_inner() => Stillness::Moved,
            None => Stillness::Still,
        }
    }

    fn have_directories_moved(&self) -> bool {
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
    fn whatever_moves_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let names = 0..3 * SHARE;
        let paths: Vec<_> = names
            .map(|name| root.path().join(name.to_string()))
            .collect();
        for path in &paths {
            std::fs::write(path, "k: 1").unwrap();
        }
        let below = root.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let file = |path: &Path| CachedFile {
            format: Format::Yaml,
            file: Arc::new(DataFile::unreadable(path.to_str().unwrap(), &"")),
            seen: FileFingerprint::of(path),
            is_settled: true,
            link: None,
            digest: 0,
            is_unread: false,
        };
        let stillness = |move_something: &dyn Fn()| {
            let files: Vec<_> = paths.iter().map(|path| file(path)).collect();
            let directories = [(below.clone(), FileFingerprint::of(&below))];
            move_something();
            let look = StabilityCheck::new(&directories, &files);
            std::thread::scope(|scope| {
                scope.spawn(|| look.take_part());
                look.take_part();
            });
            look.stillness()
        };
        assert_eq!(stillness(&|| {}), Stillness::Still);
        for path in [&paths[0], &paths[SHARE + 1], &paths[3 * SHARE - 1]] {
            let change = || std::fs::write(path, "k: 22").unwrap();
            let moved = path.to_str().unwrap().to_owned();
            assert_eq!(stillness(&change), Stillness::FileMoved(moved));
        }
        let remove = || std::fs::remove_dir(&below).unwrap();
        assert_eq!(stillness(&remove), Stillness::Moved);
        assert_eq!(stillness(&|| {}), Stillness::Still);
    }
}
