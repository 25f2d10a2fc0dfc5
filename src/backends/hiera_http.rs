//! The client behind levels with `hiera_http`: a request of a lookup → the document that a server returned.
//!
//! [`RemoteClient`] is the interface. `call`, `address` and `headers` turn the options of a level into a checked
//! [`call::Call`]; `connect` and `tls` provide pooled connections, `fetch` gets a document over one of them, and `cache`
//! stores it. Options and their meaning are those of hiera-http 3 and its library lookup_http.
//!
//! Each fetch is a task of its own: if the caller goes away, the document still reaches the cache.

mod address;
mod cache;
mod call;
mod connect;
mod error;
mod fetch;
mod headers;
mod tls;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use self::cache::{Cache, CacheState};
use self::connect::ConnectionPools;
use self::error::{FetchError, FetchErrorKind};
use self::fetch::Document;
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
    /// One permit for each concurrent fetch.
    permits: Semaphore,
    /// Never held across an await.
    shared: Mutex<FetchState>,
}

struct FetchState {
    cache: Cache,
    /// The fetches in progress. Invariant: a fetch is removed when its result enters the cache.
    in_progress: HashMap<Arc<RemoteRequest>, PendingFetch>,
}

/// Receives the result of a fetch.
type PendingFetch = watch::Receiver<Option<FetchResult>>;

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
        let permits = settings.max_requests.clamp(1, Semaphore::MAX_PERMITS);
        let shared = FetchState {
            cache: Cache::new(settings),
            in_progress: HashMap::new(),
        };
        let inner = ClientInner {
            settings: settings.clone(),
            pools: ConnectionPools::default(),
            permits: Semaphore::new(permits),
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
    /// is retried in the background.
    pub(crate) async fn answer(&self, request: &RemoteRequest) -> RemoteAnswer {
        let result = match self.result_source(request) {
            ResultSource::Cached(result) => result,
            ResultSource::Pending(mut fetch) => match fetch.wait_for(Option::is_some).await {
                Ok(result) => result.clone().unwrap_or_else(|| Err(interrupted(request))),
                Err(_) => Err(interrupted(request)),
            },
        };
        self.answer_from(request, result)
    }

    /// Checks the cache, and starts a fetch if one is needed and not in progress.
    fn result_source(&self, request: &RemoteRequest) -> ResultSource {
        let mut shared = self.inner.shared();
        match shared.cache.state(request, Instant::now()) {
            CacheState::Fresh(result) => ResultSource::Cached(result),
            CacheState::Failing(error) => {
                self.start_fetch(&mut shared, request);
                ResultSource::Cached(Err(error))
            }
            CacheState::Missing => ResultSource::Pending(self.start_fetch(&mut shared, request)),
        }
    }

    /// The fetch of a request, started unless it is in progress.
    fn start_fetch(&self, shared: &mut FetchState, request: &RemoteRequest) -> PendingFetch {
        if let Some(fetch) = shared.in_progress.get(request) {
            return fetch.clone();
        }
        let request = Arc::new(request.clone());
        let (sender, fetch) = watch::channel(None);
        shared.in_progress.insert(request.clone(), fetch.clone());
        let mut guard = FetchGuard {
            inner: self.inner.clone(),
            result: Err(interrupted(&request)),
            request,
            sender,
        };
        tokio::spawn(async move {
            guard.result = fetch::fetch(&guard.inner, &guard.request).await;
            drop(guard);
        });
        fetch
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

/// Delivers the result of a fetch when dropped, so that waiting lookups get one even if the task is cancelled.
struct FetchGuard {
    inner: Arc<ClientInner>,
    request: Arc<RemoteRequest>,
    result: FetchResult,
    sender: watch::Sender<Option<FetchResult>>,
}

impl Drop for FetchGuard {
    fn drop(&mut self) {
        let mut shared = self.inner.shared();
        shared.in_progress.remove(&self.request);
        shared
            .cache
            .record(&self.request, self.result.clone(), Instant::now());
        drop(shared);
        self.sender.send_replace(Some(self.result.clone()));
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
