//! One input through a target: what it says, and how long it takes.

use std::any::Any;
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::watchdog::Watchdog;
use crate::Target;

/// An input that takes more processor time breaks the property that everything is bounded. Inputs are small, and most take
/// less than a millisecond even without optimization.
const MAX_TIME: Duration = Duration::from_secs(5);

/// An input that breaks a property.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) input: Vec<u8>,
    pub(super) message: String,
    /// The line of code that panicked; what makes two failures the same.
    pub(super) location: String,
}

thread_local! {
    /// Where the last panic of this thread was.
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes where a panic is instead of printing it: making a failure smaller causes hundreds of them.
pub(super) fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string);
        LOCATION.with(|last| *last.borrow_mut() = location.unwrap_or_default());
    }));
}

/// Runs inputs through one target.
pub(super) struct Runner<'a> {
    check: fn(&[u8]),
    /// Holds the input that is being run.
    in_flight: File,
    watchdog: &'a Watchdog,
    name: &'static str,
    pub(super) runs: u64,
    pub(super) start: Instant,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        target: &Target,
        output: &Path,
        watchdog: &'a Watchdog,
    ) -> std::io::Result<Self> {
        Ok(Runner {
            check: target.check,
            in_flight: File::create(output.join(format!("{}.running", target.name)))?,
            watchdog,
            name: target.name,
            runs: 0,
            start: Instant::now(),
        })
    }

    /// Runs one input.
    pub(super) fn run(&mut self, input: &[u8]) -> Option<Failure> {
        self.runs += 1;
        let start = time_of(ClockId::ThreadCPUTime);
        let failure = self.attempt(input);
        let elapsed = time_of(ClockId::ThreadCPUTime).saturating_sub(start);
        if failure.is_some() || elapsed < MAX_TIME {
            return failure;
        }
        Some(Failure {
            input: input.to_vec(),
            message: format!("it takes {:.1} s", elapsed.as_secs_f64()),
            location: "the clock".to_owned(),
        })
    }

    fn attempt(&self, input: &[u8]) -> Option<Failure> {
        // Best effort: without the file an abort only leaves less to look at.
        let kept = self.in_flight.write_all_at(input, 0);
        let length = u64::try_from(input.len()).unwrap_or(u64::MAX);
        if kept.and_then(|()| self.in_flight.set_len(length)).is_err() {
            eprintln!("{}: cannot write the file of the running input", self.name);
        }
        let watched = self.watchdog.watch(self.name);
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.check)(input)));
        drop(watched);
        let panic = outcome.err()?;
        Some(Failure {
            input: input.to_vec(),
            message: text_of(&*panic),
            location: LOCATION.with(|last| last.borrow().clone()),
        })
    }
}

/// Processor time that has been used so far.
pub(super) fn time_of(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}
