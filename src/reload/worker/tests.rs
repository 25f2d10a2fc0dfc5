use std::sync::mpsc::channel;

use super::*;
use crate::config::{CodeArgs, Settings};
use crate::reload::supervisor::supervise;
use crate::reload::{ReloadOutcome, Reloader};

/// The settings for a code directory with one data file.
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
fn a_restarted_worker_continues_with_the_served_data() {
    let root = tempfile::tempdir().unwrap();
    let settings = settings(root.path());
    let code = settings.code_directory().unwrap();
    let environments = Environments::new();
    let (commands, received) = channel();
    let reloader = Reloader {
        commands: commands.clone(),
        requests: ReloadRequests::default(),
    };
    let mut worker = Worker::new(
        code,
        settings.reload,
        environments.clone(),
        reloader.requests.clone(),
        (commands, received),
    );
    let failing = environments.clone();
    let requests = reloader.requests.clone();
    let (started, interrupted) = channel();
    std::thread::spawn(move || {
        let work = |restarts| {
            if restarts > 0 {
                worker.reset();
                worker.run();
            }
            // The first run panics in the middle of its work, with a caller waiting.
            worker.initial_load = None;
            worker.check_everything();
            while let Some(Due::Environment(name, pending)) = worker.schedule.take_due() {
                worker.reload(name, pending);
            }
            started.send(requests.join("production", || {})).unwrap();
            let due = worker.schedule.take_due();
            let Some(Due::Environment(name, mut pending)) = due else {
                panic!("{due:?} is due");
            };
            pending.start(requests.take(&name));
            std::panic::resume_unwind(Box::new("this panic is part of the test"));
        };
        supervise(work, || {
            failing.report_reload_failure();
            // Data with a fault must not replace the served data, also after a restart.
            let data = root.path().join("environments/production/data/common.yaml");
            std::fs::write(data, "k: [\n").unwrap();
        });
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.unwrap();
    let interrupted = interrupted.recv().unwrap();
    assert!(runtime.block_on(interrupted.outcome()).is_none());
    let outcome = runtime.block_on(reloader.reload("production"));
    assert!(
        matches!(outcome.as_deref(), Some(ReloadOutcome::Kept { .. })),
        "{outcome:?}"
    );
    assert_eq!(environments.reload_failures(), 1);
    while environments.has_reload_failed() {
        std::thread::yield_now();
    }
}
