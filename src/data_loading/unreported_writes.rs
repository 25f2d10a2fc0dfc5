//! Changes without a file event: whether a changed file is completely written, and whether a file is read at all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::loaded::{CachedFile, LoadedEnvironment};
use super::{FileFingerprint, search};

/// A file that was written within this time may be incomplete, unless an event said that its writer closed it.
const GRACE_TIME: Duration = Duration::from_secs(1);

/// How long to wait for a file that is being truncated.
const TRUNCATION_TIME: Duration = Duration::from_millis(50);

/// The names of configuration files.
const CONFIG_NAMES: [&str; 3] = ["hiera.yaml", "environment.conf", "metadata.json"];

impl LoadedEnvironment {
    /// How long to wait until all files that differ from the served ones count as completely written; `None` if they do
    /// now. `reported` are the files that had events.
    pub(crate) fn delay_for_unreported_writes(
        &self,
        served: &LoadedEnvironment,
        reported: &BTreeSet<PathBuf>,
    ) -> Option<Duration> {
        let now = SystemTime::now();
        let delays = self.files.iter().filter_map(|file| {
            let before = served.file(file.path(), file.format);
            let differs = before.is_none_or(|before| before.digest != file.digest);
            if !differs || reported.contains(Path::new(file.path())) {
                return None;
            }
            let fingerprint_before = before.and_then(|before| before.fingerprint);
            let delay = delay_for_write(&file.fingerprint?, fingerprint_before.as_ref(), now)?;
            (!self.came_with_directory(file, before, served)).then_some(delay)
        });
        delays.max()
    }

    /// Did a file appear because a link was redirected or a directory was replaced? Then it was written before.
    fn came_with_directory(
        &self,
        file: &CachedFile,
        before: Option<&CachedFile>,
        served: &LoadedEnvironment,
    ) -> bool {
        let is_redirected = file.link_directory.is_some()
            && before.is_some_and(|before| before.link_directory != file.link_directory);
        let directory = Path::new(file.path()).parent();
        let identity = |loaded: &LoadedEnvironment| {
            let fingerprint: Option<FileFingerprint> = loaded.directory_fingerprint(directory?)?;
            fingerprint.map(|fingerprint| fingerprint.identity())
        };
        let (before, now) = (identity(served), identity(self));
        is_redirected || before.is_some() && before != now
    }

    /// May this environment read the file at a path, as configuration or as data?
    pub(crate) fn may_read(&self, environment: &str, path: &Path) -> bool {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        let identity = FileFingerprint::of(directory).map(|fingerprint| fingerprint.identity());
        let mut paths = self.directory_paths(directory, identity);
        paths.any(|(directory, _)| {
            let path = directory.join(name);
            let is_config = CONFIG_NAMES.iter().any(|config| name == *config)
                || self.inputs.configs.contains_key(&path);
            is_config || self.may_read_data(environment, directory, &path)
        })
    }

    fn may_read_data(&self, environment: &str, directory: &Path, path: &Path) -> bool {
        let (Some(directory), Some(path)) = (directory.to_str(), path.to_str()) else {
            return false;
        };
        let is_listed = self.snapshot.listing(directory).is_some();
        let layers = self.snapshot.layers();
        !search::formats_of(layers, environment, path, is_listed).is_empty()
    }
}

/// How long to wait until a file that differs from the served one counts as completely written.
fn delay_for_write(
    file: &FileFingerprint,
    before: Option<&FileFingerprint>,
    now: SystemTime,
) -> Option<Duration> {
    // ext4 removes the content of a file before it sets the times, so for about a millisecond an empty file looks old.
    if before.is_some_and(|before| before.has_times_of(file)) {
        return Some(TRUNCATION_TIME);
    }
    let delay = GRACE_TIME.checked_sub(file.age_of_data(now)?)?;
    (!delay.is_zero()).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_as_complete_a_second_after_it_was_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |text: &str, age: u64| {
            std::fs::write(file.path(), text).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            file.as_file().set_modified(time).unwrap();
            FileFingerprint::of(file.path()).unwrap()
        };
        let now = SystemTime::now();
        let old = write("k: 1", 9);
        assert_eq!(delay_for_write(&old, None, now), None);
        let new = write("k: 2", 0);
        let delay = delay_for_write(&new, Some(&old), now + GRACE_TIME / 2);
        assert!(delay.is_some_and(|delay| delay <= GRACE_TIME), "{delay:?}");
        assert_eq!(
            delay_for_write(&new, Some(&old), now + 60 * GRACE_TIME),
            None
        );
    }

    #[test]
    fn a_file_that_changed_without_a_new_time_is_being_truncated() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = FileFingerprint::of(file.path()).unwrap();
        let later = SystemTime::now() + 60 * GRACE_TIME;
        let delay = delay_for_write(&before, Some(&before), later);
        assert_eq!(delay, Some(TRUNCATION_TIME));
    }
}
