//! Logs: to standard error, for people or for programs.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, Settings};

/// Starts logging.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    // What the library for file events says of directories that are gone is of no use to anyone.
    let level = format!("{},notify=off", settings.log.level);
    let filter = EnvFilter::try_new(&level).map_err(|error| {
        anyhow::anyhow!(
            "the log level `{}` is not valid: {error}",
            settings.log.level
        )
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match settings.log.format {
        LogFormat::Text => subscriber.with_target(false).try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}
