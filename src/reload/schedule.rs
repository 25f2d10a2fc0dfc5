//! [`Schedule`]: which environments to check, and when. Each has its own changes and its own quiet time, so that one that
//! keeps changing does not delay the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::ReloadOutcome;
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
}

/// A reload of one environment that is scheduled.
#[derive(Debug)]
pub(super) struct PendingReload {
    /// Everything must be checked, not only `paths`.
    pub(super) is_full: bool,
    /// The paths that have changed.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Where to send the outcome.
    pub(super) replies: Vec<oneshot::Sender<ReloadOutcome>>,
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
            replies: Vec::new(),
            attempts: 0,
            candidate: None,
            timing: Timing::at(due),
        }
    }

    /// How long it has been scheduled.
    pub(super) fn age(&self) -> Duration {
        self.timing.since.elapsed()
    }

    fn merge(&mut self, later: PendingReload) {
        self.is_full |= later.is_full;
        self.paths.extend(later.paths);
        self.replies.extend(later.replies);
    }
}

impl Schedule {
    pub(super) fn new(quiet: Duration) -> Self {
        Schedule {
            environments: BTreeMap::new(),
            everything: None,
            quiet,
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
        if pending.replies.is_empty() {
            pending.timing.add_event(now, quiet);
        }
    }

    /// Something has changed, and it is unknown where.
    pub(super) fn add_event_anywhere(&mut self) {
        let now = Instant::now();
        let timing = self.everything.get_or_insert(Timing::at(now + self.quiet));
        timing.add_event(now, self.quiet);
    }

    /// A caller wants an environment reloaded now.
    pub(super) fn add_request(&mut self, environment: &str, reply: oneshot::Sender<ReloadOutcome>) {
        let now = Instant::now();
        let pending = self.pending(environment, now);
        pending.is_full = true;
        pending.replies.push(reply);
        pending.timing.due = now;
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

    /// Is an environment scheduled?
    pub(super) fn has(&self, environment: &str) -> bool {
        self.environments.contains_key(environment)
    }

    /// When something is due next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let environments = self.environments.values().map(|pending| pending.timing.due);
        let everything = self.everything.map(|timing| timing.due);
        environments.chain(everything).min()
    }

    /// Takes what is due now. Environments that a caller waits for come first.
    pub(super) fn take_due(&mut self) -> Option<Due> {
        self.take_due_at(Instant::now())
    }

    fn take_due_at(&mut self, now: Instant) -> Option<Due> {
        if self.everything.is_some_and(|timing| timing.due <= now) {
            self.everything = None;
            return Some(Due::Everything);
        }
        let due = self.environments.iter();
        let due = due.filter(|(_, pending)| pending.timing.due <= now);
        let next = due.min_by_key(|(_, pending)| (pending.replies.is_empty(), pending.timing.due));
        let name = next?.0.clone();
        let pending = self.environments.remove(&name)?;
        Some(Due::Environment(name, pending))
    }

    fn pending(&mut self, environment: &str, due: Instant) -> &mut PendingReload {
        let entry = self.environments.entry(environment.to_owned());
        entry.or_insert_with(|| PendingReload::at(due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(40);

    fn next_environment_at(schedule: &mut Schedule, now: Instant) -> Option<String> {
        match schedule.take_due_at(now)? {
            Due::Environment(name, _) => Some(name),
            Due::Everything => None,
        }
    }

    fn next_environment(schedule: &mut Schedule) -> Option<String> {
        next_environment_at(schedule, Instant::now())
    }

    #[test]
    fn an_environment_that_keeps_changing_does_not_delay_others() {
        let mut schedule = Schedule::new(QUIET);
        let start = Instant::now();
        schedule.add_event_at(start, "quiet", Path::new("/a"));
        let step = QUIET / 4;
        let mut due = Vec::new();
        for steps in 0..=4 * MAX_QUIET_TIMES {
            let now = start + step * steps;
            let next = next_environment_at(&mut schedule, now);
            due.extend(next.map(|name| (name, steps)));
            schedule.add_event_at(now, "noisy", Path::new("/b"));
        }
        let expected = [("quiet", 4), ("noisy", 4 * MAX_QUIET_TIMES)];
        assert_eq!(due, expected.map(|(name, steps)| (name.to_owned(), steps)));
    }

    #[test]
    fn an_environment_that_a_caller_waits_for_comes_first() {
        let mut schedule = Schedule::new(Duration::ZERO);
        schedule.add_full("a");
        let (reply, _answer) = oneshot::channel();
        schedule.add_request("b", reply);
        assert_eq!(next_environment(&mut schedule).as_deref(), Some("b"));
        assert_eq!(next_environment(&mut schedule).as_deref(), Some("a"));
        assert!(schedule.next_due().is_none());
    }

    #[test]
    fn an_event_is_not_delayed_by_a_later_retry() {
        let mut schedule = Schedule::new(Duration::ZERO);
        schedule.add_full_in("a", Duration::from_secs(3600));
        assert!(schedule.take_due().is_none());
        schedule.add_event("a", Path::new("/a"));
        let Some(Due::Environment(_, pending)) = schedule.take_due() else {
            panic!("nothing is due");
        };
        assert!(pending.is_full);
    }
}
