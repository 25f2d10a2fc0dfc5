//! The environments that are served: name → current [`Snapshot`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use hiera_resolver::config::{DataFunction, HieraConfig};
use hiera_resolver::data::FileFault;
use hiera_resolver::{Layer, Snapshot, Tree};

use crate::load::{self, CodeDirectory};

/// All environments. Clones share them.
#[derive(Clone, Debug)]
pub struct Environments {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    code: CodeDirectory,
    current: ArcSwap<BTreeMap<String, Environment>>,
    is_loaded: AtomicBool,
}

/// An environment as it is served.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Its data. Never changes: a request that holds it sees one state of things.
    pub snapshot: Arc<Snapshot>,
    /// When it was loaded.
    pub loaded_at: SystemTime,
}

impl Environments {
    /// The environments of a code directory, none of them loaded.
    pub fn new(code: CodeDirectory) -> Self {
        let inner = Inner {
            code,
            current: ArcSwap::default(),
            is_loaded: AtomicBool::new(false),
        };
        Environments {
            inner: Arc::new(inner),
        }
    }

    /// Loads all of them. Takes its time, and a thread.
    pub fn load(&self) {
        let mut loaded = BTreeMap::new();
        for name in load::environment_names(&self.inner.code) {
            let snapshot = Arc::new(load::load_environment(&self.inner.code, &name));
            let environment = Environment {
                snapshot,
                loaded_at: SystemTime::now(),
            };
            report(&name, &environment.snapshot);
            loaded.insert(name, environment);
        }
        self.inner.current.store(Arc::new(loaded));
        self.inner.is_loaded.store(true, Ordering::Release);
    }

    /// Has everything been loaded?
    pub fn is_loaded(&self) -> bool {
        self.inner.is_loaded.load(Ordering::Acquire)
    }

    /// An environment by name.
    pub fn get(&self, name: &str) -> Option<Environment> {
        self.inner.current.load().get(name).cloned()
    }

    /// All environments, by name.
    pub fn all(&self) -> Arc<BTreeMap<String, Environment>> {
        self.inner.current.load_full()
    }
}

/// A fault of an environment: a file, a place in it, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub path: String,
    /// Line and column, from 1, where there is such a place.
    pub place: Option<(u32, u32)>,
    /// What is wrong.
    pub problem: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, column) = self.place.unwrap_or((1, 1));
        write!(out, "{}:{line}:{column}: {}", self.path, self.problem)
    }
}

impl From<&FileFault> for Fault {
    fn from(fault: &FileFault) -> Self {
        Fault {
            path: fault.path().to_owned(),
            place: fault.place(),
            problem: fault.problem(),
        }
    }
}

/// The layers of a snapshot, each with what it is called.
pub fn layers(snapshot: &Snapshot) -> impl Iterator<Item = (String, &Layer)> {
    let upper = [
        ("global".to_owned(), snapshot.global()),
        ("environment".to_owned(), snapshot.environment()),
    ];
    upper.into_iter().chain(
        snapshot
            .modules()
            .map(|(name, layer)| (format!("module {name}"), layer)),
    )
}

/// Everything that makes lookups fail.
pub fn faults(snapshot: &Snapshot) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (_, layer) in layers(snapshot) {
        if let Layer::Faulty(config) = layer {
            faults.extend(config.iter().map(|fault| Fault {
                path: fault.path.to_string(),
                place: Some((fault.line, fault.column)),
                problem: fault.problem.clone(),
            }));
        }
    }
    faults.extend(
        snapshot
            .files()
            .filter_map(|file| file.contents().err())
            .map(Fault::from),
    );
    faults
}

/// The configurations of a snapshot that are good.
pub fn configs(snapshot: &Snapshot) -> impl Iterator<Item = &HieraConfig> {
    layers(snapshot).filter_map(|(_, layer)| layer.config())
}

fn report(name: &str, snapshot: &Snapshot) {
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

/// What works but is hardly meant: configurations that Puppet passes over, files that count as empty, levels
/// whose function is not there.
pub fn notices(snapshot: &Snapshot) -> Vec<Fault> {
    let mut notices = Vec::new();
    for (name, layer) in layers(snapshot) {
        if let Layer::Ignored(reason) = layer {
            notices.push(Fault {
                path: name,
                place: None,
                problem: reason.clone(),
            });
        }
    }
    for config in configs(snapshot) {
        for level in config.all_levels() {
            if let DataFunction::Unknown { kind, name } = level.function() {
                let problem = format!(
                    "level `{}`: there is no {kind} function `{name}` here; there are yaml_data and json_data",
                    level.name()
                );
                let path = config.path().map(ToString::to_string).unwrap_or_default();
                notices.push(Fault {
                    path,
                    place: Some((level.line(), 1)),
                    problem,
                });
            }
        }
    }
    for file in snapshot.files() {
        for notice in file
            .contents()
            .map(|contents| contents.notices())
            .unwrap_or_default()
        {
            let place = (notice.line > 0).then_some((notice.line, notice.column));
            notices.push(Fault {
                path: file.path().to_string(),
                place,
                problem: notice.text.clone(),
            });
        }
    }
    notices
}
