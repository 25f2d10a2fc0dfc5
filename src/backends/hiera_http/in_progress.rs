//! [`FetchesInProgress`]: each fetch is a task that any number of lookups wait for.

use std::collections::HashMap;
use std::sync::Arc;

use hiera_resolver::remote::RemoteRequest;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{ClientInner, FetchResult, fetch, interrupted};

/// The fetches in progress. Invariant: a fetch is removed when its result enters the cache.
#[derive(Default)]
pub(super) struct FetchesInProgress(HashMap<Arc<RemoteRequest>, Arc<ResultSender>>);

/// Sends the result of a fetch to the lookups that wait for it.
type ResultSender = watch::Sender<Option<FetchResult>>;
/// Receives the result of a fetch.
pub(super) type PendingFetch = watch::Receiver<Option<FetchResult>>;

impl FetchesInProgress {
    /// The fetch of a request, started unless it is in progress.
    pub(super) fn start(
        &mut self,
        inner: &Arc<ClientInner>,
        request: &RemoteRequest,
        purpose: FetchPurpose,
    ) -> PendingFetch {
        if let Some(sender) = self.0.get(request) {
            return sender.subscribe();
        }
        let request = Arc::new(request.clone());
        let (sender, fetch) = watch::channel(None);
        let sender = Arc::new(sender);
        self.0.insert(request.clone(), sender.clone());
        // Counts as a caller that never goes away.
        let interest = match purpose {
            FetchPurpose::Caller => None,
            FetchPurpose::Cache => Some(fetch.clone()),
        };
        let mut guard = FetchGuard {
            inner: inner.clone(),
            result: Some(Err(interrupted(&request))),
            request,
            sender,
        };
        tokio::spawn(async move {
            guard.result = fetch::fetch(&guard.inner, &guard.request, guard.is_unwanted()).await;
            drop(guard);
            drop(interest);
        });
        fetch
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// What a fetch is started for.
#[derive(Clone, Copy)]
pub(super) enum FetchPurpose {
    /// A caller waits for the document. If it goes away before the request is sent, the fetch ends.
    Caller,
    /// The document is wanted in the cache.
    Cache,
}

/// Delivers the result of a fetch when dropped, so that waiting lookups get one even if the task is cancelled.
struct FetchGuard {
    inner: Arc<ClientInner>,
    request: Arc<RemoteRequest>,
    /// `None` if the fetch ended because nobody waited for it.
    result: Option<FetchResult>,
    sender: Arc<ResultSender>,
}

impl FetchGuard {
    /// Waits until nobody waits for the fetch. From then on, the same request starts another one.
    async fn is_unwanted(&self) {
        loop {
            self.sender.closed().await;
            let mut shared = self.inner.shared();
            // A caller may have joined in between; no one can while the lock is held.
            if self.sender.is_closed() {
                shared.in_progress.0.remove(&self.request);
                return;
            }
        }
    }
}

impl Drop for FetchGuard {
    fn drop(&mut self) {
        let Some(result) = self.result.take() else {
            return;
        };
        let mut shared = self.inner.shared();
        shared.in_progress.0.remove(&self.request);
        shared
            .cache
            .record(&self.request, result.clone(), Instant::now());
        drop(shared);
        self.sender.send_replace(Some(result));
    }
}
