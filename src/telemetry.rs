//! Logs: to standard error, for people or for programs.

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, Settings};

/// Starts logging.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.log.level).map_err(|error| {
        anyhow::anyhow!(
            "the log level `{}` is not valid: {error}",
            settings.log.level
        )
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match settings.log.format {
        LogFormat::Text => subscriber.with_target(false).try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}
