//! What counts as "not there": everything else that the system says leaves open what is there.

use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::io::Errno;

/// Does an error mean that there is nothing at a path? Names that no file can have and links that lead to themselves
/// name nothing either, whenever they are looked at; Puppet takes them for missing as well.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    let is_nowhere = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput
    );
    let number = Errno::from_io_error(error);
    is_nowhere || matches!(number, Some(Errno::NAMETOOLONG | Errno::LOOP))
}

/// May there be something at a path? What cannot be looked at may be there, and reading it tells why not.
pub(crate) fn may_exist(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(_) => true,
        Err(error) => !is_absence(&error),
    }
}

/// Is there a directory at a path, through links?
pub(crate) fn is_directory(path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_cannot_be_there_is_absent() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::write(path("file"), "").unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        symlink("loop", path("loop")).unwrap();
        for (name, expected) in [
            ("file", true),
            ("gone", false),
            ("file/below", false),
            ("dangling", false),
            ("nul\0", false),
            (&*"long".repeat(100), false),
            ("loop", false),
            ("loop/below", false),
        ] {
            assert_eq!(may_exist(&path(name)), expected, "{name}");
        }
        assert!(is_directory(root.path()).unwrap());
        assert!(!is_directory(&path("file")).unwrap());
        assert!(!is_directory(&path("gone")).unwrap());
        assert!(!is_directory(&path("loop")).unwrap());
        for number in [
            Errno::ACCESS,
            Errno::MFILE,
            Errno::NFILE,
            Errno::IO,
            Errno::STALE,
            Errno::NOMEM,
        ] {
            assert!(!is_absence(&number.into()), "{number}");
        }
    }
}
