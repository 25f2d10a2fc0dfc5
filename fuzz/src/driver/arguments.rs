//! The command line of the driver.

use std::path::PathBuf;
use std::time::Duration;

/// How to call the driver.
pub(super) const USAGE: &str = "\
usage: cargo test -p hierad-fuzz --test mutation -- [options] [target...]
  --target NAME    run this target (all of them unless one is named; may be repeated)
  --seconds N      stop each target after so many seconds
  --runs N         stop each target after so many runs (500 unless --seconds is given)
  --seed N         other inputs for another number (1)
  --max-length N   bytes of the longest input (2048)
  --jobs N         targets to run at the same time (one for each core)
  --input FILE     run this input as it is, and no mutations of it (may be repeated)
";

const DEFAULT_RUNS: u64 = 500;

#[derive(Debug)]
pub(super) struct Arguments {
    targets: Vec<String>,
    seconds: Option<Duration>,
    runs: Option<u64>,
    pub(super) seed: u64,
    pub(super) max_length: usize,
    pub(super) jobs: usize,
    pub(super) inputs: Vec<PathBuf>,
    pub(super) help: bool,
}

impl Arguments {
    pub(super) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Arguments {
            targets: Vec::new(),
            seconds: None,
            runs: None,
            seed: 1,
            max_length: 2048,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            inputs: Vec::new(),
            help: false,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("`{argument}` needs a value"))
            };
            match argument.as_str() {
                "--target" => parsed.targets.push(value()?),
                "--seconds" => parsed.seconds = Some(Duration::from_secs(number(&value()?)?)),
                "--runs" => parsed.runs = Some(number(&value()?)?),
                "--seed" => parsed.seed = number(&value()?)?,
                "--max-length" => parsed.max_length = number(&value()?)?,
                "--jobs" => parsed.jobs = number::<usize>(&value()?)?.max(1),
                "--input" => parsed.inputs.push(value()?.into()),
                "--help" | "-h" => parsed.help = true,
                // `cargo test` hands the options of its usual harness to every test.
                "--nocapture" | "--no-capture" | "--quiet" | "-q" | "--show-output" => {}
                "--test-threads" => _ = value()?,
                _ if argument.starts_with("--test-threads=") => {}
                _ if argument.starts_with('-') => {
                    return Err(format!("unknown option `{argument}`"));
                }
                _ => parsed.targets.push(argument),
            }
        }
        Ok(parsed)
    }

    /// Is a target to be run?
    pub(super) fn names(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|name| name == target)
    }

    /// Has a target been run enough?
    pub(super) fn is_over(&self, runs: u64, elapsed: Duration) -> bool {
        let max_runs = match self.seconds {
            None => Some(self.runs.unwrap_or(DEFAULT_RUNS)),
            Some(_) => self.runs,
        };
        max_runs.is_some_and(|max_runs| runs >= max_runs)
            || self.seconds.is_some_and(|seconds| elapsed >= seconds)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number"))
}
