//! Git checkouts in progress: they may pause for longer than the quiet time.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A lock older than this was left behind by a git that was killed.
pub(super) const MAX_LOCK_AGE: Duration = Duration::from_secs(60);

/// Is git changing the working tree in this directory? It holds its lock from before the first file is written until
/// after the last one.
pub(super) fn is_active(directory: &Path) -> bool {
    let Some(repository) = git_directory(directory) else {
        return false;
    };
    let lock = repository.join("index.lock").metadata();
    let age = lock
        .and_then(|lock| lock.modified())
        .map(|time| time.elapsed());
    // A time in the future means that the clock was set since.
    age.is_ok_and(|age| age.is_ok_and(|age| age < MAX_LOCK_AGE))
}

/// `.git`, or the directory that it names if it is a file (worktrees, submodules).
fn git_directory(directory: &Path) -> Option<PathBuf> {
    let repository = directory.join(".git");
    if repository.is_file() {
        let text = std::fs::read_to_string(&repository).ok()?;
        return Some(directory.join(text.strip_prefix("gitdir:")?.trim()));
    }
    Some(repository)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn git_is_active_while_its_lock_exists_and_is_not_old() {
        let tree = tempfile::tempdir().unwrap();
        let (plain, linked) = (tree.path().join("plain"), tree.path().join("linked"));
        fs::create_dir_all(plain.join(".git")).unwrap();
        fs::create_dir_all(&linked).unwrap();
        fs::write(linked.join(".git"), "gitdir: ../plain/.git\n").unwrap();
        let is_active = || (is_active(&plain), is_active(&linked));
        assert_eq!(is_active(), (false, false));
        let lock = File::create(plain.join(".git/index.lock")).unwrap();
        assert_eq!(is_active(), (true, true));
        lock.set_modified(SystemTime::now() - MAX_LOCK_AGE).unwrap();
        assert_eq!(is_active(), (false, false));
    }
}
