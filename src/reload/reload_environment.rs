//! A due environment → a stable load of it, which `swap` then serves or rejects.

use std::sync::Arc;

use hiera_resolver::Fault;

use super::schedule::PendingReload;
use super::swap::SwapOutcome;
use super::worker::Worker;
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, Load, LoadedEnvironment, Stability};
use crate::filesystem;

/// Loads of an environment that keeps changing before it is used as it is.
const MAX_ATTEMPTS: usize = 20;
/// Loads before events that came meanwhile no longer count as part of the same change. An environment that keeps
/// changing has no complete state to wait for.
const MAX_ATTEMPTS_WITH_EVENTS: usize = 3;

impl Worker {
    /// Loads an environment and serves it, unless that would be worse than what is served. If a program is still
    /// writing to its files, this is postponed.
    pub(super) fn reload(&mut self, name: String, mut pending: PendingReload) {
        if let Some(delay) = self.delay_for_writers(&name, &pending) {
            self.schedule.postpone(name, pending, delay);
            return;
        }
        if !pending.is_partial() {
            pending.start(self.requests.take(&name));
        }
        if let Some(pending) = self.load_changed_files(&name, pending) {
            self.load_all(name, pending);
        }
    }

    /// Loads only the files that changed, if that is sufficient; otherwise returns the pending reload.
    fn load_changed_files(&mut self, name: &str, pending: PendingReload) -> Option<PendingReload> {
        if !pending.is_partial() || pending.attempts >= MAX_ATTEMPTS {
            return Some(pending);
        }
        let last = self.last_load(name);
        let next = last.and_then(|last| last.with_changed_files(&self.code, name, &pending.paths));
        let exists = || filesystem::is_directory(&self.code.environment(name)).is_ok_and(|is| is);
        let Some(next) = next.filter(|_| exists()) else {
            return Some(pending);
        };
        let has_events = self.is_scheduled_again(name);
        let is_stable = next.is_unchanged_at(&pending.paths)
            && (!has_events || pending.attempts >= MAX_ATTEMPTS_WITH_EVENTS)
            && self.delay_for_writers(name, &pending).is_none();
        if !is_stable {
            let delay = self.settings.quiet_time();
            self.schedule.retry(name.to_owned(), pending, delay);
            return None;
        }
        let is_incomplete = next.is_incomplete();
        self.swap(name, Arc::new(next));
        self.finish_reload(name, is_incomplete);
        None
    }

    /// Loads all of an environment.
    fn load_all(&mut self, name: String, mut pending: PendingReload) {
        self.changed_paths.extend(pending.paths.iter().cloned());
        let is_known = self.last_load(&name).is_some() || !pending.paths.is_empty();
        let gone = self.remove_if_gone(&name);
        // A name that a caller made up has no directories to look for.
        self.has_new_directories |= is_known || gone.is_none();
        if let Some(outcome) = gone {
            return self.finish(&name, pending, outcome, false);
        }
        let previous = pending.candidate.take();
        let previous = previous.or_else(|| self.last_load(&name).cloned());
        let (loaded, stability) = self.load(&name, previous.as_deref(), &pending);
        let loaded = Arc::new(loaded);
        let is_last_attempt = pending.attempts + 1 >= MAX_ATTEMPTS;
        // Files may be stable in the middle of a checkout, too.
        let is_changing = stability != Stability::Stable || self.is_git_active(&name, &pending);
        if is_changing && !is_last_attempt {
            pending.candidate = Some(loaded);
            pending.is_full = true;
            let delay = self.settings.quiet_time();
            return self.schedule.retry(name, pending, delay);
        }
        // It may have disappeared while it was read, and its remains must not be served.
        if let Some(outcome) = self.remove_if_gone(&name) {
            return self.finish(&name, pending, outcome, false);
        }
        if let Some(served) = self.served.get(&name) {
            if let Stability::FileChanged(path) = &stability {
                let problem = "changes each time it is read";
                let faults = vec![Fault::at_path(path, &problem)];
                self.environments.keep(&name, faults.clone());
                return self.finish(&name, pending, SwapOutcome::Kept(faults), true);
            }
            let delay = loaded.delay_for_unreported_writes(served, &pending.paths);
            if let Some(delay) = delay.filter(|_| !pending.has_callers() && !is_last_attempt) {
                pending.candidate = Some(loaded);
                pending.is_full = true;
                return self.schedule.retry(name, pending, delay);
            }
        }
        let is_incomplete = loaded.is_incomplete();
        let outcome = self.swap(&name, loaded);
        self.finish(&name, pending, outcome, is_incomplete);
    }

    fn load(
        &self,
        name: &str,
        previous: Option<&LoadedEnvironment>,
        pending: &PendingReload,
    ) -> (LoadedEnvironment, Stability) {
        let (shown, silent);
        let progress = match &self.initial_load {
            Some(initial_load) => &initial_load.progress,
            None if pending.paths.is_empty() => {
                silent = Progress::silent();
                &silent
            }
            None => {
                shown = Progress::shown();
                &shown
            }
        };
        // Requests should not be slower meanwhile.
        let cores = match self.environments.is_loaded() {
            true => data_loading::all_cores_but_one(),
            false => data_loading::all_cores(),
        };
        let load = Load {
            code: &self.code,
            name,
            previous,
            cores,
            progress,
        };
        load.run_and_verify()
    }

    /// Sends the outcome to the callers that wait for it.
    fn finish(
        &mut self,
        name: &str,
        pending: PendingReload,
        outcome: SwapOutcome,
        is_incomplete: bool,
    ) {
        if pending.has_callers() {
            let outcome = Arc::new(self.reload_outcome(name, outcome));
            for callers in pending.into_callers() {
                callers.send(outcome.clone());
            }
        }
        self.finish_reload(name, is_incomplete);
    }
}
