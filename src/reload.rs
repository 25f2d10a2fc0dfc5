//! Reloading: changes on disk → new snapshots, or the old ones and why.
//!
//! One thread does all of it, so there is only one load at a time, and changes that come meanwhile are collected for the
//! next one. File events (`watch`) schedule the environments that read the changed paths (`readers`, `schedule`), each
//! with its own quiet time; files that are being written are waited for (`writers`, `git`). Callers that want a reload
//! now share one for each environment (`requests`). A due environment is loaded while the old snapshot is served (`reload_environment`), and then swapped as a whole or kept (`swap`). `worker` is
//! the main loop, `supervisor` restarts it if it panics.

mod git;
mod readers;
mod reload_environment;
mod requests;
mod schedule;
mod supervisor;
mod swap;
mod watch;
mod worker;
mod writers;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use hiera_resolver::Fault;

use self::requests::ReloadRequests;
use self::worker::Worker;
use crate::config::{CodeDirectory, ReloadSettings, is_environment_name};
use crate::data_loading::FileChanges;
use crate::environments::Environments;

/// The outcome of a reload.
#[derive(Debug)]
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
    requests: ReloadRequests,
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
    /// There are new callers that want a reload.
    Requested,
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
            requests: ReloadRequests::default(),
        };
        let mut worker = Worker::new(
            code,
            settings,
            environments.clone(),
            reloader.requests.clone(),
            (commands, received),
        );
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

    /// Loads an environment after this call, and returns the outcome. `None` if the reload thread failed meanwhile.
    ///
    /// Callers that wait for the same environment share a load. A caller that drops this before its load starts is
    /// forgotten.
    pub(crate) async fn reload(&self, environment: &str) -> Option<Arc<ReloadOutcome>> {
        if !is_environment_name(environment) {
            return Some(Arc::new(ReloadOutcome::Gone));
        }
        let caller = self.requests.join(environment, || {
            // Fails if the thread is gone, which /readyz reports.
            _ = self.commands.send(ReloadCommand::Requested);
        });
        caller.outcome().await
    }

    /// Reloads every environment, including new ones. The outcome is logged.
    pub(crate) fn reload_all(&self) {
        // Fails if the thread is gone, which /readyz reports.
        _ = self.commands.send(ReloadCommand::CheckEverything);
    }
}
