//! [`FileFingerprint`]: metadata of a file, to detect changes without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Device and inode of a file or directory: the same under every name and link.
pub(crate) type FileIdentity = (u64, u64);

/// Metadata of a file or directory that change when its content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileFingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// File systems have coarse clocks: within this time a file may change again and keep its fingerprint.
const CLOCK_RESOLUTION: Duration = Duration::from_millis(50);

impl FileFingerprint {
    /// The fingerprint of a path, following links; `None` if it cannot be inspected.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Some(FileFingerprint::from(&std::fs::metadata(path).ok()?))
    }

    /// Which file or directory it is, whatever its content.
    pub(crate) fn identity(&self) -> FileIdentity {
        (self.device, self.inode)
    }

    /// Is it the same file with the same times? Its size may differ.
    pub(crate) fn has_times_of(&self, other: &Self) -> bool {
        self.identity() == other.identity()
            && (self.modified, self.changed) == (other.modified, other.changed)
    }

    /// How long before `now` data was last written to it; `None` if that is in the future (clocks differ).
    pub(crate) fn age_of_data(&self, now: SystemTime) -> Option<Duration> {
        let seconds = u64::try_from(self.modified.0).ok()?;
        let written = Duration::new(seconds, u32::try_from(self.modified.1).ok()?);
        now.duration_since(UNIX_EPOCH).ok()?.checked_sub(written)
    }

    /// Did it change so shortly before `now` that a further change might not show?
    pub(crate) fn is_recent(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::new(
            u64::try_from(self.changed.0).unwrap_or_default(),
            u32::try_from(self.changed.1).unwrap_or_default(),
        );
        changed + CLOCK_RESOLUTION > now
    }
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the types of the fields differ between systems"
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
