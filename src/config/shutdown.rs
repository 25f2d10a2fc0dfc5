//! `shutdown`: how the server stops.

use std::time::Duration;

use serde::Deserialize;

use super::variables::Variables;

/// How the server stops.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownSettings {
    /// Milliseconds for which the server keeps listening after `/readyz` turns 503, so that load balancers notice.
    pub drain_delay_ms: u64,
    /// Milliseconds in which requests in flight must finish.
    pub timeout_ms: u64,
}

impl Default for ShutdownSettings {
    fn default() -> Self {
        ShutdownSettings {
            drain_delay_ms: 1_000,
            timeout_ms: 10_000,
        }
    }
}

impl ShutdownSettings {
    /// How long the server keeps listening after `/readyz` turns 503.
    pub(crate) fn drain_delay(&self) -> Duration {
        Duration::from_millis(self.drain_delay_ms)
    }

    /// The time in which requests in flight must finish.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        variables.set_number(&mut self.drain_delay_ms, "HIERAD_DRAIN_DELAY_MS")?;
        variables.set_number(&mut self.timeout_ms, "HIERAD_SHUTDOWN_TIMEOUT_MS")
    }
}
