//! [`Worker`]: what the thread that reloads does, one thing after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::agenda::{Agenda, Change, Due};
use super::watch::Watch;
use super::writers::Writers;
use super::{Command, git};
use crate::config::{CodeDirectory, ReloadSettings};
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, Fault, FileFingerprint, LoadedEnvironment, NoEnvironments};
use crate::environments::Environments;

/// Times after which a load that the system kept from reading everything is tried again: twice as long each time.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

pub(super) struct Worker {
    pub(super) code: CodeDirectory,
    pub(super) environments: Environments,
    pub(super) settings: ReloadSettings,
    /// What is served.
    pub(super) loaded: BTreeMap<String, Arc<LoadedEnvironment>>,
    /// What is not served because of its faults. It is followed all the same: that is where they are fixed.
    pub(super) kept_back: BTreeMap<String, Arc<LoadedEnvironment>>,
    /// All environments are gone from the disk, which has been logged.
    pub(super) is_bereft: bool,
    /// Why it is not known which environments there are.
    pub(super) listing_fault: Option<Fault>,
    pub(super) agenda: Agenda,
    pub(super) writers: Writers,
    /// The first round of loads; `None` once all environments have been loaded.
    pub(super) start: Option<Start>,
    /// Where something moved since directories were last watched.
    pub(super) moved: BTreeSet<PathBuf>,
    /// There may be directories that are not watched yet.
    pub(super) has_new_directories: bool,
    /// How long to wait before the next retry of each environment that has one.
    retries: HashMap<String, Duration>,
    /// The environments that read a directory. Forgotten when one is loaded.
    readers: HashMap<PathBuf, BTreeSet<String>>,
    last_scan: Instant,
    watch: Watch,
    commands: Sender<Command>,
    received: Receiver<Command>,
}

/// The first round of loads.
pub(super) struct Start {
    /// The environments that are not loaded yet.
    left: BTreeSet<String>,
    pub(super) progress: Progress,
}

impl Worker {
    pub(super) fn new(
        code: CodeDirectory,
        settings: ReloadSettings,
        environments: Environments,
        (commands, received): (Sender<Command>, Receiver<Command>),
    ) -> Self {
        Worker {
            loaded: BTreeMap::new(),
            kept_back: BTreeMap::new(),
            is_bereft: false,
            listing_fault: None,
            agenda: Agenda::new(settings.quiet_time()),
            writers: Writers::new(settings.write_timeout()),
            start: None,
            moved: BTreeSet::new(),
            has_new_directories: false,
            retries: HashMap::new(),
            readers: HashMap::new(),
            last_scan: Instant::now(),
            watch: Watch::new(settings.watch, &code, commands.clone()),
            code,
            environments,
            settings,
            commands,
            received,
        }
    }

    /// Forgets everything but what is served, where something went wrong in the middle of it. Whoever waits for an answer
    /// gets none.
    pub(super) fn forget_work(&mut self) {
        self.kept_back.clear();
        self.agenda = Agenda::new(self.settings.quiet_time());
        self.writers = Writers::new(self.settings.write_timeout());
        self.readers.clear();
        self.retries.clear();
        self.start = None;
        self.watch = Watch::new(self.settings.watch, &self.code, self.commands.clone());
    }

