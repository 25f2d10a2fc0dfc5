//! The environments that are served: name → current [`Snapshot`].
//!
//! [`Environments`] is the registry. Only the reload thread changes it; readers never wait. `change` is what subscribers
//! receive, `readiness` whether the server can answer, `diagnostics` what is wrong with a snapshot.

mod change;
mod diagnostics;
mod load_once;
mod readiness;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use hiera_resolver::{Fault, HieraConfig, Snapshot};
use tokio::sync::broadcast;

pub use self::change::{Change, ChangeKind};
pub use self::diagnostics::{configs, faults, file_faults, layers, notices};
pub use self::load_once::load_once;
use self::readiness::Readiness;

/// How many changes a slow subscriber may fall behind before it misses some.
const CHANGE_BUFFER: usize = 256;

/// All environments. Clones share them.
#[derive(Clone, Debug)]
pub struct Environments {
    inner: Arc<Registry>,
}

#[derive(Debug)]
struct Registry {
    current: ArcSwap<BTreeMap<String, Environment>>,
    readiness: Readiness,
    changes: broadcast::Sender<Change>,
}

/// An environment as it is served.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Its data. A snapshot never changes, so a request that holds one sees a single state.
    pub snapshot: Arc<Snapshot>,
    /// When it was loaded.
    pub loaded_at: SystemTime,
    /// Why the data on disk is not served. Empty if it is.
    pub kept_because: Arc<[Fault]>,
    /// Does some level get its data from another server?
    pub has_remote_levels: bool,
}

impl Default for Environments {
    fn default() -> Self {
        Environments {
            inner: Arc::new(Registry {
                current: ArcSwap::default(),
                readiness: Readiness::default(),
                changes: broadcast::Sender::new(CHANGE_BUFFER),
            }),
        }
    }
}

impl Environments {
    /// An empty registry.
    pub fn new() -> Self {
        Environments::default()
    }

    /// An environment by name.
    pub fn get(&self, name: &str) -> Option<Environment> {
        self.inner.current.load().get(name).cloned()
    }

    /// All environments, by name.
    pub fn all(&self) -> Arc<BTreeMap<String, Environment>> {
        self.inner.current.load_full()
    }

    /// Serves a snapshot under a name from now on.
    pub fn serve(&self, name: &str, snapshot: Arc<Snapshot>) {
        log_loaded(name, &snapshot);
        let revision = snapshot.revision().to_owned();
        let has_remote_levels = configs(&snapshot)
            .flat_map(HieraConfig::all_levels)
            .any(|level| level.function().is_remote());
        let environment = Environment {
            snapshot,
            has_remote_levels,
            loaded_at: SystemTime::now(),
            kept_because: Arc::default(),
        };
        self.update(|all| _ = all.insert(name.to_owned(), environment.clone()));
        self.clear_no_environments();
        self.publish(name, ChangeKind::Loaded { revision });
    }

    /// Keeps serving the current snapshot although the data on disk differs. Each fault is logged once.
    pub(crate) fn keep(&self, name: &str, faults: Vec<Fault>) {
        let Some(current) = self.get(name) else {
            return;
        };
        for fault in faults
            .iter()
            .filter(|fault| !current.kept_because.contains(fault))
        {
            tracing::warn!(environment.name = name, "keeping the old data: {fault}");
        }
        if *current.kept_because == *faults {
            return;
        }
        let faults: Arc<[Fault]> = faults.into();
        self.set_kept_because(name, &faults);
        let revision = current.snapshot.revision().to_owned();
        self.publish(name, ChangeKind::Kept { revision, faults });
    }

    /// The snapshot of an environment is the data on disk again.
    pub(crate) fn end_keep(&self, name: &str) {
        let current = self.get(name);
        if current.is_some_and(|current| !current.kept_because.is_empty()) {
            tracing::info!(
                environment.name = name,
                "faults fixed; serving the data on disk"
            );
            self.set_kept_because(name, &Arc::default());
        }
    }

    fn set_kept_because(&self, name: &str, faults: &Arc<[Fault]>) {
        self.update(|all| {
            if let Some(environment) = all.get_mut(name) {
                environment.kept_because = faults.clone();
            }
        });
    }

    /// Stops serving an environment.
    pub(crate) fn remove(&self, name: &str) {
        tracing::info!(environment.name = name, "environment {name} is gone");
        self.update(|all| _ = all.remove(name));
        self.publish(name, ChangeKind::Removed);
    }

    /// Replaces the map. Readers keep the old one; there is only one writer.
    fn update(&self, change: impl Fn(&mut BTreeMap<String, Environment>)) {
        let mut all = BTreeMap::clone(&self.inner.current.load());
        change(&mut all);
        self.inner.current.store(Arc::new(all));
    }

    /// Subscribes to changes from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.inner.changes.subscribe()
    }

    /// Ends all subscriptions.
    pub(crate) fn close_subscriptions(&self) {
        self.publish("", ChangeKind::Stopping);
    }

    fn publish(&self, name: &str, kind: ChangeKind) {
        // Fails if there are no subscribers.
        _ = self.inner.changes.send(Change {
            environment: name.to_owned(),
            kind,
        });
    }
}

fn log_loaded(name: &str, snapshot: &Snapshot) {
    let faults = faults(snapshot);
    tracing::info!(
        environment.name = name,
        revision = snapshot.revision(),
        files = snapshot.files().count(),
        faults = faults.len(),
        "loaded environment {name}"
    );
    for fault in faults {
        tracing::warn!(environment.name = name, "{fault}");
    }
}
