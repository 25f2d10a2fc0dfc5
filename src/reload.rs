//! Reloading: changes on disk → new snapshots, or the old ones and why.
//!
//! One thread does all of it, so there is only one load at a time, and changes that come meanwhile are collected for the
//! next one. File events (`watch`) schedule the environments that read the changed paths (`readers`, `schedule`), each
//! with its own quiet time; files that are being written are waited for (`writers`, `git`). A due environment is loaded
//! while the old snapshot is served (`reload_environment`), and then swapped as a whole or kept (`swap`). `worker` is
//! the main loop, `supervisor` restarts it if it panics.

mod backoff;
mod git;
mod readers;
mod reload_environment;
mod schedule;
mod supervisor;
mod swap;
mod watch;
mod worker;
mod writers;

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use hiera_resolver::Fault;
use tokio::sync::oneshot;

use self::worker::Worker;
use crate::config::{CodeDirectory, ReloadSettings};
use crate::data_loading::FileChanges;
use crate::environments::Environments;

/// The outcome of a reload.
#[derive(Clone, Debug)]
pub(crate) enum ReloadOutcome {
    /// The data has not changed.
    Unchanged {
        /// The revision that is served.
        revision: String,
    },
    /// A new snapshot is served.
    Swapped {
        /// Its revision.
        revision: String,
        /// The files that differ.
        changes: FileChanges,
    },
    /// The old snapshot is kept, because the new one has faults that the old one does not have.
    Kept {
        /// The revision that is served.
        revision: String,
        /// All faults of the new snapshot.
        faults: Vec<Fault>,
    },
    /// There is no such environment, or it is gone.
    Gone,
}

/// A handle to the reload thread. Clones share the thread.
#[derive(Clone, Debug)]
pub(crate) struct Reloader {
    commands: Sender<ReloadCommand>,
}

/// A command to the reload thread.
#[derive(Debug)]
enum ReloadCommand {
    /// These paths have changed.
    Changed(Vec<PathBuf>),
    /// These files were created, and are probably still open.
    Created(Vec<PathBuf>),
    /// These files were written to, and are still open.
    Written(Vec<PathBuf>),
    /// These files were closed after writing.
    Closed(Vec<PathBuf>),
    /// Something has changed, and it is unknown where.
    CheckEverything,
    /// Reload this environment now, and send the outcome.
    Reload(String, oneshot::Sender<ReloadOutcome>),
}

impl Reloader {
    /// Starts the thread, which loads everything and then whatever changes.
    pub(crate) fn start(
        code: CodeDirectory,
        settings: ReloadSettings,
        environments: Environments,
    ) -> std::io::Result<Self> {
        let (commands, received) = channel();
        let reloader = Reloader {
            commands: commands.clone(),
        };
        let mut worker = Worker::new(code, settings, environments.clone(), (commands, received));
        let work = move |restarts| {
            if restarts > 0 {
                worker.reset();
            }
            worker.run();
        };
        std::thread::Builder::new()
            .name("reload".to_owned())
            .stack_size(crate::STACK_SIZE)
            .spawn(move || supervisor::supervise(work, || environments.report_reload_failure()))?;
        Ok(reloader)
    }

    /// Reloads an environment now. `None` if the reload thread failed meanwhile.
    pub(crate) async fn reload(&self, environment: &str) -> Option<ReloadOutcome> {
        let (reply, outcome) = oneshot::channel();
        self.commands
            .send(ReloadCommand::Reload(environment.to_owned(), reply))
            .ok()?;
        outcome.await.ok()
    }

    /// Reloads every environment, including new ones. The outcome is logged.
    pub(crate) fn reload_all(&self) {
        // Fails if the thread is gone, which /readyz reports.
        _ = self.commands.send(ReloadCommand::CheckEverything);
    }
}
