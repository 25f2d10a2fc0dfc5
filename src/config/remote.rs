//! `remote`: requests to other servers (levels with `hiera_http`) and the cache of their responses.

use std::time::Duration;

use serde::Deserialize;

use super::variables::Variables;

/// The upper limit for `breaker_max_pause_s`: a day.
const MAX_PAUSE_S: u64 = 24 * 60 * 60;

/// Requests to other servers and the cache of their responses.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteSettings {
    /// Seconds for which a response is served from the cache.
    pub ttl_s: u64,
    /// Further seconds for which it is served while its server fails.
    pub stale_s: u64,
    /// Responses in the cache.
    pub cache_entries: usize,
    /// Bytes of all documents in the cache. URIs contain node names, so the number of entries alone is no limit.
    pub cache_bytes: usize,
    /// Bytes in a document.
    pub max_document_size: usize,
    /// Concurrent requests to all servers.
    pub max_requests: usize,
    /// Concurrent requests to one server, so that a slow one does not use up those of all.
    pub max_requests_per_server: usize,
    /// Seconds that a lookup waits for other servers, all its requests together; 0: no limit.
    pub deadline_s: u64,
    /// Failures in a row after which a server gets no requests for a while; 0: never.
    pub breaker_failures: u32,
    /// The longest pause, in seconds, between two attempts to reach a server that fails; at most a day.
    pub breaker_max_pause_s: u64,
}

impl Default for RemoteSettings {
    fn default() -> Self {
        RemoteSettings {
            ttl_s: 30,
            stale_s: 3600,
            cache_entries: 10_000,
            cache_bytes: 256 * 1024 * 1024,
            max_document_size: 4 * 1024 * 1024,
            max_requests: 64,
            max_requests_per_server: 16,
            deadline_s: 10,
            breaker_failures: 5,
            breaker_max_pause_s: 60,
        }
    }
}

impl RemoteSettings {
    /// How long a response is served from the cache.
    pub(crate) fn ttl(&self) -> Duration {
        Duration::from_secs(self.ttl_s)
    }

    /// How long it is served in all while its server fails.
    pub(crate) fn stale_ttl(&self) -> Duration {
        Duration::from_secs(self.ttl_s.saturating_add(self.stale_s))
    }

    /// How long a lookup waits for other servers; `None` without a limit.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        (self.deadline_s > 0).then(|| Duration::from_secs(self.deadline_s))
    }

    /// The longest pause between two attempts to reach a server that fails.
    pub(crate) fn breaker_max_pause(&self) -> Duration {
        Duration::from_secs(self.breaker_max_pause_s.min(MAX_PAUSE_S))
    }

    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        variables.set_number(&mut self.ttl_s, "HIERAD_REMOTE_TTL_S")?;
        variables.set_number(&mut self.stale_s, "HIERAD_REMOTE_STALE_S")?;
        variables.set_number(&mut self.cache_entries, "HIERAD_REMOTE_CACHE_ENTRIES")?;
        variables.set_number(&mut self.cache_bytes, "HIERAD_REMOTE_CACHE_BYTES")?;
        variables.set_number(
            &mut self.max_document_size,
            "HIERAD_REMOTE_MAX_DOCUMENT_SIZE",
        )?;
        variables.set_number(&mut self.max_requests, "HIERAD_REMOTE_MAX_REQUESTS")?;
        variables.set_number(
            &mut self.max_requests_per_server,
            "HIERAD_REMOTE_MAX_REQUESTS_PER_SERVER",
        )?;
        variables.set_number(&mut self.deadline_s, "HIERAD_REMOTE_DEADLINE_S")?;
        variables.set_number(&mut self.breaker_failures, "HIERAD_REMOTE_BREAKER_FAILURES")?;
        variables.set_number(
            &mut self.breaker_max_pause_s,
            "HIERAD_REMOTE_BREAKER_MAX_PAUSE_S",
        )
    }
}
