//! Data from other servers: what a lookup asks for → the document that a server answered with.
//!
//! [`Remotes`] is all that others see. `call` and `address` make a checked call of a level's options, `connect`
//! keeps the connections, `fetch` gets a document over one of them, `cache` keeps it for a while. The options
//! and what they mean are those of hiera-http 3 and its library lookup_http.
//!
//! A fetch is a task of its own: whoever waits for it may go away, and it still ends in the cache.

mod address;
mod cache;
mod call;
mod connect;
mod error;
mod fetch;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use self::cache::{Cache, State};
use self::connect::Clients;
use self::error::{Fault, FetchError};
use self::fetch::Document;
use crate::config::RemoteSettings;

/// Fetches documents for lookups, and keeps them for a while. Clones share the cache.
#[derive(Clone)]
pub(crate) struct Remotes {
    inner: Arc<Inner>,
}

/// What a fetch came to.
type Fetched = Result<Document, FetchError>;

struct Inner {
    settings: RemoteSettings,
    clients: Clients,
    /// One permit for each fetch.
    slots: Semaphore,
    /// Never locked for longer than it takes to look.
    shared: Mutex<Shared>,
}

struct Shared {
    cache: Cache,
    /// The fetches under way. Invariant: each is taken out when its outcome enters the cache.
    flights: HashMap<Arc<RemoteRequest>, Flight>,
}

/// Where the outcome of a fetch will be seen.
type Flight = watch::Receiver<Option<Fetched>>;

/// What is to be done for an answer.
enum Look {
    Have(Fetched),
    Wait(Flight),
}

impl fmt::Debug for Remotes {
    // By hand, since requests hold passwords.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Remotes")
            .field("settings", &self.inner.settings)
            .field("entries", &self.inner.shared().cache.len())
            .finish_non_exhaustive()
    }
}

impl Remotes {
    /// Nothing fetched yet.
    pub(crate) fn new(settings: &RemoteSettings) -> Self {
        let slots = settings.max_requests.clamp(1, Semaphore::MAX_PERMITS);
        let shared = Shared {
            cache: Cache::new(settings),
            flights: HashMap::new(),
        };
        let inner = Inner {
            settings: settings.clone(),
            clients: Clients::default(),
            slots: Semaphore::new(slots),
            shared: Mutex::new(shared),
        };
        Remotes {
            inner: Arc::new(inner),
        }
    }

    /// The answer, from the cache while it is fresh, else fetched. Never holds a thread while it waits; equal
    /// requests that come at the same time are fetched once.
    ///
    /// A server that failed last time is asked again while an older answer, if there is one, serves at once.
    pub(crate) async fn answer(&self, request: &RemoteRequest) -> RemoteAnswer {
        let fetched = match self.look(request) {
            Look::Have(fetched) => fetched,
            Look::Wait(mut flight) => match flight.wait_for(Option::is_some).await {
                Ok(fetched) => fetched.clone().unwrap_or_else(|| Err(cut_off(request))),
                Err(_) => Err(cut_off(request)),
            },
        };
        self.settle(request, fetched)
    }

    /// Looks into the cache, and starts a fetch where one is needed and not under way.
    fn look(&self, request: &RemoteRequest) -> Look {
        let mut shared = self.inner.shared();
        match shared.cache.state(request, Instant::now()) {
            State::Known(fetched) => Look::Have(fetched),
            State::Failing(error) => {
                self.flight(&mut shared, request);
                Look::Have(Err(error))
            }
            State::Unknown => Look::Wait(self.flight(&mut shared, request)),
        }
    }

    /// The fetch of a request, started unless it is under way.
    fn flight(&self, shared: &mut Shared, request: &RemoteRequest) -> Flight {
        if let Some(flight) = shared.flights.get(request) {
            return flight.clone();
        }
        let request = Arc::new(request.clone());
        let (outcome, flight) = watch::channel(None);
        shared.flights.insert(request.clone(), flight.clone());
        let mut landing = Landing {
            inner: self.inner.clone(),
            fetched: Err(cut_off(&request)),
            request,
            outcome,
        };
        tokio::spawn(async move {
            landing.fetched = fetch::fetch(&landing.inner, &landing.request).await;
            drop(landing);
        });
        flight
    }

    /// What a lookup is told: of a failure, what is left of better times, and nothing if the level wants that.
    fn settle(&self, request: &RemoteRequest, fetched: Fetched) -> RemoteAnswer {
        let error = match fetched {
            Ok(document) => return document.into_answer(),
            Err(error) => error,
        };
        let is_graceful = error.fault.is_graceful()
            && request.option("failure").and_then(|value| value.as_str()) == Some("graceful");
        let now = Instant::now();
        let (stale, warns) = {
            let cache = &mut self.inner.shared().cache;
            let stale = cache.stale(request, now);
            let warns = (stale.is_some() || is_graceful) && cache.warns(request, now);
            (stale, warns)
        };
        match stale {
            Some((document, age)) => {
                if warns {
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
                if warns {
                    tracing::warn!(remote.uri = %error.uri, "a failure counts as not found: {error}");
                }
                RemoteAnswer::NotFound
            }
            None => RemoteAnswer::Failed {
                reason: error.to_string(),
                told: error.told(),
            },
        }
    }
}

impl Inner {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        // What a panic could leave half done here is at worst fetched again.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings the outcome of a fetch to where it is waited for, even if the task ends before its time.
struct Landing {
    inner: Arc<Inner>,
    request: Arc<RemoteRequest>,
    fetched: Fetched,
    outcome: watch::Sender<Option<Fetched>>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut shared = self.inner.shared();
        shared.flights.remove(&self.request);
        shared
            .cache
            .record(&self.request, self.fetched.clone(), Instant::now());
        drop(shared);
        self.outcome.send_replace(Some(self.fetched.clone()));
    }
}

fn cut_off(request: &RemoteRequest) -> FetchError {
    FetchError {
        uri: address::shown(&request.uri),
        fault: Fault::CutOff,
    }
}

#[cfg(test)]
mod tests;
