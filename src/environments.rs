//! The environments that are served: name → current [`Snapshot`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use arc_swap::{ArcSwap, ArcSwapOption};
use hiera_resolver::config::{ConfigFault, DataFunction, HieraConfig};
use hiera_resolver::data::{Contents, FileFault, Notice};
use hiera_resolver::{Layer, Snapshot, Tree};
use tokio::sync::broadcast;

use crate::config::CodeDirectory;
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, Load, NoEnvironments};

/// Events that a slow listener may be behind before it misses some.
const EVENTS: usize = 256;

/// All environments. Clones share them.
#[derive(Clone, Debug)]
pub struct Environments {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    current: ArcSwap<BTreeMap<String, Environment>>,
    is_loaded: AtomicBool,
    /// Reloading failed, and does not work again yet.
    has_reload_failed: AtomicBool,
    reload_failures: AtomicU64,
    /// Why there are none.
    vacancy: ArcSwapOption<String>,
    events: broadcast::Sender<Change>,
}

/// An environment as it is served.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Its data. Never changes: a request that holds it sees one state of things.
    pub snapshot: Arc<Snapshot>,
    /// When it was loaded.
    pub loaded_at: SystemTime,
    /// Why a newer state of the disk is not served. Empty where what is on disk is served.
    pub kept: Arc<[Fault]>,
    /// Some level of it gets its data from another server.
    pub asks_others: bool,
}

/// Something that happened to an environment.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its name.
    pub environment: String,
    /// What happened.
    pub kind: ChangeKind,
}

/// What can happen to an environment.
#[derive(Clone, Debug)]
pub enum ChangeKind {
    /// A snapshot with this revision is served.
    Loaded {
        /// Its revision.
        revision: String,
    },
    /// The old snapshot is kept because of these faults.
    Kept {
        /// The revision that goes on being served.
        revision: String,
        /// What is wrong with what is on disk.
        faults: Arc<[Fault]>,
    },
    /// It is gone.
    Removed,
    /// The server stops, and nothing more will be told.
    Stopping,
}

impl Default for Environments {
    fn default() -> Self {
        let events = broadcast::Sender::new(EVENTS);
        let inner = Inner {
            current: ArcSwap::default(),
            is_loaded: AtomicBool::new(false),
            has_reload_failed: AtomicBool::new(false),
            reload_failures: AtomicU64::new(0),
            vacancy: ArcSwapOption::empty(),
            events,
        };
        Environments {
            inner: Arc::new(inner),
        }
    }
}

impl Environments {
    /// No environments, until some are loaded.
    pub fn new() -> Self {
        Environments::default()
    }

    /// Serves a snapshot under a name from now on.
    pub fn serve(&self, name: &str, snapshot: Arc<Snapshot>) {
        report(name, &snapshot);
        let revision = snapshot.revision().to_owned();
        let asks_others = configs(&snapshot)
            .flat_map(HieraConfig::all_levels)
            .any(|level| level.function().is_remote());
        let environment = Environment {
            snapshot,
            asks_others,
            loaded_at: SystemTime::now(),
            kept: Arc::default(),
        };
        self.update(|all| _ = all.insert(name.to_owned(), environment.clone()));
        self.inner.vacancy.store(None);
        self.tell(name, ChangeKind::Loaded { revision });
    }

    /// Goes on serving what is served, and says why. Each fault is told once.
    pub(crate) fn keep(&self, name: &str, faults: Vec<Fault>) {
        let Some(current) = self.get(name) else {
            return;
        };
        for fault in faults.iter().filter(|fault| !current.kept.contains(fault)) {
            tracing::warn!(environment.name = name, "the old data is kept: {fault}");
        }
        if *current.kept == *faults {
            return;
        }
        let faults: Arc<[Fault]> = faults.into();
        self.set_kept(name, &faults);
        let revision = current.snapshot.revision().to_owned();
        self.tell(name, ChangeKind::Kept { revision, faults });
    }

