//! Reloading: changes on disk → new snapshots, or the old ones and why.
//!
//! One thread does all of it, so that there is never more than one reload at a time and what happens meanwhile
//! is gathered for the next. It waits until things are quiet (`reload/watch.rs` says what moved), loads beside
//! what is served, looks whether the tree held still meanwhile, and swaps whole snapshots.

mod git;
mod watch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use self::watch::Watch;
use crate::config::{Reload, WatchMode};
use crate::environments::{Environments, Fault, file_faults};
use crate::load::{self, Changes, CodeDirectory, Load, Loaded, NoEnvironments, Stamp};
use crate::progress::Progress;

/// Times that a tree which does not hold still is loaded again before it is taken as it is.
const MAX_ATTEMPTS: usize = 20;

/// Time after which a load that the system kept from reading everything is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// What a reload came to.
#[derive(Clone, Debug)]
pub(crate) enum ReloadOutcome {
    /// Nothing is different.
    Unchanged {
        /// The revision that is served.
        revision: String,
    },
    /// A new snapshot is served.
    Swapped {
        /// Its revision.
        revision: String,
        /// What is different.
        changes: Changes,
    },
    /// The old snapshot goes on being served, because the new one has faults that it has not.
    Kept {
        /// The revision that is served.
        revision: String,
        /// All faults of the new one.
        faults: Vec<Fault>,
    },
    /// There is no such environment, or no more.
    Gone,
}

/// The same inside: what is only told where somebody asked is not worked out yet.
enum Verdict {
    Unchanged,
    /// With what was served before.
    Swapped(Option<Arc<Loaded>>),
    /// With the faults of what is not served.
    Kept(Vec<Fault>),
    Gone,
}

/// Asks the thread that reloads. Clones ask the same one.
#[derive(Clone, Debug)]
pub(crate) struct Reloader {
    commands: Sender<Command>,
}

enum Command {
    /// Something changed at these paths.
    Changed(Vec<PathBuf>),
    /// Something changed, and it is not known where.
    Lost,
    /// Reload this environment now, and say what came of it.
    Now(String, oneshot::Sender<ReloadOutcome>),
}

impl Reloader {
    /// Starts the thread: it loads everything, says so, and then follows what changes.
    pub(crate) fn start(
        code: CodeDirectory,
        settings: Reload,
        environments: Environments,
    ) -> std::io::Result<Self> {
        let (commands, received) = channel();
        let reloader = Reloader {
            commands: commands.clone(),
        };
        let worker = Worker {
            code,
            environments,
            loaded: BTreeMap::new(),
            kept_back: BTreeMap::new(),
            is_bereft: false,
            settings,
            received,
        };
        std::thread::Builder::new()
            .name("reload".to_owned())
            .stack_size(crate::STACK_SIZE)
            .spawn(move || worker.run(commands))?;
        Ok(reloader)
    }

    /// Reloads an environment now.
    pub(crate) async fn reload(&self, environment: &str) -> Option<ReloadOutcome> {
        let (reply, answer) = oneshot::channel();
        self.commands
            .send(Command::Now(environment.to_owned(), reply))
            .ok()?;
        answer.await.ok()
    }

    /// Reloads every environment, new ones included. Nobody waits for the outcome; it is logged.
    pub(crate) fn reload_all(&self) {
        // A thread that is gone is reported where its state is asked for.
        _ = self.commands.send(Command::Lost);
    }
}

/// What has to be looked at.
#[derive(Default)]
struct Pending {
    /// Every environment, and which there are.
    all: bool,
    paths: BTreeSet<PathBuf>,
    asked: Vec<(String, oneshot::Sender<ReloadOutcome>)>,
}

impl Pending {
    fn everything() -> Self {
        Pending {
            all: true,
            ..Pending::default()
        }
    }

    fn add(&mut self, command: Command) {
        match command {
            Command::Changed(paths) => self.paths.extend(paths),
            Command::Lost => self.all = true,
            Command::Now(environment, reply) => self.asked.push((environment, reply)),
        }
    }
}

