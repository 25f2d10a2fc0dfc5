//! Checkouts under way: they take longer than things are quiet in between.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Older locks were left behind by a git that was ended.
pub(super) const LOCK_PATIENCE: Duration = Duration::from_secs(60);

/// Is git at work in the repository whose files lie here? It holds its lock from before the first file is written
/// until after the last.
pub(super) fn is_at_work(directory: &Path) -> bool {
    let Some(repository) = repository_of(directory) else {
        return false;
    };
    let lock = repository.join("index.lock").metadata();
    let age = lock
        .and_then(|lock| lock.modified())
        .map(|time| time.elapsed());
    // A time to come is that of a clock that was set since.
    age.is_ok_and(|age| age.is_ok_and(|age| age < LOCK_PATIENCE))
}

/// `.git`, or the directory that it names where it is a file.
fn repository_of(directory: &Path) -> Option<PathBuf> {
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
    fn git_is_at_work_while_its_lock_is_there_and_not_old() {
        let tree = tempfile::tempdir().unwrap();
        let (plain, linked) = (tree.path().join("plain"), tree.path().join("linked"));
        fs::create_dir_all(plain.join(".git")).unwrap();
        fs::create_dir_all(&linked).unwrap();
        fs::write(linked.join(".git"), "gitdir: ../plain/.git\n").unwrap();
        let is_at_work = || (is_at_work(&plain), is_at_work(&linked));
        assert_eq!(is_at_work(), (false, false));
        let lock = File::create(plain.join(".git/index.lock")).unwrap();
        assert_eq!(is_at_work(), (true, true));
        lock.set_modified(SystemTime::now() - LOCK_PATIENCE)
            .unwrap();
        assert_eq!(is_at_work(), (false, false));
    }
}
