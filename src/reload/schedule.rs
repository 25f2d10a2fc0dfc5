//! [`Schedule`]: which environments to check, and when. Each has its own changes and its own quiet time, so that one that
//! keeps changing does not delay the others. Reloads that callers wait for alternate with changes, so that neither delays
//! the other by more than one load.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::requests::{Callers, ReloadRequests};
use crate::data_loading::LoadedEnvironment;

/// An environment that keeps changing is checked after this many quiet times.
const MAX_QUIET_TIMES: u32 = 40;

/// What to check, and when.
#[derive(Debug)]
pub(super) struct Schedule {
    environments: BTreeMap<String, PendingReload>,
    /// When to list and check all environments, if that is scheduled.
    everything: Option<Timing>,
    /// How long there must be no event before an environment is due.
    quiet: Duration,
    /// The callers that wait for a reload.
    requests: ReloadRequests,
    /// A caller waited for what was taken last.
    was_requested: bool,
}

/// A reload of one environment that is scheduled.
#[derive(Debug)]
pub(super) struct PendingReload {
    /// Everything must be checked, not only `paths`, whether or not a caller waits.
    pub(super) is_full: bool,
    /// The paths that have changed.
    pub(super) paths: BTreeSet<PathBuf>,
    /// A caller waits for it, or waited when it was last due.
    is_requested: bool,
    /// The callers for which a load was started. There are several if the load had to be repeated.
    callers: Vec<Callers>,
    /// Loads so far that could not be used because files changed meanwhile.
    pub(super) attempts: usize,
    /// The last of these loads, from which the next one reuses files.
    pub(super) candidate: Option<Arc<LoadedEnvironment>>,
    timing: Timing,
}

#[derive(Clone, Copy, Debug)]
struct Timing {
    /// When it was scheduled first.
    since: Instant,
    /// When the first event of the current wait came; `None` if there was none.
    first_event: Option<Instant>,
    due: Instant,
}

/// What is due.
#[derive(Debug)]
pub(super) enum Due {
    Everything,
    Environment(String, PendingReload),
}

impl Timing {
    fn at(due: Instant) -> Self {
        Timing {
            since: Instant::now(),
            first_event: None,
            due,
        }
    }

    fn add_event(&mut self, now: Instant, quiet: Duration) {
        let first = *self.first_event.get_or_insert(now);
        self.due = (now + quiet).min(first + quiet * MAX_QUIET_TIMES);
    }
}

impl PendingReload {
    fn at(due: Instant) -> Self {
        PendingReload {
            is_full: false,
            paths: BTreeSet::new(),
            is_requested: false,
            callers: Vec::new(),
            attempts: 0,
            candidate: None,
            timing: Timing::at(due),
        }
    }

    /// How long it has been scheduled.
    pub(super) fn age(&self) -> Duration {
        self.timing.since.elapsed()
    }

    /// Can it be done by loading `paths` alone?
    pub(super) fn is_partial(&self) -> bool {
        !self.is_full && !self.is_requested
    }

    /// A load starts: the callers that wait for one get its outcome.
    pub(super) fn start(&mut self, callers: Option<Callers>) {
        self.callers.extend(callers);
    }

    /// Has a load been started for callers?
    pub(super) fn has_callers(&self) -> bool {
        !self.callers.is_empty()
    }

    /// The callers that get the outcome.
    pub(super) fn into_callers(self) -> Vec<Callers> {
        self.callers
    }

    fn merge(&mut self, later: PendingReload) {
        self.is_full |= later.is_full;
        self.paths.extend(later.paths);
    }
}

impl Schedule {
    pub(super) fn new(quiet: Duration, requests: ReloadRequests) -> Self {
        Schedule {
            environments: BTreeMap::new(),
            everything: None,
            quiet,
            requests,
            was_requested: false,
        }
    }

    /// A path of an environment has changed.
    pub(super) fn add_event(&mut self, environment: &str, path: &Path) {
        self.add_event_at(Instant::now(), environment, path);
    }

    fn add_event_at(&mut self, now: Instant, environment: &str, path: &Path) {
        let quiet = self.quiet;
        let pending = self.pending(environment, now + quiet);
        pending.paths.insert(path.to_owned());
        if !pending.is_requested {
            pending.timing.add_event(now, quiet);
        }
    }

    /// Something has changed, and it is unknown where.
    pub(super) fn add_event_anywhere(&mut self) {
        let now = Instant::now();
        let timing = self.everything.get_or_insert(Timing::at(now + self.quiet));
        timing.add_event(now, self.quiet);
    }

