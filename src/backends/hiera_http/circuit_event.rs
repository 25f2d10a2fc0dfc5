//! [`CircuitEvent`]: a circuit breaker that has opened or closed, for logs, subscribers and errors.

use std::time::SystemTime;

use tokio::time::Instant;

use super::breaker::OpenCircuit;
use super::error::FetchErrorKind;
use crate::timestamp::rfc_3339;

/// A circuit breaker that has opened or closed.
#[derive(Clone, Debug)]
pub(crate) struct CircuitEvent {
    /// Scheme, host and port of the server.
    pub(crate) server: String,
    /// What is known of the failure; `None` if the server answers again.
    pub(crate) open: Option<CircuitFailure>,
}

/// Why and until when a server gets no requests.
#[derive(Clone, Debug)]
pub(crate) struct CircuitFailure {
    /// When the next request is sent; `None` while one is on its way.
    pub(crate) until: Option<SystemTime>,
    /// Failures in a row.
    pub(crate) failures: u32,
    /// The last of them.
    pub(crate) reason: String,
    /// A trial has failed since it first opened.
    is_repeated: bool,
}

impl CircuitEvent {
    /// Writes a log line.
    pub(super) fn log(&self) {
        let server = &self.server;
        match &self.open {
            None => tracing::info!(
                remote.server = server,
                "`{server}` answers again; circuit breaker closed"
            ),
            Some(failure) if failure.is_repeated => tracing::debug!(
                remote.server = server,
                "trial request to `{server}` failed; the next is sent after {}",
                failure.shown_until()
            ),
            Some(failure) => tracing::warn!(
                remote.server = server,
                remote.failures = failure.failures,
                "circuit breaker opened: no requests to `{server}` until {} (failures in a row: {}, the last: {})",
                failure.shown_until(),
                failure.failures,
                failure.reason
            ),
        }
    }
}

impl CircuitFailure {
    /// The end of the pause, as text.
    fn shown_until(&self) -> String {
        match self.until {
            Some(until) => rfc_3339(until),
            None => "a trial request succeeds".to_owned(),
        }
    }
}

impl From<OpenCircuit> for CircuitFailure {
    fn from(open: OpenCircuit) -> Self {
        let now = Instant::now();
        let until = open
            .until
            .map(|until| SystemTime::now() + until.saturating_duration_since(now));
        CircuitFailure {
            until,
            failures: open.failures,
            reason: open.reason,
            is_repeated: open.is_repeated,
        }
    }
}

impl From<OpenCircuit> for FetchErrorKind {
    fn from(open: OpenCircuit) -> Self {
        let failure = CircuitFailure::from(open);
        FetchErrorKind::CircuitOpen {
            until: failure.shown_until(),
            failures: failure.failures,
            reason: failure.reason,
        }
    }
}
