//! [`LogLevel`]: which messages are logged.

use serde::Deserialize;
use tracing_subscriber::EnvFilter;

/// The levels, from quietest to most verbose.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// A level, or a filter such as `info,hierad=debug`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct LogLevel {
    // Invariant: levels and `target=level`, separated by commas.
    text: String,
}

/// A text that is neither a level nor a filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{part}` is not a log level; expected error, warn, info, debug, trace or off, or a filter such as `hierad=debug`"
)]
pub struct LogLevelError {
    part: String,
}

impl LogLevel {
    /// As a filter. The library for file events is left out: it only reports directories that have disappeared.
    pub(crate) fn filter(&self) -> EnvFilter {
        EnvFilter::new(format!("{},notify=off", self.text))
    }
}

impl Default for LogLevel {
    fn default() -> Self {
        LogLevel {
            text: "info".to_owned(),
        }
    }
}

impl TryFrom<String> for LogLevel {
    type Error = LogLevelError;

    fn try_from(text: String) -> Result<Self, LogLevelError> {
        // The library takes any other word for the name of a target: it would log everything of that target and nothing
        // else.
        match text.split(',').find(|part| !is_directive(part)) {
            Some(part) => Err(LogLevelError {
                part: part.to_owned(),
            }),
            None => Ok(LogLevel { text }),
        }
    }
}

fn is_directive(part: &str) -> bool {
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    let is_target = |name: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        !name.is_empty() && name.bytes().all(is_letter)
    };
    match part.trim().split_once('=') {
        Some((target, level)) => is_target(target) && is_level(level),
        None => is_level(part.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_filters_are_accepted_and_other_words_are_not() {
        for (text, wrong) in [
            ("info", None),
            ("WARN", None),
            ("off", None),
            ("hierad=debug", None),
            ("warn, hierad::reload=trace", None),
            ("loud", Some("loud")),
            ("", Some("")),
            ("hierad", Some("hierad")),
            ("info,hierad=loud", Some("hierad=loud")),
            ("=info", Some("=info")),
            ("info,", Some("")),
            ("3", Some("3")),
        ] {
            let error = LogLevel::try_from(text.to_owned()).err();
            assert_eq!(error.map(|error| error.part).as_deref(), wrong, "{text}");
        }
    }
}