    /// What is on disk is what is served again.
    pub(crate) fn settle(&self, name: &str) {
        if self
            .get(name)
            .is_some_and(|current| !current.kept.is_empty())
        {
            tracing::info!(
                environment.name = name,
                "faults fixed; serving the data on disk"
            );
            self.set_kept(name, &Arc::default());
        }
    }

    fn set_kept(&self, name: &str, faults: &Arc<[Fault]>) {
        self.update(|all| {
            if let Some(environment) = all.get_mut(name) {
                environment.kept = faults.clone();
            }
        });
    }

    /// Serves an environment no longer.
    pub(crate) fn remove(&self, name: &str) {
        tracing::info!(environment.name = name, "environment {name} is gone");
        self.update(|all| _ = all.remove(name));
        self.tell(name, ChangeKind::Removed);
    }

    /// Only one thread changes anything, and readers never wait for it.
    fn update(&self, change: impl Fn(&mut BTreeMap<String, Environment>)) {
        let mut all = BTreeMap::clone(&self.inner.current.load());
        change(&mut all);
        self.inner.current.store(Arc::new(all));
    }

    fn tell(&self, name: &str, kind: ChangeKind) {
        // Nobody may be listening.
        _ = self.inner.events.send(Change {
            environment: name.to_owned(),
            kind,
        });
    }

    /// Ends what is told of changes.
    pub(crate) fn stop_telling(&self) {
        self.tell("", ChangeKind::Stopping);
    }

