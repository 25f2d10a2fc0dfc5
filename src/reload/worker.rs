//! [`Worker`]: the main loop of the reload thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use hiera_resolver::Fault;

use super::readers::{Readers, readers_of_directory};
use super::requests::ReloadRequests;
use super::schedule::{Due, PendingReload, Schedule};
use super::watch::Watch;
use super::writers::Writers;
use super::{ReloadCommand, git};
use crate::backoff::Backoff;
use crate::config::{CodeDirectory, ReloadSettings};
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, LoadedEnvironment, NoEnvironments};
use crate::environments::Environments;

/// The delays before an environment is read again after the system failed to read all of it.
const RETRIES: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
/// The entry in [`Worker::retries`] for the directory of all environments. No environment has this name.
const ALL_ENVIRONMENTS: &str = "";

/// The state of the reload thread.
pub(super) struct Worker {
    pub(super) code: CodeDirectory,
    pub(super) environments: Environments,
    pub(super) settings: ReloadSettings,
    /// The environments that are served.
    pub(super) served: LoadedByName,
    /// Loads that are not served because of their faults. Their directories are watched as well, to see the fixes.
    pub(super) rejected: LoadedByName,
    /// The directory of all environments is gone, and this has been logged.
    pub(super) has_lost_environments: bool,
    /// Why the environments cannot be listed.
    pub(super) listing_fault: Option<Fault>,
    pub(super) schedule: Schedule,
    /// The callers that wait for a reload.
    pub(super) requests: ReloadRequests,
    /// The first load of all environments; `None` once it is done.
    pub(super) initial_load: Option<InitialLoad>,
    /// The paths that have changed since directories were last watched.
    pub(super) changed_paths: BTreeSet<PathBuf>,
    /// There may be directories that are not watched yet.
    pub(super) has_new_directories: bool,
    writers: Writers,
    /// The environments that are to be read again because the system failed to read all of them.
    retries: HashMap<String, Backoff>,
    readers: Readers,
    last_scan: Instant,
    watch: Watch,
    commands: Sender<ReloadCommand>,
    received: Receiver<ReloadCommand>,
}

/// The first load of all environments.
pub(super) struct InitialLoad {
    /// The environments that are not loaded yet.
    remaining: BTreeSet<String>,
    pub(super) progress: Progress,
}

impl Worker {
    pub(super) fn new(
        code: CodeDirectory,
        settings: ReloadSettings,
        environments: Environments,
        requests: ReloadRequests,
        (commands, received): (Sender<ReloadCommand>, Receiver<ReloadCommand>),
    ) -> Self {
        Worker {
            served: BTreeMap::new(),
            rejected: BTreeMap::new(),
            has_lost_environments: false,
            listing_fault: None,
            schedule: Schedule::new(settings.quiet_time(), requests.clone()),
            requests,
            writers: Writers::new(settings.write_timeout()),
            initial_load: None,
            changed_paths: BTreeSet::new(),
            has_new_directories: false,
            retries: HashMap::new(),
            readers: Readers::default(),
            last_scan: Instant::now(),
            watch: Watch::new(settings.watch, &code, commands.clone()),
            code,
            environments,
            settings,
            commands,
            received,
        }
    }

    /// Forgets everything but what is served, after a panic. Callers for which a load was started get no outcome.
    pub(super) fn reset(&mut self) {
        self.rejected.clear();
        self.schedule = Schedule::new(self.settings.quiet_time(), self.requests.clone());
        self.writers = Writers::new(self.settings.write_timeout());
        self.readers.clear();
        self.retries.clear();
        self.initial_load = None;
        self.watch = Watch::new(self.settings.watch, &self.code, self.commands.clone());
    }

