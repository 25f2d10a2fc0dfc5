//! One environment that is due → a new snapshot, or the old one and why.

use std::sync::Arc;

use super::ReloadOutcome;
use super::agenda::Change;
use super::worker::Worker;
use crate::config::is_environment_name;
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, Fault, Load, LoadedEnvironment, Stability};
use crate::environments::file_faults;
use crate::filesystem;

/// Loads of a tree that does not hold still before it is left as it is.
const MAX_ATTEMPTS: usize = 20;
/// Loads up to which whatever moves meanwhile is taken for part of the same change. Where things never become quiet,
/// there is no whole to wait for.
const PATIENT_ATTEMPTS: usize = 3;

/// What a load came to. What is only told to those who asked is not worked out yet.
pub(super) enum Verdict {
    Unchanged,
    /// With what was served before.
    Swapped(Option<Arc<LoadedEnvironment>>),
    /// With the faults of what is not served.
    Kept(Vec<Fault>),
    Gone,
}

impl Worker {
    /// Loads an environment and serves it, unless that would be worse than what is served. Where someone is still at work
    /// in it, it is left for later.
    pub(super) fn look_at(&mut self, name: String, change: Change) {
        if let Some(delay) = self.wait_for_others(&name, &change) {
            self.agenda.put_back(name, change, delay);
            return;
        }
        let Some(change) = self.load_touched(&name, change) else {
            return;
        };
        self.load_whole(name, change);
    }

    /// Loads what moved and nothing else, where that is enough to know what is on disk now; else gives the change back.
    fn load_touched(&mut self, name: &str, change: Change) -> Option<Change> {
        if change.is_whole || change.attempts >= MAX_ATTEMPTS {
            return Some(change);
        }
        let last = self.last_read(name);
        let touched =
            last.and_then(|last| last.with_changed_files(&self.code, name, &change.paths));
        let is_there = || filesystem::is_directory(&self.code.environment(name)).is_ok_and(|is| is);
        let Some(touched) = touched.filter(|_| is_there()) else {
            return Some(change);
        };
        let has_moved = self.has_moved_meanwhile(name);
        let is_still = touched.is_unchanged_at(&change.paths)
            && (!has_moved || change.attempts >= PATIENT_ATTEMPTS)
            && self.wait_for_others(name, &change).is_none();
        if !is_still {
            let delay = self.settings.quiet_time();
            self.agenda.try_again(name.to_owned(), change, delay);
            return None;
        }
        let is_incomplete = touched.is_incomplete();
        self.adopt(name, Arc::new(touched));
        self.end_look(name, is_incomplete);
        None
    }

    /// Loads all of an environment.
    fn load_whole(&mut self, name: String, mut change: Change) {
        self.moved.extend(change.paths.iter().cloned());
        self.has_new_directories = true;
        if let Some(verdict) = self.let_go(&name) {
            return self.end(&name, change, verdict, false);
        }
        let last = change.candidate.take();
        let last = last.or_else(|| self.last_read(&name).cloned());
        let (loaded, stillness) = self.load(&name, last.as_deref(), &change);
        let loaded = Arc::new(loaded);
        let is_last = change.attempts + 1 >= MAX_ATTEMPTS;
        // The half of a checkout that was read may hold still too.
        let has_moved = stillness != Stability::Stable || self.is_git_at_work(&name, &change);
        if has_moved && !is_last {
            change.candidate = Some(loaded);
            change.is_whole = true;
            let delay = self.settings.quiet_time();
            return self.agenda.try_again(name, change, delay);
        }
        // It may have gone while it was read, and what was left of it is nothing to serve.
        if let Some(verdict) = self.let_go(&name) {
            return self.end(&name, change, verdict, false);
        }
        if let Some(served) = self.loaded.get(&name) {
            if let Stability::FileChanged(path) = &stillness {
                let problem = "changes each time it is read";
                let faults = vec![Fault::at_path(path, &problem)];
                self.environments.keep(&name, faults.clone());
                return self.end(&name, change, Verdict::Kept(faults), true);
            }
            let delay = loaded.delay_for_unreported_writes(served, &change.paths);
            if let Some(delay) = delay.filter(|_| change.asked.is_empty() && !is_last) {
                change.candidate = Some(loaded);
                change.is_whole = true;
                return self.agenda.try_again(name, change, delay);
            }
        }
        let is_incomplete = loaded.is_incomplete();
        let verdict = self.adopt(&name, loaded);
        self.end(&name, change, verdict, is_incomplete);
    }

