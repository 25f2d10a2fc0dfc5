//! `connections`: limits on connections, and on what all of them together hold in memory.

use std::time::Duration;

use serde::Deserialize;

use super::variables::Variables;

/// The smallest limit on the head of a request: the size of the first read from a connection.
const MIN_HEAD_SIZE: usize = 8 * 1024;

/// Limits on connections, and on what all of them together hold in memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectionSettings {
    /// Open connections.
    pub max_connections: usize,
    /// Open connections from one address.
    pub max_connections_per_address: usize,
    /// Requests that are being received or answered.
    pub max_requests_in_flight: usize,
    /// Bytes of all bodies that have arrived in part.
    pub max_body_bytes_in_flight: usize,
    /// Bytes of all large answers that have not been sent completely.
    pub max_answer_bytes_in_flight: usize,
    /// Open event streams.
    pub max_event_streams: usize,
    /// Seconds after which an event stream ends.
    pub event_stream_max_age_s: u64,
    /// Bytes in the head of a request.
    pub max_head_size: usize,
    /// Milliseconds for which a client may read nothing of its answer.
    pub send_timeout_ms: u64,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        ConnectionSettings {
            max_connections: 4096,
            // Fewer than requests in flight: a single address cannot use up those either.
            max_connections_per_address: 512,
            max_requests_in_flight: 1024,
            max_body_bytes_in_flight: 128 * 1024 * 1024,
            max_answer_bytes_in_flight: 128 * 1024 * 1024,
            max_event_streams: 256,
            event_stream_max_age_s: 3600,
            max_head_size: 64 * 1024,
            send_timeout_ms: 30_000,
        }
    }
}

impl ConnectionSettings {
    /// How long an event stream lasts at most.
    pub(crate) fn event_stream_max_age(&self) -> Duration {
        Duration::from_secs(self.event_stream_max_age_s)
    }

    /// How long a client may read nothing of its answer.
    pub(crate) fn send_timeout(&self) -> Duration {
        Duration::from_millis(self.send_timeout_ms)
    }

    /// Bytes in the head of a request.
    pub(crate) fn head_size(&self) -> usize {
        self.max_head_size.max(MIN_HEAD_SIZE)
    }

    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        variables.set_number(&mut self.max_connections, "HIERAD_MAX_CONNECTIONS")?;
        variables.set_number(
            &mut self.max_connections_per_address,
            "HIERAD_MAX_CONNECTIONS_PER_ADDRESS",
        )?;
        variables.set_number(
            &mut self.max_requests_in_flight,
            "HIERAD_MAX_REQUESTS_IN_FLIGHT",
        )?;
        variables.set_number(
            &mut self.max_body_bytes_in_flight,
            "HIERAD_MAX_BODY_BYTES_IN_FLIGHT",
        )?;
        variables.set_number(
            &mut self.max_answer_bytes_in_flight,
            "HIERAD_MAX_ANSWER_BYTES_IN_FLIGHT",
        )?;
        variables.set_number(&mut self.max_event_streams, "HIERAD_MAX_EVENT_STREAMS")?;
        variables.set_number(
            &mut self.event_stream_max_age_s,
            "HIERAD_EVENT_STREAM_MAX_AGE_S",
        )?;
        variables.set_number(&mut self.max_head_size, "HIERAD_MAX_HEAD_SIZE")?;
        variables.set_number(&mut self.send_timeout_ms, "HIERAD_SEND_TIMEOUT_MS")
    }
}
