//! [`Agenda`]: what has to be looked at, and when. Each environment has changes and a quiet time of its own, so that
//! one that keeps moving holds up no other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::ReloadOutcome;
use crate::data_loading::LoadedEnvironment;

/// Quiet times after which something that does not become quiet is looked at all the same.
const MAX_QUIET_TIMES: u32 = 40;

/// What has to be looked at.
#[derive(Debug)]
pub(super) struct Agenda {
    environments: BTreeMap<String, Change>,
    /// Which environments there are, and all of them.
    everything: Option<Timing>,
    /// How long nothing must have come before things count as quiet.
    quiet: Duration,
}

/// What has to be looked at in one environment.
#[derive(Debug)]
pub(super) struct Change {
    /// Not only the paths below.
    pub(super) is_whole: bool,
    /// Where something moved.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Who wants to know what comes of it.
    pub(super) asked: Vec<oneshot::Sender<ReloadOutcome>>,
    /// Loads so far that could not be used, because something moved meanwhile.
    pub(super) attempts: usize,
    /// What the last of them gave: a start for the next.
    pub(super) candidate: Option<Arc<LoadedEnvironment>>,
    timing: Timing,
}

#[derive(Clone, Copy, Debug)]
struct Timing {
    /// When it was first put on the agenda.
    since: Instant,
    /// When the first event came that is waited for to be the last; `None` where no event came.
    first_event: Option<Instant>,
    due: Instant,
}

/// The next thing to do.
#[derive(Debug)]
pub(super) enum Due {
    Everything,
    Environment(String, Change),
}

impl Timing {
    fn at(due: Instant) -> Self {
        Timing {
            since: Instant::now(),
            first_event: None,
            due,
        }
    }

    fn event(&mut self, now: Instant, quiet: Duration) {
        let first = *self.first_event.get_or_insert(now);
        self.due = (now + quiet).min(first + quiet * MAX_QUIET_TIMES);
    }
}

impl Change {
    fn at(due: Instant) -> Self {
        Change {
            is_whole: false,
            paths: BTreeSet::new(),
            asked: Vec::new(),
            attempts: 0,
            candidate: None,
            timing: Timing::at(due),
        }
    }

    /// How long it has been on the agenda.
    pub(super) fn age(&self) -> Duration {
        self.timing.since.elapsed()
    }

    fn add(&mut self, later: Change) {
        self.is_whole |= later.is_whole;
        self.paths.extend(later.paths);
        self.asked.extend(later.asked);
    }
}

impl Agenda {
    pub(super) fn new(quiet: Duration) -> Self {
        Agenda {
            environments: BTreeMap::new(),
            everything: None,
            quiet,
        }
    }

    /// Something moved at a path of an environment.
    pub(super) fn add_event(&mut self, environment: &str, path: &Path) {
        let now = Instant::now();
        let quiet = self.quiet;
        let change = self.change(environment, now + quiet);
        change.paths.insert(path.to_owned());
        if change.asked.is_empty() {
            change.timing.event(now, quiet);
        }
    }

    /// Something moved, and it is not known where.
    pub(super) fn add_event_anywhere(&mut self) {
        let now = Instant::now();
        let timing = self.everything.get_or_insert(Timing::at(now + self.quiet));
        timing.event(now, self.quiet);
    }

    /// Somebody wants an environment reloaded now.
    pub(super) fn ask(&mut self, environment: &str, reply: oneshot::Sender<ReloadOutcome>) {
        let now = Instant::now();
        let change = self.change(environment, now);
        change.is_whole = true;
        change.asked.push(reply);
        change.timing.due = now;
    }

    /// All of an environment has to be looked at, now or when it is looked at anyway.
    pub(super) fn add_whole(&mut self, environment: &str) {
        self.change(environment, Instant::now()).is_whole = true;
    }

    /// All of an environment has to be looked at later, unless it is looked at before.
    pub(super) fn add_whole_in(&mut self, environment: &str, delay: Duration) {
        self.change(environment, Instant::now() + delay).is_whole = true;
    }

