//! [`Nearby`]: files that lie beside each other, each reached from their directory.
//!
//! From the root it is ten steps or so to every file of a tree, and a load goes to each of them twice.

use std::fs::{File, Metadata};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::FileFingerprint;

/// Where the last file was. Only for as long as a load takes: a directory may be replaced by another.
#[derive(Default)]
pub(super) struct Nearby {
    directory: Option<(String, OwnedFd)>,
}

impl Nearby {
    /// Opens what a path is the name of, and looks at it, if that is a file and no link. Anything else is opened
    /// without waiting and let go.
    pub(super) fn open_plain_file(&mut self, path: &str) -> Option<(File, Metadata)> {
        let (directory, name) = self.way_to(path)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let open = || rustix::fs::openat(directory, name, flags, Mode::empty());
        let file = File::from(retry_on_intr(open).ok()?);
        let metadata = file.metadata().ok()?;
        metadata.is_file().then_some((file, metadata))
    }

    /// What a path looks like, through links; `None` where there is nothing.
    pub(super) fn fingerprint(&mut self, path: &str) -> Option<FileFingerprint> {
        let Some((directory, name)) = self.way_to(path) else {
            return FileFingerprint::of(Path::new(path));
        };
        let look = || rustix::fs::statat(directory, name, AtFlags::empty());
        Some(FileFingerprint::from(&retry_on_intr(look).ok()?))
    }

    /// The directory that a path lies in, and its name there; `None` where the directory cannot be opened.
    fn way_to<'p>(&mut self, path: &'p str) -> Option<(BorrowedFd<'_>, &'p str)> {
        let (parent, name) = path.rsplit_once('/')?;
        if self
            .directory
            .as_ref()
            .is_none_or(|(known, _)| known != parent)
        {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
            let open = || rustix::fs::open(parent, flags, Mode::empty());
            self.directory = Some((parent.to_owned(), retry_on_intr(open).ok()?));
        }
        let (_, directory) = self.directory.as_ref()?;
        Some((directory.as_fd(), name))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_looks_the_same_from_its_directory_as_from_afar() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(path("below")).unwrap();
        fs::write(path("file"), "1").unwrap();
        fs::write(path("below/file"), "22").unwrap();
        symlink("below/file", path("link")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        let mut nearby = Nearby::default();
        for name in [
            "file",
            "below/file",
            "link",
            "below",
            "dangling",
            "gone/file",
        ] {
            let path = path(name);
            let fingerprint = nearby.fingerprint(&path);
            assert_eq!(fingerprint, FileFingerprint::of(Path::new(&path)), "{name}");
            assert_eq!(
                fingerprint.is_some(),
                !matches!(name, "dangling" | "gone/file")
            );
        }
    }

    #[test]
    fn only_plain_files_are_opened() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(path("directory")).unwrap();
        fs::write(path("file"), "1").unwrap();
        symlink("file", path("link")).unwrap();
        let mut nearby = Nearby::default();
        let mut opens = |name: &str| nearby.open_plain_file(&path(name)).is_some();
        assert!(opens("file"));
        for other in ["link", "directory", "gone", "file/below"] {
            assert!(!opens(other), "{other}");
        }
        assert!(opens("file"));
    }
}
