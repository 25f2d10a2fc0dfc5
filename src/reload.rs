//! Reloading: changes on disk → new snapshots, or the old ones and why.
//!
//! One thread does all of it, so that there is never more than one load at a time and what happens meanwhile is gathered
//! for the next. File events (`reload/watch.rs`) put environments on an agenda (`reload/agenda.rs`), each with a quiet
//! time of its own; files that are still being written are waited for (`reload/writers.rs`). When an environment is due,
//! it is loaded beside what is served, and swapped as a whole or kept (`reload/loading.rs`).

mod agenda;
mod git;
mod loading;
mod supervisor;
mod watch;
mod worker;
mod writers;

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use self::worker::Worker;
use crate::config::{CodeDirectory, ReloadSettings};
use crate::data_loading::{Fault, FileChanges};
use crate::environments::Environments;

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
        changes: FileChanges,
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

/// Asks the thread that reloads. Clones ask the same one.
#[derive(Clone, Debug)]
pub(crate) struct Reloader {
    commands: Sender<Command>,
}

#[derive(Debug)]
enum Command {
    /// Something changed at these paths.
    Changed(Vec<PathBuf>),
    /// These files were made, by a program that has them open most likely.
    Created(Vec<PathBuf>),
    /// Data was written to these files, which are still open.
    Written(Vec<PathBuf>),
    /// These files were closed by a program that could write to them.
    Closed(Vec<PathBuf>),
    /// Something changed, and it is not known where.
    Lost,
    /// Reload this environment now, and say what came of it.
    Now(String, oneshot::Sender<ReloadOutcome>),
}

impl Reloader {
    /// Starts the thread: it loads everything, says so, and then follows what changes.
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
                worker.forget_work();
            }
            worker.run();
        };
        std::thread::Builder::new()
            .name("reload".to_owned())
            .stack_size(crate::STACK_SIZE)
            .spawn(move || supervisor::supervise(work, || environments.report_reload_failure()))?;
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
