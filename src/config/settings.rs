//! The settings file: every setting with its default.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use hiera_resolver::Strictness;
use serde::Deserialize;

use super::log_level::LogLevel;

/// All settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The code directory. Relative to the settings file.
    pub codedir: Option<PathBuf>,
    /// The hiera.yaml of the global layer. Relative to the settings file.
    pub hiera_config: Option<PathBuf>,
    /// Whether lookups fail on what Puppet 7 only warns about.
    pub strict: Strict,
    /// The address to listen on.
    pub listen: Option<String>,
    /// Bounds on what a request or a file may cost.
    pub limits: Limits,
    /// How changes on disk are noticed.
    pub reload: Reload,
    /// What is asked of other servers and kept of it.
    pub remote: Remote,
    /// What happens when the server is told to stop.
    pub shutdown: Shutdown,
    /// What is logged, and how.
    pub log: Log,
}

/// Puppet's setting `strict`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Strict {
    /// Lookups fail, as in Puppet 8 and OpenVox 8
    #[default]
    Error,
    /// Lookups do not fail, as in Puppet 7
    Warning,
    /// The same: hierad lists what it passes over in either case
    Off,
}

impl Strict {
    /// What lookups do.
    pub fn strictness(self) -> Strictness {
        match self {
            Strict::Error => Strictness::Error,
            Strict::Warning | Strict::Off => Strictness::Warning,
        }
    }
}

/// Bounds on what a request or a file may cost.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes in the body of a request.
    pub max_body_size: usize,
    /// Levels of nesting in the body of a request.
    pub max_nesting: usize,
    /// Keys in a batch, or names of which the first found answers.
    pub max_keys: usize,
    /// Milliseconds that a request may take to arrive.
    pub request_timeout_ms: u64,
    /// Bytes in a data file.
    pub max_file_size: u64,
    /// Files that the search for data may come to in one environment.
    pub max_files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_body_size: 1024 * 1024,
            max_nesting: 128,
            max_keys: 1000,
            request_timeout_ms: 10_000,
            max_file_size: 64 * 1024 * 1024,
            // Ten times the largest tree that is known of, and less than a whole disk has.
            max_files: 200_000,
        }
    }
}

impl Limits {
    /// How long a request may take to arrive.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }
}

/// How changes on disk are noticed.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reload {
    /// By file events, by looking again and again, or not at all.
    pub watch: WatchMode,
    /// Milliseconds of quiet after the last change before it is loaded.
    pub settle_ms: u64,
    /// Seconds after which everything is looked through even though no event came.
    pub rescan_interval_s: u64,
    /// Milliseconds between two looks where there are no file events.
    pub poll_interval_ms: u64,
    /// Milliseconds that a file which is being written is waited for.
    pub write_timeout_ms: u64,
    /// Which links in data directories are followed.
    pub follow_links: FollowLinks,
}

impl Default for Reload {
    fn default() -> Self {
        Reload {
            watch: WatchMode::Auto,
            settle_ms: 25,
            rescan_interval_s: 60,
            poll_interval_ms: 1_000,
            write_timeout_ms: 5_000,
            follow_links: FollowLinks::All,
        }
    }
}

/// Which links in data directories are followed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FollowLinks {
    /// All, wherever they lead, as Puppet does.
    #[default]
    All,
    /// Those that lead to a place in the code directory or in the environment's own.
    Inside,
    /// None.
    None,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum WatchMode {
    /// By file events; by polling where they are unavailable.
    Auto,
    /// By looking again and again.
    Poll,
    /// Not at all: only `POST /environments/{environment}/reload` reloads.
    Off,
}

/// What is asked of other servers (levels with `hiera_http`) and kept of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Remote {
    /// Seconds for which an answer is taken from memory.
    pub ttl_s: u64,
    /// Seconds beyond that for which it serves while its server fails.
    pub stale_s: u64,
    /// Answers in memory.
    pub cache_entries: usize,
    /// Bytes of all documents in memory.
    pub cache_bytes: usize,
    /// Bytes in a document.
    pub max_document_size: usize,
    /// Requests at the same time.
    pub max_requests: usize,
}

impl Default for Remote {
    fn default() -> Self {
        Remote {
            ttl_s: 30,
            stale_s: 3600,
            cache_entries: 10_000,
            cache_bytes: 256 * 1024 * 1024,
            max_document_size: 4 * 1024 * 1024,
            max_requests: 64,
        }
    }
}