    /// Everything has to be looked at later, unless it is looked at before.
    pub(super) fn add_everything_in(&mut self, delay: Duration) {
        let due = Instant::now() + delay;
        self.everything.get_or_insert(Timing::at(due));
    }

    /// Puts a change back that was due too early. What came meanwhile belongs to it.
    pub(super) fn put_back(&mut self, environment: String, mut change: Change, delay: Duration) {
        if let Some(later) = self.environments.remove(&environment) {
            change.add(later);
        }
        change.timing.due = Instant::now() + delay;
        self.environments.insert(environment, change);
    }

    /// The same for one whose load could not be used: things get another time to become quiet.
    pub(super) fn try_again(&mut self, environment: String, mut change: Change, delay: Duration) {
        change.attempts += 1;
        change.timing.first_event = None;
        self.put_back(environment, change, delay);
    }

    pub(super) fn has(&self, environment: &str) -> bool {
        self.environments.contains_key(environment)
    }

    /// When the next thing has to be done.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let environments = self.environments.values().map(|change| change.timing.due);
        let everything = self.everything.map(|timing| timing.due);
        environments.chain(everything).min()
    }

    /// Takes the next thing that has to be done now. Those who wait for an answer come first.
    pub(super) fn take_due(&mut self) -> Option<Due> {
        let now = Instant::now();
        if self.everything.is_some_and(|timing| timing.due <= now) {
            self.everything = None;
            return Some(Due::Everything);
        }
        let due = self.environments.iter();
        let due = due.filter(|(_, change)| change.timing.due <= now);
        let next = due.min_by_key(|(_, change)| (change.asked.is_empty(), change.timing.due));
        let name = next?.0.clone();
        let change = self.environments.remove(&name)?;
        Some(Due::Environment(name, change))
    }

    fn change(&mut self, environment: &str, due: Instant) -> &mut Change {
        let known = self.environments.entry(environment.to_owned());
        known.or_insert_with(|| Change::at(due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(40);

    fn next_environment(agenda: &mut Agenda) -> Option<String> {
        match agenda.take_due()? {
            Due::Environment(name, _) => Some(name),
            Due::Everything => None,
        }
    }

    #[test]
    fn an_environment_that_keeps_moving_holds_up_no_other() {
        let mut agenda = Agenda::new(QUIET);
        agenda.add_event("quiet", Path::new("/a"));
        let start = Instant::now();
        while next_environment(&mut agenda).as_deref() != Some("quiet") {
            agenda.add_event("noisy", Path::new("/b"));
            assert!(start.elapsed() < QUIET * 30, "it waits for the other");
        }
        assert!(start.elapsed() >= QUIET);
        while next_environment(&mut agenda).as_deref() != Some("noisy") {
            agenda.add_event("noisy", Path::new("/b"));
            assert!(start.elapsed() < QUIET * 1000, "it is never looked at");
        }
        assert!(start.elapsed() >= QUIET * MAX_QUIET_TIMES);
    }

    #[test]
    fn whoever_waits_for_an_answer_comes_first() {
        let mut agenda = Agenda::new(Duration::ZERO);
        agenda.add_whole("a");
        let (reply, _answer) = oneshot::channel();
        agenda.ask("b", reply);
        assert_eq!(next_environment(&mut agenda).as_deref(), Some("b"));
        assert_eq!(next_environment(&mut agenda).as_deref(), Some("a"));
        assert!(agenda.next_due().is_none());
    }

    #[test]
    fn an_event_is_not_held_up_by_a_retry_that_is_due_later() {
        let mut agenda = Agenda::new(Duration::ZERO);
        agenda.add_whole_in("a", Duration::from_secs(3600));
        assert!(agenda.take_due().is_none());
        agenda.add_event("a", Path::new("/a"));
        let Some(Due::Environment(_, change)) = agenda.take_due() else {
            panic!("nothing is due");
        };
        assert!(change.is_whole);
    }
}
