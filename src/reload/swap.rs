//! A load → the environment that is served, or the old one and why.

use std::sync::Arc;

use hiera_resolver::Fault;

use super::ReloadOutcome;
use super::worker::Worker;
use crate::config::is_environment_name;
use crate::data_loading::LoadedEnvironment;
use crate::environments::file_faults;
use crate::filesystem;

/// What was done with a load. What only callers of a reload need is computed for them later.
pub(super) enum SwapOutcome {
    Unchanged,
    /// With the environment that was served before.
    Swapped(Option<Arc<LoadedEnvironment>>),
    /// With the faults of the load that is not served.
    Kept(Vec<Fault>),
    Gone,
}

impl Worker {
    /// Serves a load, unless that would be worse than what is served.
    pub(super) fn swap(&mut self, name: &str, mut loaded: Arc<LoadedEnvironment>) -> SwapOutcome {
        let previous = self.served.get(name).cloned();
        let outcome = self.serve_or_keep(name, previous.as_ref(), &loaded);
        if matches!(outcome, SwapOutcome::Kept(_)) {
            self.rejected.insert(name.to_owned(), loaded);
            return outcome;
        }
        if let (SwapOutcome::Unchanged, Some(previous)) = (&outcome, previous) {
            // The same data need not be in memory twice.
            Arc::make_mut(&mut loaded).snapshot = previous.snapshot.clone();
        }
        self.rejected.remove(name);
        self.served.insert(name.to_owned(), loaded);
        outcome
    }

    fn serve_or_keep(
        &self,
        name: &str,
        previous: Option<&Arc<LoadedEnvironment>>,
        loaded: &LoadedEnvironment,
    ) -> SwapOutcome {
        if let Some(previous) = previous {
            let is_same = loaded.snapshot.revision() == previous.snapshot.revision();
            if is_same && self.listing_fault.is_none() {
                self.environments.end_keep(name);
                return SwapOutcome::Unchanged;
            }
            // A fault that is served already does not make the environment worse.
            let before = file_faults(&previous.snapshot);
            let mut now = file_faults(&loaded.snapshot);
            now.extend(self.listing_fault.clone());
            let is_served = |fault: &Fault| {
                let mut before = before.iter();
                before.any(|served| served.is_same_except_position(fault))
            };
            if !now.iter().all(is_served) {
                self.environments.keep(name, now.clone());
                return SwapOutcome::Kept(now);
            }
        }
        self.environments.serve(name, loaded.snapshot.clone());
        SwapOutcome::Swapped(previous.cloned())
    }

    /// The outcome for callers of a reload.
    pub(super) fn reload_outcome(&self, name: &str, outcome: SwapOutcome) -> ReloadOutcome {
        let Some(served) = self.served.get(name) else {
            return ReloadOutcome::Gone;
        };
        let revision = served.snapshot.revision().to_owned();
        match outcome {
            SwapOutcome::Unchanged => ReloadOutcome::Unchanged { revision },
            SwapOutcome::Swapped(before) => ReloadOutcome::Swapped {
                revision,
                changes: served.changes_since(before.as_deref()),
            },
            SwapOutcome::Kept(faults) => ReloadOutcome::Kept { revision, faults },
            SwapOutcome::Gone => ReloadOutcome::Gone,
        }
    }

    /// Stops serving an environment that does not exist; `None` if it exists.
    pub(super) fn remove_if_gone(&mut self, name: &str) -> Option<SwapOutcome> {
        // A directory that cannot be inspected is not gone: loading it reports what is wrong.
        let may_exist = filesystem::is_directory(&self.code.environment(name)).unwrap_or(true);
        if is_environment_name(name) && may_exist {
            self.has_lost_environments = false;
            return None;
        }
        // If all of them are gone at once, the file system is, or the directory is being replaced.
        if self.served.contains_key(name) && !self.code.environments().is_dir() {
            if !std::mem::replace(&mut self.has_lost_environments, true) {
                let root = self.code.root.display();
                tracing::warn!("the environments in `{root}` are gone; keeping the old ones");
            }
            return Some(SwapOutcome::Unchanged);
        }
        self.rejected.remove(name);
        if self.served.remove(name).is_some() {
            self.environments.remove(name);
        }
        Some(SwapOutcome::Gone)
    }
}
