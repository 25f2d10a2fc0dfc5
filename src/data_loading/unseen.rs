//! What no event tells: whether a file that changed is whole, and whether a file matters at all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{CachedFile, FileFingerprint, Loaded, search};

/// A file that was written to this short ago may not be whole, unless an event says that its writer has closed it.
const GRACE: Duration = Duration::from_secs(1);

/// Files with configurations, wherever they are looked for.
const CONFIGURATIONS: [&str; 3] = ["hiera.yaml", "environment.conf", "metadata.json"];

impl Loaded {
    /// How long to wait until all files that differ from what is served can be taken for whole; `None` where they can.
    /// `seen` are the files of which events have told.
    pub(crate) fn wait_for_unseen_writers(
        &self,
        served: &Loaded,
        seen: &BTreeSet<PathBuf>,
    ) -> Option<Duration> {
        let now = SystemTime::now();
        let young = self.files.iter().filter_map(|file| {
            let known = served.file(file.path(), file.format);
            let is_other = known.is_none_or(|known| known.digest != file.digest);
            if !is_other || seen.contains(Path::new(file.path())) {
                return None;
            }
            let age = file.seen?.age_of_data(now)?;
            let delay = GRACE.checked_sub(age).filter(|delay| !delay.is_zero())?;
            (!self.is_swapped_in(file, known, served)).then_some(delay)
        });
        young.max()
    }

    /// Did a file come with a whole directory, by a link that leads elsewhere or a directory that was replaced? It was
    /// written before.
    fn is_swapped_in(
        &self,
        file: &CachedFile,
        known: Option<&CachedFile>,
        served: &Loaded,
    ) -> bool {
        let is_relinked = file.link.is_some() && known.is_some_and(|known| known.link != file.link);
        let directory = Path::new(file.path()).parent();
        let identity = |loaded: &Loaded| {
            let fingerprint: Option<FileFingerprint> = loaded.fingerprint_of(directory?)?;
            fingerprint.map(|fingerprint| fingerprint.identity())
        };
        let (before, now) = (identity(served), identity(self));
        is_relinked || before.is_some() && before != now
    }

    /// May this environment, of this name, read the file at a path, as a configuration or as data?
    pub(crate) fn may_read(&self, environment: &str, path: &Path) -> bool {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        let identity = FileFingerprint::of(directory).map(|fingerprint| fingerprint.identity());
        let mut names = self.names_of(directory, identity);
        names.any(|(directory, _)| {
            let path = directory.join(name);
            let is_config = CONFIGURATIONS.iter().any(|config| name == *config)
                || self.surroundings.configs.contains_key(&path);
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