    /// What happens from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.inner.events.subscribe()
    }

    /// Everything that was there at the start has been loaded.
    pub fn set_loaded(&self) {
        self.inner.is_loaded.store(true, Ordering::Release);
    }

    /// Has everything been loaded?
    pub fn is_loaded(&self) -> bool {
        self.inner.is_loaded.load(Ordering::Acquire)
    }

    /// The thread that reloads ended unexpectedly: what is served may be out of date until it has started again.
    pub(crate) fn report_reload_failure(&self) {
        tracing::error!("reloading failed unexpectedly; starting it again");
        self.inner.reload_failures.fetch_add(1, Ordering::Relaxed);
        self.inner.has_reload_failed.store(true, Ordering::Release);
    }

    /// It has started again, and everything has been looked at.
    pub(crate) fn report_reload_recovery(&self) {
        self.inner.has_reload_failed.store(false, Ordering::Release);
    }

    /// Has reloading failed, so that what is served may be out of date?
    pub(crate) fn has_reload_failed(&self) -> bool {
        self.inner.has_reload_failed.load(Ordering::Acquire)
    }

    /// How often it has failed.
    pub(crate) fn reload_failures(&self) -> u64 {
        self.inner.reload_failures.load(Ordering::Relaxed)
    }

    /// There are no environments, for this reason. It is logged once.
    pub(crate) fn report_vacancy(&self, reason: &NoEnvironments) {
        let reason = Arc::new(reason.to_string());
        let known = self.inner.vacancy.swap(Some(reason.clone()));
        if known.as_ref() != Some(&reason) {
            tracing::error!("{reason}");
        }
    }

    /// Why there is nothing to serve; `None` where there is something.
    pub(crate) fn vacancy(&self) -> Option<String> {
        if !self.is_loaded() {
            return Some("the environments are being loaded; try again in a moment".to_owned());
        }
        if !self.inner.current.load().is_empty() {
            return None;
        }
        let reason = self.inner.vacancy.load_full();
        Some(reason.map_or_else(
            || "all environments are gone".to_owned(),
            |text| text.to_string(),
        ))
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

impl Fault {
    /// A fault of a file or directory as a whole.
    pub(crate) fn at_path(path: &str, problem: &dyn std::fmt::Display) -> Self {
        Fault {
            path: path.to_owned(),
            place: None,
            problem: problem.to_string(),
        }
    }

    /// Is it the same mistake, perhaps in another line of a file that was changed around it?
    pub(crate) fn is_same_mistake(&self, other: &Fault) -> bool {
        self.path == other.path && self.problem == other.problem
    }

    fn from_notice(path: &str, notice: &Notice) -> Self {
        let place = (notice.line > 0).then_some((notice.line, notice.column));
        Fault {
            path: path.to_owned(),
            place,
            problem: notice.text.clone(),
        }
    }
}

impl From<&ConfigFault> for Fault {
    fn from(fault: &ConfigFault) -> Self {
        Fault {
            path: fault.path.to_string(),
            place: Some((fault.line, fault.column)),
            problem: fault.problem.clone(),
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
    let mut faults = file_faults(snapshot);
    for file in snapshot.files() {
        let undecryptable = file
            .contents()
            .map(Contents::undecryptable)
            .unwrap_or_default();
        faults.extend(
            undecryptable
                .iter()
                .map(|notice| Fault::from_notice(file.path(), notice)),
        );
    }
    faults
}

/// Is it a directory that a location leads to only with some value of a variable? `roles/%{facts.role}` could name each
/// directory in `roles`, and only a lookup that does fails.
fn is_named_by_chance(snapshot: &Snapshot, fault: &FileFault) -> bool {
    let FileFault::Directory { path } = fault else {
        return false;
    };
    let mut levels = configs(snapshot).flat_map(HieraConfig::all_levels);
    !levels.any(|level| {
        let mut reaches = level.reaches(snapshot.name()).into_iter();
        reaches.any(|reach| reach.only_path() == Some(path.as_str()))
    })
}

/// Configurations, files and `lookup_options` that cannot be used, and paths below which it is unknown what there is:
/// what a reload must not bring.
pub fn file_faults(snapshot: &Snapshot) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (_, layer) in layers(snapshot) {
        if let Layer::Faulty(config) = layer {
            faults.extend(config.iter().map(Fault::from));
        }
    }
    let file_faults = snapshot.files().filter_map(|file| file.contents().err());
    faults.extend(
        file_faults
            .filter(|fault| !is_named_by_chance(snapshot, fault))
            .map(Fault::from),
    );
    for fault in snapshot.unreadable().map(Fault::from) {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    for file in snapshot.files() {
        let Ok(contents) = file.contents() else {
            continue;
        };
        let mistakes = contents.option_faults().iter();
        faults.extend(mistakes.map(|notice| Fault::from_notice(file.path(), notice)));
        if contents.has_options()
            && let Some(module) = module_of(snapshot, file.path())
            && let Some(notice) = contents.foreign_options(module)
        {
            faults.push(Fault::from_notice(file.path(), &notice));
        }
    }
    faults
}

/// The module whose data lies here.
fn module_of<'s>(snapshot: &'s Snapshot, path: &str) -> Option<&'s str> {
    let is_below = |config: &HieraConfig| {
        let directory = config.path().and_then(|path| path.rsplit_once('/'));
        let rest = directory.and_then(|(directory, _)| path.strip_prefix(directory));
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut modules = snapshot.modules();
    let found = modules.find(|(_, layer)| layer.config().is_some_and(is_below));
    found.map(|(name, _)| name.as_str())
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
    for (_, layer) in layers(snapshot) {
        if let Layer::Ignored(fault) = layer {
            notices.push(Fault::from(fault));
        }
    }
    for config in configs(snapshot) {
        for level in config.all_levels() {
            if let DataFunction::Unknown { kind, name } = level.function() {
                let problem = format!(
                    "level `{}`: there is no {kind} function `{name}` here; there are {}",
                    level.name(),
                    DataFunction::KNOWN
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
            notices.push(Fault::from_notice(file.path(), notice));
        }
    }
    notices
}

/// Loads every environment of a code directory once, without following what changes afterwards.
pub fn load_once(code: &CodeDirectory) -> Environments {
    let environments = Environments::new();
    for name in data_loading::environment_names(code).unwrap_or_default() {
        let load = Load {
            code,
            name: &name,
            previous: None,
            cores: data_loading::all_cores(),
            progress: &Progress::silent(),
        };
        environments.serve(&name, load.run().snapshot);
    }
    if environments.all().is_empty() {
        environments.report_vacancy(&NoEnvironments::in_directory(code));
    }
    environments.set_loaded();
    environments
}
