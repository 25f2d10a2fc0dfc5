//! Settings: flags override `HIERAD_*` variables, which override the settings file, which overrides the defaults.
//!
//! Each topic has a file with its struct, its defaults and its variables, and is a section of the settings file. To add
//! a setting, add a field there, explain it in `config/hierad.yaml`, and apply its variable in `apply_variables`.
//! [`CodeArgs`] reads all sources, [`CodeDirectory`] is what loading needs of them.

mod allowed_hosts;
mod code_args;
mod code_directory;
mod connections;
mod cors_origins;
mod http;
mod limits;
mod log;
mod log_level;
mod reload;
mod remote;
mod shutdown;
mod strict;
#[cfg(test)]
mod tests;
mod variables;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

pub(crate) use self::allowed_hosts::is_below;
pub use self::allowed_hosts::{AllowedHostError, AllowedHosts};
pub use self::code_args::CodeArgs;
pub use self::code_directory::CodeDirectory;
pub(crate) use self::code_directory::{
    ENVIRONMENTS, enclosing_code_directory, is_environment_name,
};
pub use self::connections::ConnectionSettings;
pub use self::cors_origins::{CorsOriginError, CorsOrigins};
pub use self::http::HttpSettings;
pub use self::limits::Limits;
pub use self::log::{LogFormat, LogSettings};
pub use self::log_level::{LogLevel, LogLevelError};
pub use self::reload::{FollowLinks, ReloadSettings, WatchMode};
pub use self::remote::RemoteSettings;
pub use self::shutdown::ShutdownSettings;
pub use self::strict::Strict;
use self::variables::Variables;

/// All settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The code directory. Relative to the settings file.
    pub codedir: Option<PathBuf>,
    /// The `hiera.yaml` of the global layer. Relative to the settings file.
    pub hiera_config: Option<PathBuf>,
    /// Whether lookups fail on what Puppet 7 only warns about.
    pub strict: Strict,
    /// The address to listen on.
    pub listen: Option<String>,
    /// What the HTTP interface offers.
    pub http: HttpSettings,
    /// Limits on connections, and on what all of them together hold in memory.
    pub connections: ConnectionSettings,
    /// Limits on requests and files.
    pub limits: Limits,
    /// How changes on disk are detected.
    pub reload: ReloadSettings,
    /// Requests to other servers and the cache of their responses.
    pub remote: RemoteSettings,
    /// How the server stops.
    pub shutdown: ShutdownSettings,
    /// What is logged, and in which format.
    pub log: LogSettings,
}

impl Settings {
    /// Reads a settings file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings file `{}`", path.display()))?;
        let is_blank = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        let mut settings: Settings = if text.lines().all(is_blank) {
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

    /// Overrides settings with `HIERAD_*` variables. Those that are flags as well are read with the flags.
    pub fn apply_variables(
        &mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<()> {
        let variables = Variables::new(&variable);
        self.http.apply_variables(&variables)?;
        self.connections.apply_variables(&variables)?;
        self.limits.apply_variables(&variables)?;
        self.reload.apply_variables(&variables)?;
        self.remote.apply_variables(&variables)?;
        self.shutdown.apply_variables(&variables)?;
        self.log.apply_variables(&variables)
    }
}
