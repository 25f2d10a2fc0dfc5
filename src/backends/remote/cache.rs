//! What servers answered, for as long as it may serve.
//!
//! Two bounds hold: a number of answers, and the bytes of their documents. Whatever is over goes, the oldest
//! first. Time is handed in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use hiera_resolver::remote::RemoteRequest;
use tokio::time::Instant;

use super::Fetched;
use super::error::FetchError;
use super::fetch::Document;
use crate::config::RemoteSettings;

/// How long a failure is remembered, so that a server in trouble is not asked for each lookup.
const FAILURE_TTL: Duration = Duration::from_secs(1);
/// How long nothing more is logged of a request.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// The answers, by request.
pub(super) struct Cache {
    ttl: Duration,
    stale_ttl: Duration,
    max_entries: usize,
    max_total_size: usize,
    entries: HashMap<Arc<RemoteRequest>, Entry>,
    /// Invariant: the requests of `entries`, each under its `order`; the oldest first.
    by_age: BTreeMap<u64, Arc<RemoteRequest>>,
    next_order: u64,
    /// Invariant: the sum of the sizes in `entries`.
    total_size: usize,
}

struct Entry {
    order: u64,
    kept: Option<Kept>,
    /// Of the last fetch. Invariant: there is this or `kept`, or both.
    failure: Option<(FetchError, Instant)>,
    warned_at: Option<Instant>,
}

struct Kept {
    document: Document,
    since: Instant,
}

/// What is known of a request.
pub(super) enum State {
    /// This came of it a short time ago.
    Known(Fetched),
    /// This was its last failure. An older answer is there; it is time to ask again, without waiting for it.
    Failing(FetchError),
    /// It has to be fetched.
    Unknown,
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

    /// The number of answers.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What is known of a request.
    pub(super) fn state(&self, request: &RemoteRequest, now: Instant) -> State {
        let Some(entry) = self.entries.get(request) else {
            return State::Unknown;
        };
        match (&entry.failure, &entry.kept) {
            (None, Some(kept)) if now.duration_since(kept.since) < self.ttl => {
                State::Known(Ok(kept.document.clone()))
            }
            (Some((error, at)), _) if now.duration_since(*at) < FAILURE_TTL => {
                State::Known(Err(error.clone()))
            }
            (Some((error, _)), Some(kept)) if self.may_serve(kept, now) => {
                State::Failing(error.clone())
            }
            _ => State::Unknown,
        }
    }

    /// The last good answer to a request whose server fails, and how old it is.
    pub(super) fn stale(
        &self,
        request: &RemoteRequest,
        now: Instant,
    ) -> Option<(Document, Duration)> {
        let kept = self.entries.get(request)?.kept.as_ref()?;
        self.may_serve(kept, now)
            .then(|| (kept.document.clone(), now.duration_since(kept.since)))
    }

    /// Is it time to log something of a request again? From then on it is not.
    pub(super) fn warns(&mut self, request: &RemoteRequest, now: Instant) -> bool {
        let Some(entry) = self.entries.get_mut(request) else {
            return true;
        };
        let is_due = entry
            .warned_at
            .is_none_or(|at| now.duration_since(at) >= WARN_INTERVAL);
        if is_due {
            entry.warned_at = Some(now);
        }
        is_due
    }

