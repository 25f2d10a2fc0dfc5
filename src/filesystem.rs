//! What errors of the file system mean: which of them say that a path is absent.
//!
//! Any other error leaves open what is there, so it must not be mistaken for absence.

use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::io::Errno;

/// Does an error mean that nothing exists at a path? Invalid names and links that lead to themselves count as absent,
/// as in Puppet.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    let is_not_found = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput
    );
    let number = Errno::from_io_error(error);
    is_not_found || matches!(number, Some(Errno::NAMETOOLONG | Errno::LOOP))
}

/// May something exist at a path? If the path cannot be inspected, yes: reading it then reports why not.
pub(crate) fn may_exist(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(_) => true,
        Err(error) => !is_absence(&error),
    }
}

/// Is a path a directory? Follows links.
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
    fn only_errors_that_rule_out_a_file_mean_absence() {
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
