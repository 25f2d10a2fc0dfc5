//! The budget of the current thread, in a form that is cheap to charge.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use super::{Budget, Cancellation, Exhausted, Spent};

/// Steps between two looks at the clock: some tens of microseconds.
const INTERVAL: u64 = 4096;

/// What charges change. Nothing in it has to be dropped, so that it is reached without a check.
struct Meter {
    /// Steps until the clock is looked at.
    steps: Cell<u64>,
    /// Steps after that.
    further_steps: Cell<u64>,
    bytes: Cell<u64>,
    /// `None`: no limit.
    deadline: Cell<Option<Instant>>,
    reason: Cell<Reason>,
}

/// Whether there is a budget, and why it is spent.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// There is none.
    Unlimited,
    /// Something is left.
    NotSpent,
    Steps,
    Bytes,
    Time,
    Cancelled,
    /// Steps of one part of the work, with the limit.
    Part(u64),
}

thread_local! {
    static METER: Meter = const { Meter {
        steps: Cell::new(u64::MAX),
        further_steps: Cell::new(u64::MAX),
        bytes: Cell::new(u64::MAX),
        deadline: Cell::new(None),
        reason: Cell::new(Reason::Unlimited),
    } };
    static CANCELLATION: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

/// Charges steps.
///
/// # Errors
///
/// If the budget is spent.
#[inline]
pub fn charge(steps: u64) -> Result<(), Exhausted> {
    METER.with(|meter| match meter.steps.get().checked_sub(steps) {
        Some(left) => {
            meter.steps.set(left);
            Ok(())
        }
        None => meter.look(steps),
    })
}

/// Charges bytes of what is made: texts, values, replies.
///
/// # Errors
///
/// If the budget is spent.
#[inline]
pub fn charge_bytes(bytes: usize) -> Result<(), Exhausted> {
    METER.with(|meter| match meter.bytes.get().checked_sub(bytes as u64) {
        Some(left) => {
            meter.bytes.set(left);
            Ok(())
        }
        None => meter.end(Reason::Bytes),
    })
}

/// Does the thread have a budget?
#[inline]
pub fn has_budget() -> bool {
    METER.with(|meter| !matches!(meter.reason.get(), Reason::Unlimited))
}

/// Is the budget of the thread spent?
#[inline]
pub fn is_spent() -> bool {
    METER.with(|meter| !matches!(meter.reason.get(), Reason::Unlimited | Reason::NotSpent))
}

/// Spends the budget, since a part of the work exceeds a limit of steps of its own.
#[cold]
pub fn give_up(limit: u64) {
    METER.with(|meter| _ = meter.end(Reason::Part(limit)));
}

impl Meter {
    /// Looks at the clock and the cancellation, and goes on with the next interval.
    #[cold]
    fn look(&self, steps: u64) -> Result<(), Exhausted> {
        let missing = steps - self.steps.get();
        let Some(left) = self.further_steps.get().checked_sub(missing) else {
            return self.end(Reason::Steps);
        };
        if self.deadline.get().is_some_and(|end| Instant::now() >= end) {
            return self.end(Reason::Time);
        }
        let is_cancelled =
            |token: &Option<Cancellation>| token.as_ref().is_some_and(Cancellation::is_cancelled);
        if CANCELLATION.with_borrow(is_cancelled) {
            return self.end(Reason::Cancelled);
        }
        let next = left.min(INTERVAL);
        self.steps.set(next);
        self.further_steps.set(left - next);
        Ok(())
    }

    /// Spends what is left. The first reason stays. Without a budget, the work goes on.
    #[cold]
    fn end(&self, reason: Reason) -> Result<(), Exhausted> {
        match self.reason.get() {
            Reason::Unlimited => return Ok(()),
            Reason::NotSpent => self.reason.set(reason),
            _ => {}
        }
        self.steps.set(0);
        self.further_steps.set(0);
        self.bytes.set(0);
        Err(Exhausted)
    }
}

/// The budget that the thread had before a run.
#[derive(Debug)]
pub(super) struct Outer {
    steps: u64,
    further_steps: u64,
    bytes: u64,
    deadline: Option<Instant>,
    reason: Reason,
    /// `None` if the run has none of its own.
    cancellation: Option<Option<Cancellation>>,
}

/// Makes a budget that of the thread.
#[inline]
pub(super) fn enter(budget: &Budget) -> Outer {
    let first = budget.steps_left.min(INTERVAL);
    let has_end = budget.time_left != Duration::MAX;
    let deadline = has_end.then(|| Instant::now() + budget.time_left);
    let token = budget.cancellation.as_ref();
    METER.with(|meter| Outer {
        steps: meter.steps.replace(first),
        further_steps: meter.further_steps.replace(budget.steps_left - first),
        bytes: meter.bytes.replace(budget.bytes_left),
        deadline: meter.deadline.replace(deadline),
        reason: meter.reason.replace(Reason::NotSpent),
        cancellation: token.map(|token| CANCELLATION.replace(Some(token.clone()))),
    })
}

/// Writes down what is left; returns why the budget is spent, if it is.
#[inline]
pub(super) fn write_down(budget: &mut Budget) -> Option<Spent> {
    METER.with(|meter| {
        budget.steps_left = meter.steps.get() + meter.further_steps.get();
        budget.bytes_left = meter.bytes.get();
        if let Some(end) = meter.deadline.get() {
            budget.time_left = end.saturating_duration_since(Instant::now());
        }
        let limits = &budget.limits;
        Some(match meter.reason.get() {
            Reason::Unlimited | Reason::NotSpent => return None,
            Reason::Steps => Spent::Steps {
                limit: limits.steps,
            },
            Reason::Bytes => Spent::Bytes {
                limit: limits.bytes,
            },
            Reason::Time => Spent::Time { limit: limits.time },
            Reason::Cancelled => Spent::Cancelled,
            Reason::Part(limit) => Spent::Part { limit },
        })
    })
}

impl Outer {
    #[inline]
    pub(super) fn restore(&mut self) {
        METER.with(|meter| {
            meter.steps.set(self.steps);
            meter.further_steps.set(self.further_steps);
            meter.bytes.set(self.bytes);
            meter.deadline.set(self.deadline);
            meter.reason.set(self.reason);
        });
        if let Some(outer) = self.cancellation.take() {
            CANCELLATION.set(outer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    const SMALL: Limits = Limits {
        steps: 10_000,
        bytes: 100,
        time: Duration::MAX,
    };

    #[test]
    fn all_steps_can_be_spent_and_not_one_more() {
        let mut budget = Budget::new(SMALL);
        assert_eq!(budget.run(|| charge(4_000)), Ok(Ok(())));
        assert_eq!(budget.run(|| charge(6_000)), Ok(Ok(())));
        assert_eq!(budget.steps_spent(), 10_000);
        let spent = Spent::Steps { limit: 10_000 };
        assert_eq!(budget.run(|| charge(1)), Err(spent));
    }

    #[test]
    fn once_spent_every_charge_fails_and_the_result_is_discarded() {
        let limit = Spent::Bytes { limit: 100 };
        let result = Budget::new(SMALL).run(|| {
            assert_eq!(charge_bytes(100), Ok(()));
            assert_eq!(charge_bytes(1), Err(Exhausted));
            assert_eq!(charge(1), Err(Exhausted));
            assert!(is_spent());
            "an answer"
        });
        assert_eq!(result, Err(limit));
        assert_eq!((charge(u64::MAX / 2), is_spent()), (Ok(()), false));
        give_up(7);
        assert_eq!((charge(u64::MAX), has_budget()), (Ok(()), false));
    }

    #[test]
    fn time_and_cancellation_end_a_loop() {
        let forever = || while charge(100).is_ok() {};
        let limits = Limits {
            time: Duration::from_millis(5),
            ..Limits::NONE
        };
        let limit = limits.time;
        assert_eq!(Budget::new(limits).run(forever), Err(Spent::Time { limit }));
        let token = Cancellation::default();
        token.cancel();
        let mut budget = Budget::new(Limits::NONE).with_cancellation(&token);
        assert_eq!(budget.run(forever), Err(Spent::Cancelled));
    }

    #[test]
    fn an_inner_budget_leaves_the_outer_one_alone_even_if_it_panics() {
        let mut outer = Budget::new(SMALL);
        let result = outer.run(|| {
            let inner = Budget::new(SMALL).run(|| charge(20_000));
            let panicked =
                std::panic::catch_unwind(|| Budget::new(SMALL).run(|| panic!("on purpose")));
            (inner.is_err(), panicked.is_err(), charge(1))
        });
        assert_eq!(result, Ok((true, true, Ok(()))));
        assert_eq!(outer.steps_spent(), 1);
    }
}
