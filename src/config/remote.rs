//! `remote`: requests to other servers (levels with `hiera_http`) and the cache of their responses.

use std::time::Duration;

use serde::Deserialize;

use super::variables::Variables;

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
    /// Concurrent requests.
    pub max_requests: usize,
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

    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        variables.set_number(&mut self.ttl_s, "HIERAD_REMOTE_TTL_S")?;
        variables.set_number(&mut self.stale_s, "HIERAD_REMOTE_STALE_S")?;
        variables.set_number(&mut self.cache_entries, "HIERAD_REMOTE_CACHE_ENTRIES")?;
        variables.set_number(&mut self.cache_bytes, "HIERAD_REMOTE_CACHE_BYTES")?;
        variables.set_number(
            &mut self.max_document_size,
            "HIERAD_REMOTE_MAX_DOCUMENT_SIZE",
        )?;
        variables.set_number(&mut self.max_requests, "HIERAD_REMOTE_MAX_REQUESTS")
    }
}
