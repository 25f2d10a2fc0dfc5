//! [`supervise`]: restarts work that panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::backoff::Backoff;

/// The delays between restarts.
const RESTARTS: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(60));

/// Runs `work` until it returns, and restarts it if it panics. `work` gets the number of restarts; `failed` is called
/// after each panic, before the delay.
///
/// The state that `work` leaves behind must be valid wherever it panics.
pub(super) fn supervise(mut work: impl FnMut(u32), mut failed: impl FnMut()) {
    let mut backoff = RESTARTS;
    for restarts in 0.. {
        if catch_unwind(AssertUnwindSafe(|| work(restarts))).is_ok() {
            return;
        }
        failed();
        std::thread::sleep(backoff.next_delay());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn work_that_panics_is_restarted() {
        let failures = Cell::new(0);
        let mut runs = Vec::new();
        supervise(
            |restarts| {
                runs.push((restarts, failures.get()));
                assert!(restarts == 2, "this panic is part of the test");
            },
            || failures.set(failures.get() + 1),
        );
        assert_eq!(runs, [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(failures.get(), 2);
    }
}
