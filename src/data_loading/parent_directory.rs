//! [`ParentDirectory`]: opens and inspects files relative to their directory.
//!
//! Resolving a path from the root takes about ten steps, and a load inspects every file twice. Files come sorted, so most
//! are in the same directory as the one before.

use std::fs::{File, Metadata};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::FileFingerprint;

/// The directory of the last file, kept open. Not kept longer than a load, since a directory may be replaced.
#[derive(Default)]
pub(super) struct ParentDirectory {
    opened: Option<(String, OwnedFd)>,
}

impl ParentDirectory {
    /// Opens a regular file, and returns it with its metadata; `None` for links and anything else. Does not block on
    /// pipes.
    pub(super) fn open_regular_file(&mut self, path: &str) -> Option<(File, Metadata)> {
        let (directory, name) = self.open_parent(path)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let open = || rustix::fs::openat(directory, name, flags, Mode::empty());
        let file = File::from(retry_on_intr(open).ok()?);
        let metadata = file.metadata().ok()?;
        metadata.is_file().then_some((file, metadata))
    }

    /// The fingerprint of a path, following links; `None` if it cannot be inspected.
    pub(super) fn fingerprint(&mut self, path: &str) -> Option<FileFingerprint> {
        let Some((directory, name)) = self.open_parent(path) else {
            return FileFingerprint::of(Path::new(path));
        };
        let inspect = || rustix::fs::statat(directory, name, AtFlags::empty());
        Some(FileFingerprint::from(&retry_on_intr(inspect).ok()?))
    }

    /// The directory of a path, and its name there; `None` if the directory cannot be opened.
    fn open_parent<'p>(&mut self, path: &'p str) -> Option<(BorrowedFd<'_>, &'p str)> {
        let (parent, name) = path.rsplit_once('/')?;
        if self.opened.as_ref().is_none_or(|(path, _)| path != parent) {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
            let open = || rustix::fs::open(parent, flags, Mode::empty());
            self.opened = Some((parent.to_owned(), retry_on_intr(open).ok()?));
        }
        let (_, directory) = self.opened.as_ref()?;
        Some((directory.as_fd(), name))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_fingerprint_is_the_same_relative_to_the_directory() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(path("below")).unwrap();
        fs::write(path("file"), "1").unwrap();
        fs::write(path("below/file"), "22").unwrap();
        symlink("below/file", path("link")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        let mut parent = ParentDirectory::default();
        for name in [
            "file",
            "below/file",
            "link",
            "below",
            "dangling",
            "gone/file",
        ] {
            let path = path(name);
            let fingerprint = parent.fingerprint(&path);
            assert_eq!(fingerprint, FileFingerprint::of(Path::new(&path)), "{name}");
            assert_eq!(
                fingerprint.is_some(),
                !matches!(name, "dangling" | "gone/file")
            );
        }
    }

    #[test]
    fn only_regular_files_are_opened() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(path("directory")).unwrap();
        fs::write(path("file"), "1").unwrap();
        symlink("file", path("link")).unwrap();
        let mut parent = ParentDirectory::default();
        let mut opens = |name: &str| parent.open_regular_file(&path(name)).is_some();
        assert!(opens("file"));
        for other in ["link", "directory", "gone", "file/below"] {
            assert!(!opens(other), "{other}");
        }
        assert!(opens("file"));
    }
}
