//! `reload`: how changes on disk are detected.

use std::time::Duration;

use clap::ValueEnum;
use serde::Deserialize;

use super::variables::Variables;

/// How changes on disk are detected.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReloadSettings {
    /// File events, polling, or neither.
    pub watch: WatchMode,
    /// Milliseconds without further changes before a change is loaded.
    pub settle_ms: u64,
    /// Seconds between two scans of everything, in case an event was lost.
    pub rescan_interval_s: u64,
    /// Milliseconds between two scans without file events.
    pub poll_interval_ms: u64,
    /// Milliseconds to wait for a program that is writing to a file.
    pub write_timeout_ms: u64,
    /// Which symbolic links in data directories are followed.
    pub follow_links: FollowLinks,
}

impl Default for ReloadSettings {
    fn default() -> Self {
        ReloadSettings {
            watch: WatchMode::Auto,
            settle_ms: 25,
            rescan_interval_s: 60,
            poll_interval_ms: 1_000,
            write_timeout_ms: 5_000,
            follow_links: FollowLinks::All,
        }
    }
}

/// How changes are detected.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum WatchMode {
    /// By file events; by polling where they are unavailable.
    Auto,
    /// By polling.
    Poll,
    /// Not at all: only `POST /environments/{environment}/reload` and SIGHUP reload.
    Off,
}

/// Which symbolic links in data directories are followed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum FollowLinks {
    /// All of them, as Puppet does.
    #[default]
    All,
    /// Those that lead to a path inside the code directory or the environment.
    Inside,
    /// None.
    None,
}

impl ReloadSettings {
    /// How long there must be no further change before a change is loaded.
    pub(crate) fn quiet_time(&self) -> Duration {
        Duration::from_millis(self.settle_ms.max(1))
    }

    /// How long to wait for a program that is writing to a file.
    pub(crate) fn write_timeout(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }

    /// The time between two scans of everything.
    pub(crate) fn scan_interval(&self, has_file_events: bool) -> Duration {
        match (self.watch, has_file_events) {
            (WatchMode::Off, _) => Duration::from_secs(365 * 86_400),
            (_, true) => Duration::from_secs(self.rescan_interval_s.max(1)),
            (_, false) => Duration::from_millis(self.poll_interval_ms.max(10)),
        }
    }

    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        variables.set_choice(&mut self.watch, "HIERAD_WATCH")?;
        variables.set_number(&mut self.settle_ms, "HIERAD_SETTLE_MS")?;
        variables.set_number(&mut self.rescan_interval_s, "HIERAD_RESCAN_INTERVAL_S")?;
        variables.set_number(&mut self.poll_interval_ms, "HIERAD_POLL_INTERVAL_MS")?;
        variables.set_number(&mut self.write_timeout_ms, "HIERAD_WRITE_TIMEOUT_MS")?;
        variables.set_choice(&mut self.follow_links, "HIERAD_FOLLOW_LINKS")
    }
}