/// What happens when the server is told to stop.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shutdown {
    /// Milliseconds between `/readyz` turning 503 and the end of listening, for load balancers to notice.
    pub drain_delay_ms: u64,
    /// Milliseconds that requests in flight get to finish.
    pub timeout_ms: u64,
}

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown {
            drain_delay_ms: 1_000,
            timeout_ms: 10_000,
        }
    }
}

/// What is logged, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug`, `trace`, `off`, or a filter such as `hierad=debug`.
    pub level: LogLevel,
    /// For people or for programs.
    pub format: LogFormat,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl Settings {
    /// Reads a settings file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings file `{}`", path.display()))?;
        let mut settings: Settings = if text
            .lines()
            .all(|line| line.trim().is_empty() || line.trim().starts_with('#'))
        {
            Settings::default()
        } else {
            serde_yaml::from_str(&text)
                .with_context(|| format!("in the settings file `{}`", path.display()))?
        };
        let directory = path.parent().unwrap_or(Path::new("."));
        for path in [&mut settings.codedir, &mut settings.hiera_config]
            .into_iter()
            .flatten()
        {
            *path = directory.join(&*path);
        }
        Ok(settings)
    }

    /// Lays `HIERAD_*` variables over the settings of the file.
    pub fn lay_variables_over(
        &mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<()> {
        let number = |name: &str| -> anyhow::Result<Option<u64>> {
            let value = variable(name);
            value
                .map(|value| {
                    value
                        .parse()
                        .with_context(|| format!("{name} must be a number, not `{value}`"))
                })
                .transpose()
        };
        let size = |name: &str| -> anyhow::Result<Option<usize>> {
            Ok(number(name)?.map(|value| usize::try_from(value).unwrap_or(usize::MAX)))
        };
        set(
            &mut self.limits.max_body_size,
            size("HIERAD_MAX_BODY_SIZE")?,
        );
        set(&mut self.limits.max_nesting, size("HIERAD_MAX_NESTING")?);
        set(&mut self.limits.max_keys, size("HIERAD_MAX_KEYS")?);
        set(
            &mut self.limits.request_timeout_ms,
            number("HIERAD_REQUEST_TIMEOUT_MS")?,
        );
        set(
            &mut self.limits.max_file_size,
            number("HIERAD_MAX_FILE_SIZE")?,
        );
        set(&mut self.limits.max_files, size("HIERAD_MAX_FILES")?);
        set(&mut self.reload.settle_ms, number("HIERAD_SETTLE_MS")?);
        set(
            &mut self.reload.write_timeout_ms,
            number("HIERAD_WRITE_TIMEOUT_MS")?,
        );
        if let Some(links) = variable("HIERAD_FOLLOW_LINKS") {
            self.reload.follow_links = match links.as_str() {
                "all" => FollowLinks::All,
                "inside" => FollowLinks::Inside,
                "none" => FollowLinks::None,
                other => {
                    anyhow::bail!("HIERAD_FOLLOW_LINKS must be all, inside or none, not `{other}`")
                }
            };
        }
        set(
            &mut self.reload.rescan_interval_s,
            number("HIERAD_RESCAN_INTERVAL_S")?,
        );
        set(
            &mut self.reload.poll_interval_ms,
            number("HIERAD_POLL_INTERVAL_MS")?,
        );
        if let Some(mode) = variable("HIERAD_WATCH") {
            self.reload.watch = match mode.as_str() {
                "auto" => WatchMode::Auto,
                "poll" => WatchMode::Poll,
                "off" => WatchMode::Off,
                other => anyhow::bail!("HIERAD_WATCH must be auto, poll or off, not `{other}`"),
            };
        }
        let remote = &mut self.remote;
        set(&mut remote.ttl_s, number("HIERAD_REMOTE_TTL_S")?);
        set(&mut remote.stale_s, number("HIERAD_REMOTE_STALE_S")?);
        set(
            &mut remote.cache_entries,
            size("HIERAD_REMOTE_CACHE_ENTRIES")?,
        );
        set(&mut remote.cache_bytes, size("HIERAD_REMOTE_CACHE_BYTES")?);
        set(
            &mut remote.max_document_size,
            size("HIERAD_REMOTE_MAX_DOCUMENT_SIZE")?,
        );
        set(
            &mut remote.max_requests,
            size("HIERAD_REMOTE_MAX_REQUESTS")?,
        );
        set(
            &mut self.shutdown.drain_delay_ms,
            number("HIERAD_DRAIN_DELAY_MS")?,
        );
        set(
            &mut self.shutdown.timeout_ms,
            number("HIERAD_SHUTDOWN_TIMEOUT_MS")?,
        );
        if let Some(level) = variable("HIERAD_LOG_LEVEL") {
            self.log.level = LogLevel::try_from(level).context("HIERAD_LOG_LEVEL")?;
        }
        if let Some(format) = variable("HIERAD_LOG_FORMAT") {
            self.log.format = match format.as_str() {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                other => anyhow::bail!("HIERAD_LOG_FORMAT must be text or json, not `{other}`"),
            };
        }
        Ok(())
    }
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_win_over_the_file() {
        let mut settings: Settings =
            serde_yaml::from_str("limits: {max_keys: 5}\nlog: {format: text}").unwrap();
        let variable = |name: &str| match name {
            "HIERAD_MAX_KEYS" => Some("7".to_owned()),
            "HIERAD_LOG_FORMAT" => Some("json".to_owned()),
            "HIERAD_REMOTE_TTL_S" => Some("0".to_owned()),
            "HIERAD_REMOTE_STALE_S" => Some("1".to_owned()),
            "HIERAD_REMOTE_CACHE_ENTRIES" => Some("2".to_owned()),
            "HIERAD_REMOTE_CACHE_BYTES" => Some("3".to_owned()),
            "HIERAD_REMOTE_MAX_DOCUMENT_SIZE" => Some("4".to_owned()),
            "HIERAD_REMOTE_MAX_REQUESTS" => Some("5".to_owned()),
            _ => None,
        };
        settings.lay_variables_over(variable).unwrap();
        let remote = &settings.remote;
        assert_eq!((remote.ttl_s, remote.stale_s), (0, 1));
        assert_eq!((remote.cache_entries, remote.cache_bytes), (2, 3));
        assert_eq!((remote.max_document_size, remote.max_requests), (4, 5));
        assert_eq!(settings.limits.max_keys, 7);
        assert_eq!(settings.log.format, LogFormat::Json);
    }

    #[test]
    fn loading_has_settings_in_the_file_and_as_variables() {
        let text = "limits: {max_files: 5}\nreload: {follow_links: inside, write_timeout_ms: 7}";
        let mut settings: Settings = serde_yaml::from_str(text).unwrap();
        let shown = |settings: &Settings| {
            let reload = &settings.reload;
            (
                settings.limits.max_files,
                reload.follow_links,
                reload.write_timeout_ms,
            )
        };
        assert_eq!(shown(&settings), (5, FollowLinks::Inside, 7));
        let variable = |name: &str| match name {
            "HIERAD_MAX_FILES" => Some("6".to_owned()),
            "HIERAD_FOLLOW_LINKS" => Some("none".to_owned()),
            "HIERAD_WRITE_TIMEOUT_MS" => Some("8".to_owned()),
            _ => None,
        };
        settings.lay_variables_over(variable).unwrap();
        assert_eq!(shown(&settings), (6, FollowLinks::None, 8));
        let variable = |name: &str| (name == "HIERAD_FOLLOW_LINKS").then(|| "some".to_owned());
        let error = settings.lay_variables_over(variable).unwrap_err();
        assert_eq!(
            error.to_string(),
            "HIERAD_FOLLOW_LINKS must be all, inside or none, not `some`"
        );
    }

    #[test]
    fn a_misspelt_setting_is_refused_by_name() {
        let error = serde_yaml::from_str::<Settings>("limits: {max_kees: 5}")
            .unwrap_err()
            .to_string();
        assert!(error.contains("max_kees"), "{error}");
    }

    #[test]
    fn a_bad_variable_is_named() {
        let variable = |name: &str| (name == "HIERAD_MAX_KEYS").then(|| "many".to_owned());
        let error = Settings::default()
            .lay_variables_over(variable)
            .unwrap_err()
            .to_string();
        assert_eq!(error, "HIERAD_MAX_KEYS must be a number, not `many`");
    }
}
