//! The cache of documents and failures, by request.
//!
//! It is limited by number of entries and by total size of the documents; the oldest entries are evicted first. The time
//! is a parameter.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use hiera_resolver::remote::RemoteRequest;
use tokio::time::Instant;

use super::FetchResult;
use super::error::FetchError;
use super::fetch::Document;
use crate::config::RemoteSettings;

/// How long a failure is cached, so that a failing server does not get a request for each lookup.
const FAILURE_TTL: Duration = Duration::from_secs(1);
/// The time between two log lines about the same request.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Results of fetches, by request.
pub(super) struct Cache {
    ttl: Duration,
    stale_ttl: Duration,
    max_entries: usize,
    max_total_size: usize,
    entries: HashMap<Arc<RemoteRequest>, CacheEntry>,
    /// Invariant: the requests of `entries`, each under its `order`, oldest first.
    by_age: BTreeMap<u64, Arc<RemoteRequest>>,
    next_order: u64,
    /// Invariant: the sum of the sizes in `entries`.
    total_size: usize,
}

struct CacheEntry {
    order: u64,
    cached: Option<CachedDocument>,
    /// Of the last fetch. Invariant: `cached` or this is set, or both.
    failure: Option<(FetchError, Instant)>,
    logged_at: Option<Instant>,
}

struct CachedDocument {
    document: Document,
    fetched_at: Instant,
}

/// What the cache holds for a request.
pub(super) enum CacheState {
    /// A recent result.
    Fresh(FetchResult),
    /// The last failure, which has expired, and a document that may be served while the fetch is retried.
    Failing(FetchError),
    /// Nothing that may be served without a fetch.
    Missing,
}

impl Cache {
    pub(super) fn new(settings: &RemoteSettings) -> Self {
        Cache {
            ttl: settings.ttl(),
            stale_ttl: settings.stale_ttl(),
            max_entries: settings.cache_entries,
            max_total_size: settings.cache_bytes,
            entries: HashMap::new(),
            by_age: BTreeMap::new(),
            next_order: 0,
            total_size: 0,
        }
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the cache holds for a request.
    pub(super) fn state(&self, request: &RemoteRequest, now: Instant) -> CacheState {
        let Some(entry) = self.entries.get(request) else {
            return CacheState::Missing;
        };
        match (&entry.failure, &entry.cached) {
            (None, Some(cached)) if now.duration_since(cached.fetched_at) < self.ttl => {
                CacheState::Fresh(Ok(cached.document.clone()))
            }
            (Some((error, at)), _)
                if error.kind.is_cached() && now.duration_since(*at) < FAILURE_TTL =>
            {
                CacheState::Fresh(Err(error.clone()))
            }
            (Some((error, _)), Some(cached)) if self.may_be_served(cached, now) => {
                CacheState::Failing(error.clone())
            }
            _ => CacheState::Missing,
        }
    }

    /// The last document for a request whose server fails, and its age.
    pub(super) fn stale(
        &self,
        request: &RemoteRequest,
        now: Instant,
    ) -> Option<(Document, Duration)> {
        let cached = self.entries.get(request)?.cached.as_ref()?;
        self.may_be_served(cached, now).then(|| {
            (
                cached.document.clone(),
                now.duration_since(cached.fetched_at),
            )
        })
    }

    /// Should a log line about a request be written? Records that it was.
    pub(super) fn should_log(&mut self, request: &RemoteRequest, now: Instant) -> bool {
        let Some(entry) = self.entries.get_mut(request) else {
            return true;
        };
        let is_due = entry
            .logged_at
            .is_none_or(|at| now.duration_since(at) >= LOG_INTERVAL);
        if is_due {
            entry.logged_at = Some(now);
        }
        is_due
    }

    /// Stores the result of a fetch. A failure keeps an older document, unless the server has withdrawn it.
    pub(super) fn record(
        &mut self,
        request: &Arc<RemoteRequest>,
        result: FetchResult,
        now: Instant,
    ) {
        let mut before = self.take(request);
        let logged_at = before.as_ref().and_then(|entry| entry.logged_at);
        let entry = match result {
            Ok(document) => CacheEntry {
                order: self.next_order,
                cached: Some(CachedDocument {
                    document,
                    fetched_at: now,
                }),
                failure: None,
                logged_at,
            },
            Err(error) => {
                let cached = before
                    .as_mut()
                    .and_then(|entry| entry.cached.take())
                    .filter(|cached| error.kind.is_temporary() && self.may_be_served(cached, now));
                let order = before
                    .filter(|_| cached.is_some())
                    .map_or(self.next_order, |entry| entry.order);
                CacheEntry {
                    order,
                    cached,
                    failure: Some((error, now)),
                    logged_at,
                }
            }
        };
        self.next_order += 1;
        self.total_size += entry.size();
        self.by_age.insert(entry.order, request.clone());
        self.entries.insert(request.clone(), entry);
        while self.entries.len() > self.max_entries || self.total_size > self.max_total_size {
            let Some((_, oldest)) = self.by_age.pop_first() else {
                break;
            };
            self.take(&oldest);
        }
    }

    fn may_be_served(&self, cached: &CachedDocument, now: Instant) -> bool {
        now.duration_since(cached.fetched_at) < self.stale_ttl
    }

    fn take(&mut self, request: &RemoteRequest) -> Option<CacheEntry> {
        let entry = self.entries.remove(request)?;
        self.by_age.remove(&entry.order);
        self.total_size -= entry.size();
        Some(entry)
    }
}

impl CacheEntry {
    fn size(&self) -> usize {
        self.cached
            .as_ref()
            .map_or(0, |cached| cached.document.size)
    }
}

#[cfg(test)]
mod tests;
