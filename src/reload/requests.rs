//! [`ReloadRequests`]: callers that wait for a reload, grouped by environment.
//!
//! An environment has at most one entry, however many callers wait. An entry lasts until a load of its environment
//! starts: callers that come before that share the result, and later ones wait for the next load, because this one may
//! already have read the files that they changed. A caller that hangs up is forgotten, and an entry without callers is
//! removed, so that nothing is loaded for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use super::ReloadOutcome;

/// The callers that wait. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReloadRequests {
    shared: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Invariant: each entry has at least one caller.
    entries: BTreeMap<String, Entry>,
    /// The reload thread has been notified and has not looked at the entries since.
    is_announced: bool,
}

#[derive(Debug)]
struct Entry {
    since: Instant,
    callers: Callers,
}

/// The callers that get the result of one load. If it is dropped, they get none.
#[derive(Debug)]
pub(super) struct Callers(watch::Sender<Option<Arc<ReloadOutcome>>>);

impl Callers {
    /// Have all of them hung up?
    pub(super) fn are_gone(&self) -> bool {
        self.0.is_closed()
    }

    /// Sends the result.
    pub(super) fn send(self, outcome: Arc<ReloadOutcome>) {
        self.0.send_replace(Some(outcome));
    }
}

/// A caller that waits. Dropped when the caller hangs up.
#[derive(Debug)]
pub(super) struct WaitingCaller {
    requests: ReloadRequests,
    environment: String,
    outcome: watch::Receiver<Option<Arc<ReloadOutcome>>>,
}

impl ReloadRequests {
    /// Adds a caller. Calls `announce` if the reload thread has to be notified.
    pub(super) fn join(&self, environment: &str, announce: impl FnOnce()) -> WaitingCaller {
        let mut waiting = self.waiting();
        let outcome = match waiting.entries.get(environment) {
            Some(entry) => entry.callers.0.subscribe(),
            None => {
                let (sender, outcome) = watch::channel(None);
                let entry = Entry {
                    since: Instant::now(),
                    callers: Callers(sender),
                };
                waiting.entries.insert(environment.to_owned(), entry);
                if !std::mem::replace(&mut waiting.is_announced, true) {
                    announce();
                }
                outcome
            }
        };
        WaitingCaller {
            requests: self.clone(),
            environment: environment.to_owned(),
            outcome,
        }
    }

    /// The reload thread is about to look at the entries: new ones have to be announced again.
    pub(super) fn acknowledge(&self) {
        self.waiting().is_announced = false;
    }

    /// Does a caller wait for the next load of an environment?
    pub(super) fn has(&self, environment: &str) -> bool {
        self.waiting().entries.contains_key(environment)
    }

    /// The environment that a caller has been waiting for the longest, among those that `is_wanted` accepts.
    pub(super) fn oldest(&self, is_wanted: impl Fn(&str) -> bool) -> Option<(Instant, String)> {
        let waiting = self.waiting();
        let wanted = waiting.entries.iter().filter(|(name, _)| is_wanted(name));
        let oldest = wanted.min_by_key(|(_, entry)| entry.since)?;
        Some((oldest.1.since, oldest.0.clone()))
    }

    /// Takes the callers that wait for an environment, because a load of it starts now.
    pub(super) fn take(&self, environment: &str) -> Option<Callers> {
        let entry = self.waiting().entries.remove(environment)?;
        Some(entry.callers)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Every change is a single operation, so a panic leaves nothing half done.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingCaller {
    /// Waits for the result. `None` if the load was given up.
    pub(super) async fn outcome(mut self) -> Option<Arc<ReloadOutcome>> {
        let outcome = self.outcome.wait_for(Option::is_some).await;
        outcome.ok()?.clone()
    }
}

impl Drop for WaitingCaller {
    fn drop(&mut self) {
        let mut waiting = self.requests.waiting();
        let entry = waiting.entries.get(&self.environment);
        // The entry may belong to later callers.
        let is_last = entry.is_some_and(|entry| {
            let Callers(sender) = &entry.callers;
            sender.receiver_count() == 1 && self.outcome.same_channel(&sender.subscribe())
        });
        if is_last {
            waiting.entries.remove(&self.environment);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn unchanged(revision: &str) -> Arc<ReloadOutcome> {
        Arc::new(ReloadOutcome::Unchanged {
            revision: revision.to_owned(),
        })
    }

    async fn revision(caller: WaitingCaller) -> String {
        match caller.outcome().await.as_deref() {
            Some(ReloadOutcome::Unchanged { revision }) => revision.clone(),
            other => format!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn callers_share_a_load_that_starts_after_their_request() {
        let requests = ReloadRequests::default();
        let announcements = Cell::new(0);
        let join = || requests.join("a", || announcements.set(announcements.get() + 1));
        let (first, second) = (join(), join());
        let load = requests.take("a").unwrap();
        // The load may have read the files before this caller changed them.
        let during = join();
        load.send(unchanged("1"));
        assert_eq!(revision(first).await, "1");
        assert_eq!(revision(second).await, "1");
        assert!(requests.has("a"));
        requests.take("a").unwrap().send(unchanged("2"));
        assert_eq!(revision(during).await, "2");
        assert!(requests.take("a").is_none());
        // One until the reload thread has looked.
        assert_eq!(announcements.get(), 1);
        requests.acknowledge();
        drop(join());
        assert_eq!(announcements.get(), 2);
    }

    #[test]
    fn callers_that_hang_up_are_forgotten() {
        let requests = ReloadRequests::default();
        for number in 0..2000 {
            drop(requests.join(&format!("e{number}"), || {}));
        }
        assert!(requests.waiting().entries.is_empty());
        let (first, second) = (requests.join("a", || {}), requests.join("a", || {}));
        drop(first);
        assert!(requests.has("a"));
        let load = requests.take("a").unwrap();
        let later = requests.join("a", || {});
        assert!(!load.are_gone());
        // It belongs to the load that has started, not to the entry of the later caller.
        drop(second);
        assert!(load.are_gone() && requests.has("a"));
        drop(later);
        assert!(!requests.has("a"));
    }

    #[tokio::test]
    async fn a_load_that_is_given_up_has_no_result() {
        let requests = ReloadRequests::default();
        let caller = requests.join("a", || {});
        drop(requests.take("a"));
        assert!(caller.outcome().await.is_none());
    }

    #[test]
    fn the_caller_that_waits_the_longest_comes_first() {
        let requests = ReloadRequests::default();
        let _callers = ["b", "a", "b"].map(|name| requests.join(name, || {}));
        let oldest = |skipped: &str| requests.oldest(|name| name != skipped).unwrap().1;
        assert_eq!((oldest(""), oldest("b")), ("b".to_owned(), "a".to_owned()));
    }
}