    /// Keeps what a fetch came to. A failure leaves an older answer there, unless the server has taken it back.
    pub(super) fn record(&mut self, request: &Arc<RemoteRequest>, fetched: Fetched, now: Instant) {
        let mut before = self.take(request);
        let warned_at = before.as_ref().and_then(|entry| entry.warned_at);
        let entry = match fetched {
            Ok(document) => Entry {
                order: self.next_order,
                kept: Some(Kept {
                    document,
                    since: now,
                }),
                failure: None,
                warned_at,
            },
            Err(error) => {
                let kept = before
                    .as_mut()
                    .and_then(|entry| entry.kept.take())
                    .filter(|kept| error.fault.may_pass() && self.may_serve(kept, now));
                let order = before
                    .filter(|_| kept.is_some())
                    .map_or(self.next_order, |entry| entry.order);
                Entry {
                    order,
                    kept,
                    failure: Some((error, now)),
                    warned_at,
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

    fn may_serve(&self, kept: &Kept, now: Instant) -> bool {
        now.duration_since(kept.since) < self.stale_ttl
    }

    fn take(&mut self, request: &RemoteRequest) -> Option<Entry> {
        let entry = self.entries.remove(request)?;
        self.by_age.remove(&entry.order);
        self.total_size -= entry.size();
        Some(entry)
    }
}

impl Entry {
    fn size(&self) -> usize {
        self.kept.as_ref().map_or(0, |kept| kept.document.size)
    }
}

#[cfg(test)]
mod tests {
    use hiera_resolver::Value;

    use super::*;
    use crate::backends::remote::error::Fault;

    fn request(number: usize) -> Arc<RemoteRequest> {
        Arc::new(RemoteRequest {
            uri: format!("http://host/{number}"),
            options: Value::Null,
        })
    }

    fn found(size: usize) -> Fetched {
        Ok(Document {
            value: Some(Value::Int(1)),
            size,
        })
    }

    fn failed(status: u16) -> Fetched {
        Err(FetchError {
            uri: "http://host/".to_owned(),
            fault: Fault::Status { status },
        })
    }

    fn cache() -> Cache {
        Cache::new(&RemoteSettings {
            cache_entries: 3,
            ..RemoteSettings::default()
        })
    }

    fn is_consistent(cache: &Cache) -> bool {
        let sizes: usize = cache.entries.values().map(Entry::size).sum();
        let ages = cache
            .by_age
            .iter()
            .all(|(order, request)| cache.entries[request].order == *order);
        sizes == cache.total_size && ages && cache.by_age.len() == cache.entries.len()
    }

    #[test]
    fn the_oldest_answer_goes_first() {
        let (mut cache, now) = (cache(), Instant::now());
        for number in [0, 1, 2, 0, 3] {
            cache.record(&request(number), found(10), now);
            assert!(is_consistent(&cache));
        }
        let known = |number| matches!(cache.state(&request(number), now), State::Known(Ok(_)));
        assert_eq!(
            [known(0), known(1), known(2), known(3)],
            [true, false, true, true]
        );
    }

    #[test]
    fn the_bytes_of_all_documents_are_bounded() {
        let (mut cache, now) = (cache(), Instant::now());
        cache.max_total_size = 100;
        for number in 0..3 {
            cache.record(&request(number), found(60), now);
            assert_eq!((cache.len(), cache.total_size), (1, 60));
        }
        cache.record(&request(9), found(101), now);
        assert_eq!((cache.len(), cache.total_size), (0, 0));
        assert!(is_consistent(&cache));
    }

    #[test]
    fn an_answer_is_known_then_unknown_and_serves_while_its_server_fails() {
        let (mut cache, start) = (cache(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        cache.record(&request(0), found(1), start);
        assert!(matches!(
            cache.state(&request(0), at(29)),
            State::Known(Ok(_))
        ));
        assert!(matches!(cache.state(&request(0), at(30)), State::Unknown));
        cache.record(&request(0), failed(500), at(40));
        assert!(matches!(
            cache.state(&request(0), at(40)),
            State::Known(Err(_))
        ));
        assert!(matches!(
            cache.state(&request(0), at(41)),
            State::Failing(_)
        ));
        assert_eq!(
            cache.stale(&request(0), at(41)).unwrap().1,
            Duration::from_secs(41)
        );
        assert!(matches!(cache.state(&request(0), at(3630)), State::Unknown));
        assert!(cache.stale(&request(0), at(3630)).is_none());
        assert!(is_consistent(&cache));
    }

    #[test]
    fn an_answer_that_its_server_took_back_does_not_serve() {
        let (mut cache, start) = (cache(), Instant::now());
        cache.record(&request(0), found(1), start);
        cache.record(&request(0), failed(404), start);
        assert!(cache.stale(&request(0), start).is_none());
        assert_eq!((cache.len(), cache.total_size), (1, 0));
    }

    #[test]
    fn a_request_is_logged_once_a_minute() {
        let (mut cache, start) = (cache(), Instant::now());
        cache.record(&request(0), failed(500), start);
        let due = [0, 1, 59, 60, 61].map(|seconds| {
            let now = start + Duration::from_secs(seconds);
            cache.record(&request(0), failed(500), now);
            cache.warns(&request(0), now)
        });
        assert_eq!(due, [true, false, false, true, false]);
    }
}