struct Worker {
    code: CodeDirectory,
    environments: Environments,
    /// What is served.
    loaded: BTreeMap<String, Arc<Loaded>>,
    /// What is not served because of its faults. It is followed all the same: that is where they are mended.
    kept_back: BTreeMap<String, Arc<Loaded>>,
    /// All environments are gone from the disk, which has been said.
    is_bereft: bool,
    settings: Reload,
    received: Receiver<Command>,
}

impl Worker {
    fn run(mut self, commands: Sender<Command>) {
        let mut watch = Watch::new(self.settings.watch, &self.code, commands);
        self.load_all();
        self.report_if_empty();
        self.environments.set_loaded();
        if !self.loaded.is_empty() {
            tracing::info!(
                environments = self.loaded.len(),
                "ready: every environment is loaded"
            );
        }
        let is_watching = watch.follow(&self.code, self.read().map(|(_, loaded)| loaded));
        // Between loading and watching something may have moved.
        let mut next = is_watching.then(Pending::everything);
        let mut last_scan = Instant::now();
        loop {
            let mut patience = watch.interval(&self.settings);
            if self.read().any(|(_, loaded)| loaded.is_incomplete()) {
                patience = patience.min(RETRY_INTERVAL);
            }
            let patience = patience.saturating_sub(last_scan.elapsed());
            let Some(mut pending) = next.take().or_else(|| self.wait(patience)) else {
                return;
            };
            self.settle(&mut pending);
            if pending.all {
                last_scan = Instant::now();
            }
            next = self.work(pending, &mut watch);
            self.report_if_empty();
        }
    }

    /// Says why nothing is served, where nothing is.
    fn report_if_empty(&self) {
        if self.loaded.is_empty() {
            self.environments
                .report_vacancy(&NoEnvironments::in_directory(&self.code));
        }
    }