    fn load(
        &self,
        name: &str,
        previous: Option<&LoadedEnvironment>,
        change: &Change,
    ) -> (LoadedEnvironment, Stability) {
        let (shown, silent);
        let progress = match &self.start {
            Some(start) => &start.progress,
            None if change.paths.is_empty() => {
                silent = Progress::silent();
                &silent
            }
            None => {
                shown = Progress::shown();
                &shown
            }
        };
        // Whoever asks meanwhile should not notice.
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

    /// Answers those who asked.
    fn end(&mut self, name: &str, change: Change, verdict: Verdict, is_incomplete: bool) {
        if !change.asked.is_empty() {
            let outcome = self.outcome(name, verdict);
            for reply in change.asked {
                // Whoever asked may have gone.
                _ = reply.send(outcome.clone());
            }
        }
        self.end_look(name, is_incomplete);
    }

    /// Serves what was loaded, unless that would be worse than what is served.
    fn adopt(&mut self, name: &str, mut loaded: Arc<LoadedEnvironment>) -> Verdict {
        let previous = self.loaded.get(name).cloned();
        let verdict = self.judge(name, previous.as_ref(), &loaded);
        if matches!(verdict, Verdict::Kept(_)) {
            self.kept_back.insert(name.to_owned(), loaded);
            return verdict;
        }
        if let (Verdict::Unchanged, Some(previous)) = (&verdict, previous) {
            // The same data need not be there twice.
            Arc::make_mut(&mut loaded).snapshot = previous.snapshot.clone();
        }
        self.kept_back.remove(name);
        self.loaded.insert(name.to_owned(), loaded);
        verdict
    }

    fn judge(
        &self,
        name: &str,
        previous: Option<&Arc<LoadedEnvironment>>,
        loaded: &LoadedEnvironment,
    ) -> Verdict {
        if let Some(previous) = previous {
            let is_same = loaded.snapshot.revision() == previous.snapshot.revision();
            if is_same && self.listing_fault.is_none() {
                self.environments.end_keep(name);
                return Verdict::Unchanged;
            }
            // A fault that is served already does not get worse by being served again.
            let before = file_faults(&previous.snapshot);
            let mut now = file_faults(&loaded.snapshot);
            now.extend(self.listing_fault.clone());
            let is_known = |fault: &Fault| {
                before
                    .iter()
                    .any(|known| known.is_same_except_position(fault))
            };
            if !now.iter().all(is_known) {
                self.environments.keep(name, now.clone());
                return Verdict::Kept(now);
            }
        }
        self.environments.serve(name, loaded.snapshot.clone());
        Verdict::Swapped(previous.cloned())
    }

    /// What to tell whoever asked.
    fn outcome(&self, name: &str, verdict: Verdict) -> ReloadOutcome {
        let Some(served) = self.loaded.get(name) else {
            return ReloadOutcome::Gone;
        };
        let revision = served.snapshot.revision().to_owned();
        match verdict {
            Verdict::Unchanged => ReloadOutcome::Unchanged { revision },
            Verdict::Swapped(before) => ReloadOutcome::Swapped {
                revision,
                changes: served.changes_since(before.as_deref()),
            },
            Verdict::Kept(faults) => ReloadOutcome::Kept { revision, faults },
            Verdict::Gone => ReloadOutcome::Gone,
        }
    }

    /// Stops serving an environment that is not there, and says what that comes to; `None` where it is there.
    fn let_go(&mut self, name: &str) -> Option<Verdict> {
        // What cannot be looked at is not gone: loading it tells what is wrong.
        let may_be_there = filesystem::is_directory(&self.code.environment(name)).unwrap_or(true);
        if is_environment_name(name) && may_be_there {
            self.is_bereft = false;
            return None;
        }
        // Where all of them are gone at once, the disk is, or someone is about to put others in their place.
        if self.loaded.contains_key(name) && !self.code.environments().is_dir() {
            if !std::mem::replace(&mut self.is_bereft, true) {
                let root = self.code.root.display();
                tracing::warn!("the environments in `{root}` are gone; keeping the old ones");
            }
            return Some(Verdict::Unchanged);
        }
        self.kept_back.remove(name);
        if self.loaded.remove(name).is_some() {
            self.environments.remove(name);
        }
        Some(Verdict::Gone)
    }
}
