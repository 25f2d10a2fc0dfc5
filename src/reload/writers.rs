//! [`Writers`]: files that a program has open and is writing to, according to file events.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files that may be incomplete.
#[derive(Debug)]
pub(super) struct Writers {
    /// Each file with the time of the first event.
    open: HashMap<PathBuf, Instant>,
    /// How long to wait for a writer.
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

    /// A file was created: its creator has it open and is about to write.
    pub(super) fn create(&mut self, path: &Path) {
        // A hard link to an existing file is created without opening it.
        let metadata = path.symlink_metadata();
        if metadata.is_ok_and(|metadata| metadata.is_file() && metadata.nlink() == 1) {
            self.write(path);
        }
    }

    /// A file was closed by its writer, or is gone.
    pub(super) fn end(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// How much longer to wait for the writers of relevant files; `None` if there are none.
    pub(super) fn delay(&mut self, is_relevant: impl Fn(&Path) -> bool) -> Option<Duration> {
        let timeout = self.timeout;
        self.open.retain(|_, start| start.elapsed() < timeout);
        let open = self.open.iter().filter(|(path, _)| is_relevant(path));
        open.map(|(_, start)| timeout.saturating_sub(start.elapsed()))
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_waited_for_until_it_is_closed_or_the_time_is_up() {
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        let mut writers = Writers::new(Duration::from_secs(3600));
        assert_eq!(writers.delay(|_| true), None);
        writers.write(a);
        assert!(writers.delay(|path| path == a).is_some());
        assert_eq!(writers.delay(|path| path == b), None);
        writers.write(b);
        writers.end(a);
        assert_eq!(writers.delay(|path| path == a), None);
        assert!(writers.delay(|path| path == b).is_some());
        let mut writers = Writers::new(Duration::ZERO);
        writers.write(a);
        assert_eq!(writers.delay(|_| true), None);
    }

    #[test]
    fn a_hard_link_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let (new, first, second) = ("new", "first", "second");
        let path = |name: &str| root.path().join(name);
        std::fs::write(path(new), "").unwrap();
        std::fs::write(path(first), "").unwrap();
        std::fs::hard_link(path(first), path(second)).unwrap();
        let mut writers = Writers::new(Duration::from_secs(3600));
        for name in [new, second, "gone"] {
            writers.create(&path(name));
            let is_open = writers.delay(|open| open == path(name)).is_some();
            assert_eq!(is_open, name == new, "{name}");
        }
    }
}
