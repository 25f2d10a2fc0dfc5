//! Whether a tree held still while it was read: every file and directory is looked at once more.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::nearby::Nearby;
use super::{CachedFile, Stamp};

/// Files that a core takes at a time.
const SHARE: usize = 64;

/// A look at what was read, by as many threads as take part in it.
pub(super) struct SecondLook<'a> {
    directories: &'a [(PathBuf, Option<Stamp>)],
    files: &'a [CachedFile],
    next: AtomicUsize,
    has_moved: AtomicBool,
}

impl<'a> SecondLook<'a> {
    pub(super) fn new(
        directories: &'a [(PathBuf, Option<Stamp>)],
        files: &'a [CachedFile],
    ) -> Self {
        SecondLook {
            directories,
            files,
            next: AtomicUsize::new(0),
            has_moved: AtomicBool::new(false),
        }
    }

    /// Looks at what no other thread has taken yet, until there is nothing left or something has moved.
    pub(super) fn take_part(&self) {
        let mut nearby = Nearby::default();
        let mut has_file_moved = |file: &CachedFile| file.seen != nearby.stamp(file.path());
        while !self.has_moved.load(Ordering::Relaxed) {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let has_moved = match place.checked_sub(1) {
                None => self.have_directories_moved(),
                Some(share) => match self.files.chunks(SHARE).nth(share) {
                    Some(share) => share.iter().any(&mut has_file_moved),
                    None => return,
                },
            };
            if has_moved {
                self.has_moved.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Did everything look as it did? To be asked when all who take part are done.
    pub(super) fn held_still(self) -> bool {
        !self.has_moved.into_inner()
    }

    fn have_directories_moved(&self) -> bool {
        let mut directories = self.directories.iter();
        directories.any(|(path, stamp)| Stamp::of(path) != *stamp)
    }
}