    /// Schedules a full check of an environment, now or when it is due anyway.
    pub(super) fn add_full(&mut self, environment: &str) {
        self.pending(environment, Instant::now()).is_full = true;
    }

    /// Schedules a full check of an environment after a delay, unless it is due before.
    pub(super) fn add_full_in(&mut self, environment: &str, delay: Duration) {
        self.pending(environment, Instant::now() + delay).is_full = true;
    }

    /// Schedules a check of everything after a delay, unless it is due before.
    pub(super) fn add_everything_in(&mut self, delay: Duration) {
        let due = Instant::now() + delay;
        self.everything.get_or_insert(Timing::at(due));
    }

    /// Postpones a reload that was due too early. Changes that came meanwhile are added to it.
    pub(super) fn postpone(
        &mut self,
        environment: String,
        mut pending: PendingReload,
        delay: Duration,
    ) {
        if let Some(later) = self.environments.remove(&environment) {
            pending.merge(later);
        }
        pending.timing.due = Instant::now() + delay;
        self.environments.insert(environment, pending);
    }

    /// Postpones a reload whose load could not be used because files changed. The wait for a quiet time starts again.
    pub(super) fn retry(
        &mut self,
        environment: String,
        mut pending: PendingReload,
        delay: Duration,
    ) {
        pending.attempts += 1;
        pending.timing.first_event = None;
        self.postpone(environment, pending, delay);
    }

    /// Has an environment changed? Callers do not count: they get a load of their own.
    pub(super) fn has(&self, environment: &str) -> bool {
        self.environments.contains_key(environment)
    }

    /// When something is due next, other than callers, who notify the reload thread.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let environments = self.environments.values().map(|pending| pending.timing.due);
        let everything = self.everything.map(|timing| timing.due);
        environments.chain(everything).min()
    }

    /// Is something due that no caller waits for?
    pub(super) fn has_due_change(&self) -> bool {
        let now = Instant::now();
        self.everything.is_some_and(|timing| timing.due <= now)
            || self.next_pending(now, false).is_some()
    }

    /// Takes what is due now. Callers come first, but not twice in a row if there is a change.
    pub(super) fn take_due(&mut self) -> Option<Due> {
        self.take_due_at(Instant::now())
    }

    fn take_due_at(&mut self, now: Instant) -> Option<Due> {
        if self.everything.is_some_and(|timing| timing.due <= now) {
            self.everything = None;
            return Some(Due::Everything);
        }
        self.forget_callers_that_are_gone();
        let requested = self.next_requested(now);
        let changed = self.next_pending(now, false);
        self.was_requested = requested.is_some() && !(self.was_requested && changed.is_some());
        let (_, name) = match self.was_requested {
            true => requested?,
            false => changed?,
        };
        let pending = self.environments.remove(&name);
        let mut pending = pending.unwrap_or_else(|| PendingReload::at(now));
        pending.is_requested |= self.requests.has(&name);
        Some(Due::Environment(name, pending))
    }

    /// The environment that callers have waited for the longest. One that was postponed waits until it is due, whoever
    /// joins meanwhile.
    fn next_requested(&self, now: Instant) -> Option<(Instant, String)> {
        let is_postponed = |name: &str| {
            let pending = self.environments.get(name);
            pending.is_some_and(|pending| pending.is_requested)
        };
        let new = self.requests.oldest(|name| !is_postponed(name));
        let postponed = self.next_pending(now, true);
        new.into_iter().chain(postponed).min()
    }

    /// The environment that has been due the longest, among those that callers wait for or among the others.
    fn next_pending(&self, now: Instant, is_requested: bool) -> Option<(Instant, String)> {
        let all = self.environments.iter();
        let due = all.filter(|(_, pending)| pending.timing.due <= now);
        let due = due.filter(|(_, pending)| pending.is_requested == is_requested);
        let (name, pending) = due.min_by_key(|(_, pending)| pending.timing.due)?;
        Some((pending.timing.due, name.clone()))
    }

    /// Removes what only callers waited for that have hung up since it was postponed.
    fn forget_callers_that_are_gone(&mut self) {
        let requests = &self.requests;
        self.environments.retain(|name, pending| {
            let callers = &pending.callers;
            if pending.is_requested && !requests.has(name) && callers.iter().all(Callers::are_gone)
            {
                pending.is_requested = false;
                pending.callers.clear();
                return pending.is_full || !pending.paths.is_empty();
            }
            true
        });
    }

    fn pending(&mut self, environment: &str, due: Instant) -> &mut PendingReload {
        let entry = self.environments.entry(environment.to_owned());
        entry.or_insert_with(|| PendingReload::at(due))
    }
}

#[cfg(test)]
mod tests;