    /// Loads everything, and then whatever changes.
    pub(super) fn run(&mut self) {
        self.start = Some(Start {
            left: BTreeSet::new(),
            progress: Progress::shown(),
        });
        self.look_at_everything();
        loop {
            while let Ok(command) = self.received.try_recv() {
                self.note(command);
            }
            let scan = self.last_scan + self.watch.interval(&self.settings);
            if scan <= Instant::now() {
                self.look_at_everything();
            }
            match self.agenda.take_due() {
                Some(Due::Everything) => self.look_at_everything(),
                Some(Due::Environment(name, change)) => self.look_at(name, change),
                None if self.end_round() => {}
                None => {
                    let next = self.agenda.next_due().map_or(scan, |due| due.min(scan));
                    let patience = next.saturating_duration_since(Instant::now());
                    match self.received.recv_timeout(patience) {
                        Ok(command) => self.note(command),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            }
        }
    }

    /// Puts all environments on the agenda, those that are gone included.
    fn look_at_everything(&mut self) {
        self.last_scan = Instant::now();
        match data_loading::environment_names(&self.code) {
            Ok(names) => {
                self.listing_fault = None;
                self.retries.remove("");
                for name in names.iter().chain(self.loaded.keys()) {
                    self.agenda.add_whole(name);
                }
                if let Some(start) = &mut self.start {
                    start.left.extend(names);
                }
            }
            Err(fault) => {
                for name in self.loaded.keys() {
                    self.environments.keep(name, vec![fault.clone()]);
                }
                self.listing_fault = Some(fault);
                let delay = self.retry_delay("");
                self.agenda.add_everything_in(delay);
            }
        }
        self.has_new_directories = true;
    }

    /// What is left to do when nothing is due. Says whether that made something due.
    fn end_round(&mut self) -> bool {
        if self.loaded.is_empty() {
            let reason = NoEnvironments::in_directory(&self.code);
            self.environments.report_no_environments(&reason);
        }
        if self
            .start
            .as_ref()
            .is_some_and(|start| start.left.is_empty())
        {
            self.start = None;
            self.environments.set_loaded();
            self.environments.report_reload_recovery();
            if !self.loaded.is_empty() {
                tracing::info!(
                    environments = self.loaded.len(),
                    "ready: every environment is loaded"
                );
            }
        }
        std::mem::take(&mut self.has_new_directories) && self.watch_new_directories()
    }

    /// Watches new directories. What came into them before has to be looked for: says whether there were any.
    fn watch_new_directories(&mut self) -> bool {
        self.watch.forget(&std::mem::take(&mut self.moved));
        let all = self.loaded.values().chain(self.kept_back.values());
        let new = self.watch.follow(&self.code, all.map(Arc::as_ref));
        let mut readers = BTreeSet::new();
        for directory in &new {
            if !add_readers(self.read(), directory, None, &mut readers) {
                self.agenda.add_everything_in(Duration::ZERO);
            }
        }
        for name in &readers {
            self.agenda.add_whole(name);
        }
        !new.is_empty()
    }

    fn note(&mut self, command: Command) {
        match command {
            Command::Lost => self.agenda.add_event_anywhere(),
            Command::Now(environment, reply) => self.agenda.ask(&environment, reply),
            Command::Changed(paths) => self.note_paths(paths, Writers::end),
            Command::Closed(paths) => self.note_paths(paths, Writers::end),
            Command::Created(paths) => self.note_paths(paths, Writers::create),
            Command::Written(paths) => self.note_paths(paths, Writers::write),
        }
    }

    fn note_paths(&mut self, paths: Vec<PathBuf>, note: impl Fn(&mut Writers, &Path)) {
        for path in paths {
            note(&mut self.writers, &path);
            match self.readers_of(&path) {
                Some(names) => {
                    for name in names {
                        self.agenda.add_event(&name, &path);
                    }
                }
                None => {
                    self.moved.insert(path);
                    self.agenda.add_event_anywhere();
                }
            }
        }
    }

    /// The environments that a path belongs to; `None` where that cannot be said.
    fn readers_of(&mut self, path: &Path) -> Option<BTreeSet<String>> {
        let parent = path.parent()?;
        let mut names = match self.readers.get(parent) {
            Some(names) => names.clone(),
            None => {
                // Links lead to one directory by several names, and an event has only one of them.
                let identity =
                    FileFingerprint::of(parent).map(|fingerprint| fingerprint.identity());
                let mut names = BTreeSet::new();
                add_readers(self.read(), parent, identity, &mut names);
                self.readers.insert(parent.to_owned(), names.clone());
                names
            }
        };
        add_readers(self.read(), path, None, &mut names);
        (!names.is_empty()).then_some(names)
    }

    /// Everything that was read last, served or not.
    fn read(&self) -> impl Iterator<Item = (&String, &LoadedEnvironment)> {
        let all = self.loaded.iter().chain(&self.kept_back);
        all.map(|(name, loaded)| (name, loaded.as_ref()))
    }

    /// What was read last of an environment, served or not.
    pub(super) fn last_read(&self, name: &str) -> Option<&Arc<LoadedEnvironment>> {
        self.kept_back.get(name).or_else(|| self.loaded.get(name))
    }

    /// Receives what has come meanwhile, and says whether some of it is about this environment.
    pub(super) fn has_moved_meanwhile(&mut self, name: &str) -> bool {
        while let Ok(command) = self.received.try_recv() {
            self.note(command);
        }
        self.agenda.has(name)
    }

    /// How long to wait for those who are at work in an environment; `None` where nobody is.
    pub(super) fn wait_for_others(&mut self, name: &str, change: &Change) -> Option<Duration> {
        if self.is_git_at_work(name, change) {
            return Some(self.settings.quiet_time());
        }
        let last = self.last_read(name)?.clone();
        self.writers.wait(|path| last.may_read(name, path))
    }

    /// Is git about to change more? It is not waited for forever.
    pub(super) fn is_git_at_work(&self, name: &str, change: &Change) -> bool {
        change.age() < git::LOCK_PATIENCE
            && (git::is_at_work(&self.code.root) || git::is_at_work(&self.code.environment(name)))
    }

    /// An environment has been looked at. Where the system failed, it is looked at again after a while, although nothing
    /// may move until then.
    pub(super) fn end_look(&mut self, name: &str, is_incomplete: bool) {
        self.readers.clear();
        if let Some(start) = &mut self.start {
            start.left.remove(name);
        }
        if is_incomplete {
            let delay = self.retry_delay(name);
            self.agenda.add_whole_in(name, delay);
        } else {
            self.retries.remove(name);
        }
    }

    /// How long to wait before the next retry. All environments together are the one without a name.
    fn retry_delay(&mut self, name: &str) -> Duration {
        let next = self.retries.entry(name.to_owned()).or_insert(FIRST_RETRY);
        let delay = *next;
        *next = (delay * 2).min(LAST_RETRY);
        delay
    }
}

/// Adds the environments that read a directory, and says whether there are any.
fn add_readers<'a>(
    all: impl Iterator<Item = (&'a String, &'a LoadedEnvironment)>,
    directory: &Path,
    identity: Option<(u64, u64)>,
    names: &mut BTreeSet<String>,
) -> bool {
    let mut is_read = false;
    for (name, loaded) in all {
        if loaded.reads_directory(directory, identity) {
            names.insert(name.clone());
            is_read = true;
        }
    }
    is_read
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use tokio::sync::oneshot;

    use super::*;
    use crate::config::{CodeArgs, Settings};
    use crate::reload::supervisor::supervise;
    use crate::reload::{ReloadOutcome, Reloader};

    /// A code directory with one file of data.
    fn settings(root: &Path) -> Settings {
        let data = root.join("environments/production/data");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(data.join("../hiera.yaml"), "version: 5\n").unwrap();
        std::fs::write(data.join("common.yaml"), "k: 1\n").unwrap();
        let arguments = CodeArgs {
            codedir: Some(root.to_owned()),
            ..CodeArgs::default()
        };
        arguments.settings().unwrap()
    }

    #[test]
    fn a_thread_that_failed_goes_on_with_what_is_served() {
        let root = tempfile::tempdir().unwrap();
        let settings = settings(root.path());
        let code = settings.code_directory().unwrap();
        let environments = Environments::new();
        let (commands, received) = channel();
        let reloader = Reloader {
            commands: commands.clone(),
        };
        let mut worker = Worker::new(
            code,
            settings.reload,
            environments.clone(),
            (commands, received),
        );
        let failing = environments.clone();
        std::thread::spawn(move || {
            let work = |restarts| {
                if restarts > 0 {
                    worker.forget_work();
                    worker.run();
                }
                // The first run ends in the middle of its work, with someone waiting.
                worker.start = None;
                worker.look_at_everything();
                while let Some(Due::Environment(name, change)) = worker.agenda.take_due() {
                    worker.look_at(name, change);
                }
                let (reply, _answer) = oneshot::channel();
                worker.agenda.ask("production", reply);
                std::panic::resume_unwind(Box::new("as the test wants it"));
            };
            supervise(work, || {
                failing.report_reload_failure();
                // Data with a fault must not take the place of what is served, failure or not.
                let data = root.path().join("environments/production/data/common.yaml");
                std::fs::write(data, "k: [\n").unwrap();
            });
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let outcome = runtime.unwrap().block_on(reloader.reload("production"));
        assert!(
            matches!(outcome, Some(ReloadOutcome::Kept { .. })),
            "{outcome:?}"
        );
        assert_eq!(environments.reload_failures(), 1);
        while environments.has_reload_failed() {
            std::thread::yield_now();
        }
    }
}
