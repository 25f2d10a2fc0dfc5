//! The client behind levels with `hiera_http`: a request of a lookup → the document that a server returned.
//!
//! [`RemoteClient`] is the interface. `call`, `address` and `headers` turn the options of a level into a checked
//! [`call::Call`]; `upstream` decides when it may be sent, by limits and by the `breaker` of its server; `connect` and
//! `tls` provide pooled connections, `fetch` gets a document over one of them, and `cache` stores it. Options and their
//! meaning are those of hiera-http 3 and its library lookup_http.
//!
//! Each fetch is a task of its own: if the caller goes away after the request was sent, the document still reaches the
//! cache. Before that, the request is dropped.

mod address;
mod breaker;
mod cache;
mod call;
mod circuit_event;
mod connect;
mod error;
mod fetch;
mod headers;
mod in_progress;
mod tls;
mod upstream;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use tokio::sync::broadcast;
use tokio::time::{Instant, timeout_at};

pub(crate) use self::circuit_event::CircuitEvent;
pub(crate) use self::upstream::RemoteStats;

use self::cache::{Cache, CacheState};
use self::connect::ConnectionPools;
use self::error::{FetchError, FetchErrorKind};
use self::fetch::Document;
use self::in_progress::{FetchPurpose, FetchesInProgress, PendingFetch};
use self::upstream::Upstreams;
use crate::config::RemoteSettings;

/// Fetches documents for lookups and caches them. Clones share the cache.
#[derive(Clone)]
pub(crate) struct RemoteClient {
    inner: Arc<ClientInner>,
}

/// The outcome of a fetch.
type FetchResult = Result<Document, FetchError>;

struct ClientInner {
    settings: RemoteSettings,
    pools: ConnectionPools,
    upstreams: Upstreams,
    /// Never held across an await.
    shared: Mutex<FetchState>,
}

struct FetchState {
    cache: Cache,
    in_progress: FetchesInProgress,
}

/// Where the result for a request comes from.
enum ResultSource {
    Cached(FetchResult),
    Pending(PendingFetch),
}

impl fmt::Debug for RemoteClient {
    // Not derived, since requests contain passwords.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RemoteClient")
            .field("settings", &self.inner.settings)
            .field("entries", &self.inner.shared().cache.len())
            .finish_non_exhaustive()
    }
}

impl RemoteClient {
    /// A client with an empty cache.
    pub(crate) fn new(settings: &RemoteSettings) -> Self {
        let shared = FetchState {
            cache: Cache::new(settings),
            in_progress: FetchesInProgress::default(),
        };
        let inner = ClientInner {
            settings: settings.clone(),
            pools: ConnectionPools::default(),
            upstreams: Upstreams::new(settings),
            shared: Mutex::new(shared),
        };
        RemoteClient {
            inner: Arc::new(inner),
        }
    }

    /// The answer to a request, from the cache while it is fresh, otherwise fetched. Equal concurrent requests are
    /// fetched once.
    ///
    /// If the last fetch failed and an older answer may still be served, that answer is returned at once and the fetch
    /// is retried in the background. A fetch that is not done at the deadline counts as failed for this caller.
    pub(crate) async fn answer(
        &self,
        request: &RemoteRequest,
        deadline: Option<Instant>,
    ) -> RemoteAnswer {
        let result = match self.result_source(request, deadline) {
            ResultSource::Cached(result) => result,
            ResultSource::Pending(mut fetch) => {
                let result = async {
                    let result = fetch.wait_for(Option::is_some).await;
                    let result = result.ok().and_then(|result| result.clone());
                    result.unwrap_or_else(|| Err(interrupted(request)))
                };
                match deadline {
                    None => result.await,
                    Some(deadline) => timeout_at(deadline, result)
                        .await
                        .unwrap_or_else(|_| Err(self.too_late(request))),
                }
            }
        };
        self.answer_from(request, result)
    }

    /// How long a lookup waits for other servers, all its requests together; `None` without a limit.
    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.inner.settings.deadline()
    }

    /// Subscribes to circuit breakers that open and close.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<CircuitEvent> {
        self.inner.upstreams.events.subscribe()
    }

    /// The circuit breakers that are open, as if they had just opened.
    pub(crate) fn open_circuits(&self) -> Vec<CircuitEvent> {
        self.inner.upstreams.open_circuits()
    }

    /// Numbers for metrics.
    pub(crate) fn stats(&self) -> RemoteStats {
        self.inner.upstreams.stats()
    }

    /// Checks the cache, and starts a fetch if one is needed and not in progress.
    fn result_source(&self, request: &RemoteRequest, deadline: Option<Instant>) -> ResultSource {
        let mut shared = self.inner.shared();
        let now = Instant::now();
        match shared.cache.state(request, now) {
            CacheState::Fresh(result) => ResultSource::Cached(result),
            CacheState::Failing(error) => {
                shared
                    .in_progress
                    .start(&self.inner, request, FetchPurpose::Cache);
                ResultSource::Cached(Err(error))
            }
            CacheState::Missing if deadline.is_some_and(|deadline| deadline <= now) => {
                ResultSource::Cached(Err(self.too_late(request)))
            }
            CacheState::Missing => {
                let in_progress = &mut shared.in_progress;
                ResultSource::Pending(in_progress.start(&self.inner, request, FetchPurpose::Caller))
            }
        }
    }

    fn too_late(&self, request: &RemoteRequest) -> FetchError {
        FetchError {
            uri: address::displayed(&request.uri),
            kind: FetchErrorKind::Deadline {
                seconds: self.inner.settings.deadline_s,
            },
        }
    }

    /// The answer for a lookup. After a failure, that is a stale document if there is one, or "not found" if the level
    /// says so.
    fn answer_from(&self, request: &RemoteRequest, result: FetchResult) -> RemoteAnswer {
        let error = match result {
            Ok(document) => return document.into_answer(),
            Err(error) => error,
        };
        let is_graceful = error.kind.is_graceful()
            && request.option("failure").and_then(|value| value.as_str()) == Some("graceful");
        let now = Instant::now();
        let (stale, logs) = {
            let cache = &mut self.inner.shared().cache;
            let stale = cache.stale(request, now);
            let logs = (stale.is_some() || is_graceful) && cache.should_log(request, now);
            (stale, logs)
        };
        match stale {
            Some((document, age)) => {
                if logs {
                    let age = age.as_secs();
                    tracing::warn!(
                        remote.uri = %error.uri,
                        remote.age_s = age,
                        "serving a stale response ({age} s old): upstream failed: {error}"
                    );
                }
                document.into_answer()
            }
            None if is_graceful => {
                if logs {
                    tracing::warn!(
                        remote.uri = %error.uri,
                        "upstream failed, treated as not found (failure: graceful): {error}"
                    );
                }
                RemoteAnswer::NotFound
            }
            None => RemoteAnswer::Failed {
                reason: error.to_string(),
                puppet_text: error.puppet_text(),
            },
        }
    }
}

impl ClientInner {
    fn shared(&self) -> MutexGuard<'_, FetchState> {
        // Whatever a panic leaves behind here is at worst fetched again.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn interrupted(request: &RemoteRequest) -> FetchError {
    FetchError {
        uri: address::displayed(&request.uri),
        kind: FetchErrorKind::Interrupted,
    }
}

#[cfg(test)]
mod tests;
