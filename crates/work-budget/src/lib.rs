#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod meter;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use meter::{charge, charge_bytes, give_up, has_budget, is_spent};

/// How much work may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps: a step takes some ten nanoseconds.
    pub steps: u64,
    /// Bytes of what is made.
    pub bytes: u64,
    /// Time on the clock.
    pub time: Duration,
}

impl Limits {
    /// Whatever it takes.
    pub const NONE: Limits = Limits {
        steps: u64::MAX,
        bytes: u64::MAX,
        time: Duration::MAX,
    };
}

/// Why work ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    /// It takes too many steps.
    #[error("it takes more than {limit} steps")]
    Steps {
        /// The limit.
        limit: u64,
    },
    /// It makes too much.
    #[error("it makes more than {limit} bytes")]
    Bytes {
        /// The limit.
        limit: u64,
    },
    /// It takes too long.
    #[error("it takes longer than {} ms", limit.as_millis())]
    Time {
        /// The limit.
        limit: Duration,
    },
    /// A part of it takes more steps than such a part may.
    #[error("a part of it takes more than {limit} steps")]
    Part {
        /// The limit of such a part.
        limit: u64,
    },
    /// Nobody waits for the result any more.
    #[error("it was cancelled")]
    Cancelled,
}

/// The budget of the thread is spent. The work should end soon; what it returns is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget is spent")]
pub struct Exhausted;

/// Ends work from another thread. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    is_cancelled: Arc<AtomicBool>,
}

impl Cancellation {
    /// Ends the work.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Was the work ended?
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// What is left to spend. The work of several runs can be charged to one budget.
#[derive(Clone, Debug)]
pub struct Budget {
    limits: Limits,
    steps_left: u64,
    bytes_left: u64,
    time_left: Duration,
    cancellation: Option<Cancellation>,
}

impl Budget {
    /// A budget of which nothing is spent.
    #[inline]
    pub fn new(limits: Limits) -> Self {
        Budget {
            limits,
            steps_left: limits.steps,
            bytes_left: limits.bytes,
            time_left: limits.time,
            cancellation: None,
        }
    }

    /// The same, which can also be cancelled.
    pub fn with_cancellation(mut self, cancellation: &Cancellation) -> Self {
        self.cancellation = Some(cancellation.clone());
        self
    }

    /// Runs work on this thread and charges it to this budget alone.
    ///
    /// # Errors
    ///
    /// If the work spent the budget. Its result may be wrong then, and is discarded.
    pub fn run<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Spent> {
        let run = self.start();
        let result = work();
        match run.finish() {
            None => Ok(result),
            Some(spent) => Err(spent),
        }
    }

    /// Charges what this thread does to this budget alone, until the run ends. For large results, which [`Budget::run`]
    /// would move: the caller must discard them if the run says that the budget is spent.
    #[inline]
    pub fn start(&mut self) -> Run<'_> {
        Run {
            outer: meter::enter(self),
            budget: self,
        }
    }

    /// The steps that are spent.
    pub fn steps_spent(&self) -> u64 {
        self.limits.steps - self.steps_left
    }
}

/// Work that is charged to a budget. When it is dropped, the thread has the budget that it had before.
#[derive(Debug)]
pub struct Run<'b> {
    budget: &'b mut Budget,
    outer: meter::Outer,
}

impl Run<'_> {
    /// Ends the run; returns why its budget is spent, if it is.
    #[inline]
    pub fn finish(self) -> Option<Spent> {
        meter::write_down(self.budget)
    }
}

impl Drop for Run<'_> {
    #[inline]
    fn drop(&mut self) {
        self.outer.restore();
    }
}
