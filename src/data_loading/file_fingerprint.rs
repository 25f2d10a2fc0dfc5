//! What a file looks like from outside: enough to tell whether it is still the same.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file or directory from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileFingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Clocks of file systems are coarse: a file that changed this short ago may change again and look the same.
const YOUNG: Duration = Duration::from_millis(50);

impl FileFingerprint {
    /// Looks at a path, through links; `None` where there is nothing.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Some(FileFingerprint::from(&std::fs::metadata(path).ok()?))
    }

    /// Which file or directory it is, whatever it holds.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// How long before `now` data was last written to it; `None` where that is a time to come, of another clock.
    pub(crate) fn age_of_data(&self, now: SystemTime) -> Option<Duration> {
        let seconds = u64::try_from(self.modified.0).ok()?;
        let written = Duration::new(seconds, u32::try_from(self.modified.1).ok()?);
        now.duration_since(UNIX_EPOCH).ok()?.checked_sub(written)
    }

    /// Did it change so short before `now` that another change could have gone unnoticed?
    pub(crate) fn is_young(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::new(
            u64::try_from(self.changed.0).unwrap_or_default(),
            u32::try_from(self.changed.1).unwrap_or_default(),
        );
        changed + YOUNG > now
    }
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the fields have other types on other systems"
)]
impl From<&rustix::fs::Stat> for FileFingerprint {
    fn from(stat: &rustix::fs::Stat) -> Self {
        FileFingerprint {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

impl From<&Metadata> for FileFingerprint {
    fn from(metadata: &Metadata) -> Self {
        FileFingerprint {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