    /// Loads everything, and then whatever changes.
    pub(super) fn run(&mut self) {
        self.initial_load = Some(InitialLoad {
            remaining: BTreeSet::new(),
            progress: Progress::shown(),
        });
        self.check_everything();
        loop {
            self.receive_commands();
            let next_scan = self.last_scan + self.watch.scan_interval(&self.settings);
            if next_scan <= Instant::now() {
                self.check_everything();
            }
            // Callers alone do not count: a stream of them must not keep new directories from being watched.
            if !self.schedule.has_due_change() && self.finish_round() {
                continue;
            }
            match self.schedule.take_due() {
                Some(Due::Everything) => self.check_everything(),
                Some(Due::Environment(name, pending)) => self.reload(name, pending),
                None => {
                    let due = self.schedule.next_due();
                    let wake_at = due.map_or(next_scan, |due| due.min(next_scan));
                    let timeout = wake_at.saturating_duration_since(Instant::now());
                    match self.received.recv_timeout(timeout) {
                        Ok(command) => self.handle(command),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            }
        }
    }

    /// Schedules all environments, including those that are gone.
    fn check_everything(&mut self) {
        self.last_scan = Instant::now();
        match data_loading::environment_names(&self.code) {
            Ok(names) => {
                self.listing_fault = None;
                self.retries.remove(ALL_ENVIRONMENTS);
                for name in names.iter().chain(self.served.keys()) {
                    self.schedule.add_full(name);
                }
                if let Some(initial_load) = &mut self.initial_load {
                    initial_load.remaining.extend(names);
                }
            }
            Err(fault) => {
                for name in self.served.keys() {
                    self.environments.keep(name, vec![fault.clone()]);
                }
                self.listing_fault = Some(fault);
                let delay = self.retry_delay(ALL_ENVIRONMENTS);
                self.schedule.add_everything_in(delay);
            }
        }
        self.has_new_directories = true;
    }

    /// What is left to do when no change is due. Returns whether that made something due.
    fn finish_round(&mut self) -> bool {
        if self.served.is_empty() {
            let reason = NoEnvironments::in_directory(&self.code);
            self.environments.report_no_environments(&reason);
        }
        let initial_load = self.initial_load.as_ref();
        if initial_load.is_some_and(|initial_load| initial_load.remaining.is_empty()) {
            self.initial_load = None;
            self.environments.set_loaded();
            self.environments.report_reload_recovery();
            if !self.served.is_empty() {
                tracing::info!(
                    environments = self.served.len(),
                    "ready: every environment is loaded"
                );
            }
        }
        std::mem::take(&mut self.has_new_directories) && self.watch_new_directories()
    }

    /// Watches new directories, and schedules the environments that read them, since files may have changed before.
    /// Returns whether there were any.
    fn watch_new_directories(&mut self) -> bool {
        self.watch.forget(&std::mem::take(&mut self.changed_paths));
        let all = self.served.values().chain(self.rejected.values());
        let new = self.watch.follow(&self.code, all.map(Arc::as_ref));
        let mut names = BTreeSet::new();
        for directory in &new {
            let readers =
                readers_of_directory(directory, None, all_loaded(&self.served, &self.rejected));
            if readers.is_empty() {
                self.schedule.add_everything_in(Duration::ZERO);
            }
            names.extend(readers);
        }
        for name in &names {
            self.schedule.add_full(name);
        }
        !new.is_empty()
    }

    /// Handles the commands that have arrived.
    fn receive_commands(&mut self) {
        while let Ok(command) = self.received.try_recv() {
            self.handle(command);
        }
    }

    fn handle(&mut self, command: ReloadCommand) {
        match command {
            ReloadCommand::CheckEverything => self.schedule.add_event_anywhere(),
            ReloadCommand::Requested => self.requests.acknowledge(),
            ReloadCommand::Changed(paths) => self.add_events(paths, Writers::end),
            ReloadCommand::Closed(paths) => self.add_events(paths, Writers::end),
            ReloadCommand::Created(paths) => self.add_events(paths, Writers::create),
            ReloadCommand::Written(paths) => self.add_events(paths, Writers::write),
        }
    }

    fn add_events(&mut self, paths: Vec<PathBuf>, track_writer: impl Fn(&mut Writers, &Path)) {
        for path in paths {
            track_writer(&mut self.writers, &path);
            let all = all_loaded(&self.served, &self.rejected);
            let names = self.readers.of_path(&path, all);
            for name in &names {
                self.schedule.add_event(name, &path);
            }
            if names.is_empty() {
                self.changed_paths.insert(path);
                self.schedule.add_event_anywhere();
            }
        }
    }

    /// The last load of an environment, served or rejected.
    pub(super) fn last_load(&self, name: &str) -> Option<&Arc<LoadedEnvironment>> {
        self.rejected.get(name).or_else(|| self.served.get(name))
    }

    /// Handles the commands that have arrived, and returns whether an environment is scheduled again.
    pub(super) fn is_scheduled_again(&mut self, name: &str) -> bool {
        self.receive_commands();
        self.schedule.has(name)
    }

    /// How long to wait for programs that are writing to files of an environment; `None` if there are none.
    pub(super) fn delay_for_writers(
        &mut self,
        name: &str,
        pending: &PendingReload,
    ) -> Option<Duration> {
        if self.is_git_active(name, pending) {
            return Some(self.settings.quiet_time());
        }
        let last = self.last_load(name)?.clone();
        self.writers.delay(|path| last.may_read(name, path))
    }

    /// Is git about to change more files? It is not waited for forever.
    pub(super) fn is_git_active(&self, name: &str, pending: &PendingReload) -> bool {
        pending.age() < git::MAX_LOCK_AGE
            && (git::is_active(&self.code.root) || git::is_active(&self.code.environment(name)))
    }

    /// An environment has been checked. If the system failed to read all of it, it is checked again after a while,
    /// since the next attempt may succeed without a change on disk.
    pub(super) fn finish_reload(&mut self, name: &str, is_incomplete: bool) {
        self.readers.clear();
        if let Some(initial_load) = &mut self.initial_load {
            initial_load.remaining.remove(name);
        }
        if is_incomplete {
            let delay = self.retry_delay(name);
            self.schedule.add_full_in(name, delay);
        } else {
            self.retries.remove(name);
        }
    }

    fn retry_delay(&mut self, name: &str) -> Duration {
        let backoff = self.retries.entry(name.to_owned()).or_insert(RETRIES);
        backoff.next_delay()
    }
}

type LoadedByName = BTreeMap<String, Arc<LoadedEnvironment>>;

/// The last loads of all environments.
fn all_loaded<'a>(
    served: &'a LoadedByName,
    rejected: &'a LoadedByName,
) -> impl Iterator<Item = (&'a String, &'a LoadedEnvironment)> + Clone {
    let all = served.iter().chain(rejected);
    all.map(|(name, loaded)| (name, loaded.as_ref()))
}

#[cfg(test)]
mod tests;
