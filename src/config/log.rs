//! `log`: what is logged, and in which format.

use anyhow::Context;
use clap::ValueEnum;
use serde::Deserialize;

use super::log_level::LogLevel;
use super::variables::Variables;

/// What is logged, and in which format.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// `error`, `warn`, `info`, `debug`, `trace`, `off`, or a filter such as `hierad=debug`.
    pub level: LogLevel,
    /// Text or JSON.
    pub format: LogFormat,
    /// Whether each request is logged.
    pub access: bool,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl LogSettings {
    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        const LEVEL: &str = "HIERAD_LOG_LEVEL";
        if let Some(level) = variables.text(LEVEL) {
            self.level = LogLevel::try_from(level).context(LEVEL)?;
        }
        variables.set_choice(&mut self.format, "HIERAD_LOG_FORMAT")?;
        variables.set_bool(&mut self.access, "HIERAD_LOG_ACCESS")
    }
}
