//! [`Writers`]: files that some program has open and is writing to, as far as events tell.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files with data that may be half written.
#[derive(Debug)]
pub(super) struct Writers {
    /// By when the first write was seen.
    open: HashMap<PathBuf, Instant>,
    /// How long a writer is waited for.
    timeout: Duration,
}

impl Writers {
    pub(super) fn new(timeout: Duration) -> Self {
        Writers {
            open: HashMap::new(),
            timeout,
        }
    }

    /// Data was written to a file.
    pub(super) fn write(&mut self, path: &Path) {
        self.open
            .entry(path.to_owned())
            .or_insert_with(Instant::now);
    }

    /// A file was made: whoever made it has it open, and is about to write.
    pub(super) fn create(&mut self, path: &Path) {
        // A second name for a file that was there before is made without opening it.
        let metadata = path.symlink_metadata();
        if metadata.is_ok_and(|metadata| metadata.is_file() && metadata.nlink() == 1) {
            self.write(path);
        }
    }

    /// A file was closed by its writer, or is gone from its path.
    pub(super) fn end(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// How much longer to wait for the writers of files that matter; `None` where there are none.
    pub(super) fn wait(&mut self, matters: impl Fn(&Path) -> bool) -> Option<Duration> {
        let timeout = self.timeout;
        self.open.retain(|_, start| start.elapsed() < timeout);
        let open = self.open.iter().filter(|(path, _)| matters(path));
        open.map(|(_, start)| timeout.saturating_sub(start.elapsed()))
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_waited_for_until_it_is_closed_or_for_too_long() {
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        let mut writers = Writers::new(Duration::from_secs(3600));
        assert_eq!(writers.wait(|_| true), None);
        writers.write(a);
        assert!(writers.wait(|path| path == a).is_some());
        assert_eq!(writers.wait(|path| path == b), None);
        writers.write(b);
        writers.end(a);
        assert_eq!(writers.wait(|path| path == a), None);
        assert!(writers.wait(|path| path == b).is_some());
        let mut writers = Writers::new(Duration::ZERO);
        writers.write(a);
        assert_eq!(writers.wait(|_| true), None);
    }

    #[test]
    fn a_second_name_for_a_file_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let (new, first, second) = ("new", "first", "second");
        let path = |name: &str| root.path().join(name);
        std::fs::write(path(new), "").unwrap();
        std::fs::write(path(first), "").unwrap();
        std::fs::hard_link(path(first), path(second)).unwrap();
        let mut writers = Writers::new(Duration::from_secs(3600));
        for name in [new, second, "gone"] {
            writers.create(&path(name));
            let is_open = writers.wait(|open| open == path(name)).is_some();
            assert_eq!(is_open, name == new, "{name}");
        }
    }
}
