//! Runs targets on mutated seeds, on any toolchain. The same seed gives the same inputs.
//!
//! Each input is written to a file before it is run, so that one that aborts the process or never ends is not lost. One
//! that breaks a property is made smaller as long as it fails at the same place, and is kept.

mod arguments;
mod minimize;
mod mutate;
mod one_run;
mod watchdog;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use self::arguments::{Arguments, USAGE};
use self::mutate::Mutator;
use self::one_run::{Failure, Runner};
use self::watchdog::Watchdog;
use crate::{TARGETS, Target};

/// Where inputs come from and where failures go.
#[derive(Clone, Debug)]
pub struct Directories {
    /// Has a directory of seeds for each target.
    pub corpus: PathBuf,
    /// For inputs that are being run and inputs that failed.
    pub output: PathBuf,
}

/// How often progress is shown.
const PROGRESS: Duration = Duration::from_secs(10);

/// Does what the command line asks for.
pub fn run(arguments: impl Iterator<Item = String>, directories: &Directories) -> ExitCode {
    let arguments = match Arguments::parse(arguments) {
        Ok(arguments) if arguments.help => {
            eprint!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(arguments) => arguments,
        Err(problem) => {
            eprint!("{problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    one_run::keep_panics_quiet();
    let targets = TARGETS.iter().filter(|target| arguments.names(target.name));
    let queue: Mutex<VecDeque<&Target>> = Mutex::new(targets.collect());
    let failures = Mutex::new(0_usize);
    let watchdog = Watchdog::start();
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            let worker = || {
                while let Some(target) = lock(&queue).pop_front() {
                    if !run_target(target, &arguments, directories, &watchdog) {
                        *lock(&failures) += 1;
                    }
                }
            };
            // As much room as the server's threads have.
            let builder = std::thread::Builder::new().stack_size(hierad::STACK_SIZE);
            if let Err(error) = builder.spawn_scoped(scope, worker) {
                eprintln!("cannot start a thread: {error}");
                *lock(&failures) += 1;
            }
        }
    });
    match lock(&failures).min(1) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a target; says whether no property was broken.
fn run_target(
    target: &Target,
    arguments: &Arguments,
    directories: &Directories,
    watchdog: &Watchdog,
) -> bool {
    let prepared = std::fs::create_dir_all(&directories.output)
        .and_then(|()| Runner::new(target, &directories.output, watchdog))
        .and_then(|runner| Ok((runner, inputs(target, arguments, &directories.corpus)?)));
    let (mut runner, inputs) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            eprintln!("{}: {error}", target.name);
            return false;
        }
    };
    let failure = mutate(&mut runner, target, arguments, inputs);
    eprintln!(
        "{}: {} runs in {:.1} s, seed {}",
        target.name,
        runner.runs,
        runner.start.elapsed().as_secs_f64(),
        arguments.seed,
    );
    match failure {
        None => true,
        Some(failure) => {
            let failure = minimize::minimize(&mut runner, failure);
            report(target, &failure, &directories.output);
            false
        }
    }
}

/// The inputs to start from: those that were named, or the seeds of the target.
fn inputs(target: &Target, arguments: &Arguments, corpus: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    if !arguments.inputs.is_empty() {
        return arguments.inputs.iter().map(std::fs::read).collect();
    }
    let entries = std::fs::read_dir(corpus.join(target.name))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    // The system lists files in any order, and the same seed must give the same inputs.
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

/// Runs the inputs as they are, then mutations of them until time or runs are over.
fn mutate(
    runner: &mut Runner<'_>,
    target: &Target,
    arguments: &Arguments,
    inputs: Vec<Vec<u8>>,
) -> Option<Failure> {
    for input in &inputs {
        if let Some(failure) = runner.run(input) {
            return Some(failure);
        }
    }
    if !arguments.inputs.is_empty() {
        return None;
    }
    let mut mutator = Mutator::new(inputs, target.dictionary, arguments);
    let mut shown = Instant::now();
    while !arguments.is_over(runner.runs, runner.start.elapsed()) {
        if let Some(failure) = runner.run(mutator.next()) {
            return Some(failure);
        }
        if shown.elapsed() >= PROGRESS {
            eprintln!("{}: {} runs so far", target.name, runner.runs);
            shown = Instant::now();
        }
    }
    None
}

/// Keeps the input, and says how to run it again.
fn report(target: &Target, failure: &Failure, output: &Path) {
    let name = target.name;
    let path = output.join(format!("{name}.failure"));
    eprintln!("FAILED {name}: {}", failure.message);
    eprintln!("  at {}", failure.location);
    eprintln!("  input: \"{}\"", failure.input.escape_ascii());
    match std::fs::write(&path, &failure.input) {
        Ok(()) => eprintln!(
            "  again: cargo test -p hierad-fuzz --test mutation -- --target {name} --input {}",
            path.display()
        ),
        Err(error) => eprintln!("  cannot be kept in `{}`: {error}", path.display()),
    }
}
