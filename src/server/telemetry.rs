//! Logging to standard error, as text or JSON.

use std::io::IsTerminal as _;

use crate::config::{LogFormat, Settings};

/// Starts logging.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(settings.log.level.filter())
        .with_ansi(std::io::stderr().is_terminal() && !is_colour_unwanted())
        .with_writer(std::io::stderr);
    let started = match settings.log.format {
        LogFormat::Text => subscriber.with_target(false).try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}

/// See <https://no-color.org>: the variable counts if it is not empty.
fn is_colour_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