    /// Waits for something to look at, no longer than this; `None` where nothing can come any more.
    fn wait(&self, patience: Duration) -> Option<Pending> {
        match self.received.recv_timeout(patience) {
            Ok(command) => {
                let mut pending = Pending::default();
                pending.add(command);
                Some(pending)
            }
            Err(RecvTimeoutError::Timeout) => Some(Pending::everything()),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Waits until nothing has come for a moment: the first event of a deployment comes before its data is whole.
    fn settle(&self, pending: &mut Pending) {
        if !pending.all && pending.paths.is_empty() && !pending.asked.is_empty() {
            return;
        }
        let start = Instant::now();
        loop {
            let received = self.received.recv_timeout(self.quiet());
            let is_over = match received {
                Ok(command) => {
                    pending.add(command);
                    start.elapsed() > self.quiet() * 40
                }
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if is_over && !self.is_under_checkout(pending, start) {
                return;
            }
        }
    }

    /// Is git about to change more of what moved? Whoever waits for that since `start` gives up in the end.
    fn is_under_checkout(&self, pending: &Pending, start: Instant) -> bool {
        let environments = self.code.root.join("environments");
        let inside = pending.paths.iter().filter_map(|path| {
            let name = path.strip_prefix(&environments).ok()?.iter().next()?;
            Some(environments.join(name))
        });
        let mut touched: BTreeSet<PathBuf> = inside.collect();
        if pending.all {
            let names = load::environment_names(&self.code).unwrap_or_default();
            touched.extend(names.iter().map(|name| self.code.environment(name)));
        }
        self.is_git_at_work(touched.iter(), start)
    }

    fn is_git_at_work<'a>(
        &'a self,
        mut environments: impl Iterator<Item = &'a PathBuf>,
        start: Instant,
    ) -> bool {
        start.elapsed() < git::LOCK_PATIENCE
            && (git::is_at_work(&self.code.root) || environments.any(|one| git::is_at_work(one)))
    }

    /// Loads what is pending. Gives what has to be looked at once more after it.
    fn work(&mut self, mut pending: Pending, watch: &mut Watch) -> Option<Pending> {
        if self.load_touched(&mut pending) {
            return None;
        }
        let moved = std::mem::take(&mut pending.paths);
        let mut names = self.affected(&moved);
        if pending.all || names.is_none() {
            self.load_all();
        } else {
            for name in names.take().into_iter().flatten() {
                self.load(&name, &Progress::shown());
            }
        }
        for (name, reply) in pending.asked {
            let verdict = self.load(&name, &Progress::silent());
            // Whoever asked may have gone.
            _ = reply.send(self.outcome(&name, verdict));
        }
        watch.forget(&moved);
        let has_new = watch.follow(&self.code, self.read().map(|(_, loaded)| loaded));
        // New directories are watched from now on; what came into them before that has to be looked for.
        has_new.then(Pending::everything)
    }

    /// Everything that was read last, served or not.
    fn read(&self) -> impl Iterator<Item = (&String, &Loaded)> {
        let all = self.loaded.iter().chain(&self.kept_back);
        all.map(|(name, loaded)| (name, loaded.as_ref()))
    }

    /// Loads what moved and nothing else, where that is enough to know what is on disk now.
    fn load_touched(&mut self, pending: &mut Pending) -> bool {
        let start = Instant::now();
        for _ in 1..MAX_ATTEMPTS {
            if pending.all || !pending.asked.is_empty() {
                return false;
            }
            let Some(names) = self.affected(&pending.paths) else {
                return false;
            };
            let mut next = Vec::new();
            for name in names {
                let last = self.last_read(&name);
                let touched =
                    last.and_then(|last| last.with_touched(&self.code, &name, &pending.paths));
                let Some(touched) = touched.filter(|_| self.code.environment(&name).is_dir())
                else {
                    return false;
                };
                next.push((name, Arc::new(touched)));
            }
            let mut is_still = next
                .iter()
                .all(|(_, loaded)| loaded.is_still_at(&pending.paths));
            // What moved meanwhile belongs to the same change as far as anyone can tell.
            while let Ok(command) = self.received.try_recv() {
                pending.add(command);
                is_still = false;
            }
            if is_still && !self.is_under_checkout(pending, start) {
                for (name, loaded) in next {
                    self.adopt(&name, loaded);
                }
                return true;
            }
            drop(next);
            self.settle(pending);
        }
        false
    }

    /// What was read last of an environment, served or not.
    fn last_read(&self, name: &str) -> Option<&Arc<Loaded>> {
        self.kept_back.get(name).or_else(|| self.loaded.get(name))
    }

    /// The environments that these paths belong to; `None` where that cannot be said.
    fn affected(&self, paths: &BTreeSet<PathBuf>) -> Option<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        let mut known: HashMap<&Path, bool> = HashMap::new();
        for path in paths {
            let parent = path.parent()?;
            let is_known = *known.entry(parent).or_insert_with(|| {
                // Links lead to one directory by several names, and an event has only one of them.
                let identity = Stamp::of(parent).map(|stamp| stamp.identity());
                self.add_readers(parent, identity, &mut names)
            });
            if !self.add_readers(path, None, &mut names) && !is_known {
                return None;
            }
        }
        Some(names)
    }

    /// Adds the environments that read a directory, and says whether there are any.
    fn add_readers(
        &self,
        directory: &Path,
        identity: Option<(u64, u64)>,
        names: &mut BTreeSet<String>,
    ) -> bool {
        let mut is_read = false;
        for (name, loaded) in self.read() {
            if loaded.reads(directory, identity) {
                names.insert(name.clone());
                is_read = true;
            }
        }
        is_read
    }

    fn load_all(&mut self) {
        // Where nothing has changed there is nothing to show.
        let progress = if self.loaded.is_empty() {
            Progress::shown()
        } else {
            Progress::silent()
        };
        let mut names = match load::environment_names(&self.code) {
            Ok(names) => names,
            Err(fault) => {
                for name in self.loaded.keys() {
                    self.environments.keep(name, vec![fault.clone()]);
                }
                return;
            }
        };
        // One that git is at work in is waited for, and the others should not have to.
        names.sort_by_key(|name| git::is_at_work(&self.code.environment(name)));
        let gone: Vec<String> = self
            .loaded
            .keys()
            .filter(|name| !names.contains(name))
            .cloned()
            .collect();
        for name in names.iter().chain(&gone) {
            self.load(name, &progress);
        }
    }

    /// Loads an environment and serves it, unless that would be worse than what is served.
    fn load(&mut self, name: &str, progress: &Progress) -> Verdict {
        if let Some(verdict) = self.let_go(name) {
            return verdict;
        }
        let last = self.last_read(name).cloned();
        let loaded = Arc::new(self.load_still(name, last.as_deref(), progress));
        // It may have gone while it was read, and what was left of it is nothing to serve.
        if let Some(verdict) = self.let_go(name) {
            return verdict;
        }
        self.adopt(name, loaded)
    }

    /// Serves what was loaded, unless that would be worse than what is served.
    fn adopt(&mut self, name: &str, mut loaded: Arc<Loaded>) -> Verdict {
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
        let may_be_there = load::is_directory(&self.code.environment(name)).unwrap_or(true);
        if load::is_environment_name(name) && may_be_there {
            self.is_bereft = false;
            return None;
        }
        // Where all of them are gone at once, the disk is, or someone is about to put others in their place.
        if self.loaded.contains_key(name) && !self.code.root.join("environments").is_dir() {
            if !std::mem::replace(&mut self.is_bereft, true) {
                let root = self.code.root.display();
                tracing::warn!("the environments in `{root}` are gone; the old ones are kept");
            }
            return Some(Verdict::Unchanged);
        }
        self.kept_back.remove(name);
        if self.loaded.remove(name).is_some() {
            self.environments.remove(name);
        }
        Some(Verdict::Gone)
    }

    /// Loads until the tree held still while it was read.
    fn load_still(&self, name: &str, last: Option<&Loaded>, progress: &Progress) -> Loaded {
        // Whoever asks meanwhile should not notice.
        let cores = if self.environments.is_loaded() {
            load::all_cores_but_one()
        } else {
            load::all_cores()
        };
        let directory = self.code.environment(name);
        let start = Instant::now();
        let is_under_checkout = || self.is_git_at_work([&directory].into_iter(), start);
        let load = Load {
            code: &self.code,
            name,
            previous: last,
            cores,
            progress,
        };
        let (mut loaded, mut is_still) = load.run_and_look_again();
        for _ in 1..MAX_ATTEMPTS {
            // The half of a checkout that was read may hold still too.
            if is_still && !is_under_checkout() {
                break;
            }
            std::thread::sleep(self.quiet());
            if is_under_checkout() {
                tracing::info!("git is at work in `{}`: waiting", directory.display());
            }
            while is_under_checkout() {
                std::thread::sleep(self.quiet());
            }
            let again = Load {
                previous: Some(&loaded),
                ..load
            };
            (loaded, is_still) = again.run_and_look_again();
        }
        loaded
    }

    /// How long nothing must have come before things count as quiet.
    fn quiet(&self) -> Duration {
        Duration::from_millis(self.settings.settle_ms.max(1))
    }

    fn judge(&self, name: &str, previous: Option<&Arc<Loaded>>, loaded: &Loaded) -> Verdict {
        if let Some(previous) = previous {
            if loaded.snapshot.revision() == previous.snapshot.revision() {
                self.environments.settle(name);
                return Verdict::Unchanged;
            }
            // A fault that is served already does not get worse by being served again.
            let before = file_faults(&previous.snapshot);
            let now = file_faults(&loaded.snapshot);
            let is_known = |fault: &Fault| before.iter().any(|known| known.is_same_mistake(fault));
            if !now.iter().all(is_known) {
                self.environments.keep(name, now.clone());
                return Verdict::Kept(now);
            }
        }
        self.environments.serve(name, loaded.snapshot.clone());
        Verdict::Swapped(previous.cloned())
    }
}

/// What to do about watching, for a mode and what has come of it.
impl Reload {
    fn scan_interval(&self, polls: bool) -> Duration {
        match (self.watch, polls) {
            (WatchMode::Off, _) => Duration::from_secs(365 * 86_400),
            (_, true) => Duration::from_millis(self.poll_interval_ms.max(10)),
            (_, false) => Duration::from_secs(self.rescan_interval_s.max(1)),
        }
    }
}
