//! [`Upstreams`]: the other servers, each with its own limit of concurrent requests and its own circuit breaker, so that
//! one that is slow or down does not delay requests to the others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::{Instant, timeout};

use super::breaker::{Admitted, CircuitBreaker, Transition};
use super::circuit_event::{CircuitEvent, CircuitFailure};
use super::error::{FetchErrorKind, ServerHealth};
use crate::config::RemoteSettings;

/// The servers to remember. Addresses with facts in them have no limit of their own.
const MAX_UPSTREAMS: usize = 256;
/// How many events a slow subscriber may fall behind before it misses some.
const EVENT_BUFFER: usize = 256;

/// All servers.
#[derive(Debug)]
pub(super) struct Upstreams {
    settings: RemoteSettings,
    /// One permit for each concurrent request to any server.
    permits: Arc<Semaphore>,
    by_address: Mutex<HashMap<String, Arc<Upstream>>>,
    pub(super) events: broadcast::Sender<CircuitEvent>,
    counts: Counts,
}

/// One server: scheme, host and port.
#[derive(Debug)]
struct Upstream {
    address: String,
    /// One permit for each concurrent request to it.
    permits: Arc<Semaphore>,
    breaker: Mutex<CircuitBreaker>,
}

/// The fields of [`RemoteStats`], while they are counted.
#[derive(Debug, Default)]
struct Counts {
    answered: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    opened: AtomicU64,
}

/// Numbers for metrics.
#[derive(Debug)]
pub(crate) struct RemoteStats {
    /// Requests that a server answered, whatever the answer.
    pub(crate) answered: u64,
    /// Requests that failed.
    pub(crate) failed: u64,
    /// Requests that were not sent, because of a limit or of a circuit breaker.
    pub(crate) refused: u64,
    /// How often a circuit breaker has opened.
    pub(crate) opened: u64,
    /// Every server that is remembered, and whether its circuit breaker is open.
    pub(crate) circuits: Vec<(String, bool)>,
}

impl Upstreams {
    pub(super) fn new(settings: &RemoteSettings) -> Self {
        Upstreams {
            permits: semaphore(settings.max_requests),
            settings: settings.clone(),
            by_address: Mutex::default(),
            events: broadcast::Sender::new(EVENT_BUFFER),
            counts: Counts::default(),
        }
    }

    /// Waits until a request to a server may be sent, but not longer than `patience`. Fails at once if its circuit
    /// breaker is open.
    pub(super) async fn enter(
        &self,
        address: String,
        patience: Duration,
    ) -> Result<Passage<'_>, FetchErrorKind> {
        let passage = self.try_enter(address, patience).await;
        if passage.is_err() {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
        }
        passage
    }

    async fn try_enter(
        &self,
        address: String,
        patience: Duration,
    ) -> Result<Passage<'_>, FetchErrorKind> {
        let upstream = self.upstream(address);
        let refused = upstream.breaker().refusal(Instant::now());
        if let Some(refusal) = refused {
            return Err(refusal.into());
        }
        // In this order: a request that waits for its server must not use up the permits of other servers.
        let start = Instant::now();
        let of_server = acquire(
            &upstream.permits,
            patience,
            "remote.max_requests_per_server",
        )
        .await?;
        let patience = patience.saturating_sub(start.elapsed());
        let of_all = acquire(&self.permits, patience, "remote.max_requests").await?;
        // It may have opened meanwhile.
        let admitted = upstream.breaker().admit(Instant::now())?;
        Ok(Passage {
            upstreams: self,
            upstream,
            admitted,
            is_over: false,
            _permits: [of_server, of_all],
        })
    }

    /// Numbers for metrics.
    pub(super) fn stats(&self) -> RemoteStats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let all = self.all();
        let circuits = all
            .values()
            .map(|upstream| (upstream.address.clone(), upstream.breaker().is_open()));
        RemoteStats {
            answered: count(&self.counts.answered),
            failed: count(&self.counts.failed),
            refused: count(&self.counts.refused),
            opened: count(&self.counts.opened),
            circuits: circuits.collect(),
        }
    }

    /// The servers whose circuit breaker is open.
    pub(super) fn open_circuits(&self) -> Vec<CircuitEvent> {
        let all = self.all();
        let open = all.values().filter_map(|upstream| {
            let open = upstream.breaker().open_circuit()?;
            Some(upstream.event(Some(open.into())))
        });
        open.collect()
    }

    fn upstream(&self, address: String) -> Arc<Upstream> {
        let mut all = self.all();
        if let Some(upstream) = all.get(&address) {
            return upstream.clone();
        }
        if all.len() >= MAX_UPSTREAMS {
            let is_used = |upstream: &Arc<Upstream>| Arc::strong_count(upstream) > 1;
            all.retain(|_, upstream| is_used(upstream) || !upstream.breaker().is_untouched());
            if all.len() >= MAX_UPSTREAMS {
                all.retain(|_, upstream| is_used(upstream));
            }
        }
        let upstream = Arc::new(Upstream {
            address: address.clone(),
            permits: semaphore(self.settings.max_requests_per_server),
            breaker: Mutex::new(CircuitBreaker::new(&self.settings)),
        });
        all.insert(address, upstream.clone());
        upstream
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Upstream>>> {
        self.by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upstream {
    fn breaker(&self) -> MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, open: Option<CircuitFailure>) -> CircuitEvent {
        CircuitEvent {
            server: self.address.clone(),
            open,
        }
    }
}

/// A request that is being sent. It holds its permits until it is dropped.
#[derive(Debug)]
pub(super) struct Passage<'a> {
    upstreams: &'a Upstreams,
    upstream: Arc<Upstream>,
    admitted: Admitted,
    is_over: bool,
    _permits: [OwnedSemaphorePermit; 2],
}

impl Passage<'_> {
    /// Ends with the result of the request.
    pub(super) fn end<T>(mut self, result: &Result<T, FetchErrorKind>) {
        let (counts, now) = (&self.upstreams.counts, Instant::now());
        let health = match result {
            Ok(_) => ServerHealth::Answers,
            Err(error) => error.server_health(),
        };
        let counter = match health {
            ServerHealth::Answers => &counts.answered,
            ServerHealth::Fails | ServerHealth::Unknown => &counts.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let transition = match (health, result) {
            (ServerHealth::Answers, _) => self.upstream.breaker().succeed(),
            (ServerHealth::Fails, Err(error)) => {
                self.upstream.breaker().fail(self.admitted, error, now)
            }
            // Dropping it does the rest.
            (ServerHealth::Unknown | ServerHealth::Fails, _) => return,
        };
        self.is_over = true;
        if let Some(transition) = transition {
            self.report(transition);
        }
    }

    fn report(&self, transition: Transition) {
        let open = match transition {
            Transition::Closed => None,
            Transition::Opened(open) => {
                self.upstreams.counts.opened.fetch_add(1, Ordering::Relaxed);
                Some(open.into())
            }
        };
        let event = self.upstream.event(open);
        event.log();
        // Fails if there are no subscribers.
        _ = self.upstreams.events.send(event);
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let now = Instant::now();
            self.upstream.breaker().abandon(self.admitted, now);
        }
    }
}

fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)))
}

async fn acquire(
    permits: &Arc<Semaphore>,
    patience: Duration,
    setting: &'static str,
) -> Result<OwnedSemaphorePermit, FetchErrorKind> {
    timeout(patience, permits.clone().acquire_owned())
        .await
        .map_err(|_| FetchErrorKind::Busy { setting })?
        .map_err(|_| FetchErrorKind::Interrupted)
}
