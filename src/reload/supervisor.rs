//! A thread that must not end: it is started again where it does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Time after which it is started again. Twice as long each time, up to a minute.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const LAST_DELAY: Duration = Duration::from_secs(60);

/// Runs something again and again until it ends by itself. It gets how often it has failed before, and `failed` is called
/// each time, before the wait.
///
/// What the work leaves behind has to make sense wherever it is cut off.
pub(super) fn supervise(mut work: impl FnMut(u32), mut failed: impl FnMut()) {
    for restarts in 0.. {
        if catch_unwind(AssertUnwindSafe(|| work(restarts))).is_ok() {
            return;
        }
        failed();
        std::thread::sleep(delay(restarts));
    }
}

fn delay(restarts: u32) -> Duration {
    let factor = 2u32.saturating_pow(restarts);
    FIRST_DELAY.saturating_mul(factor).min(LAST_DELAY)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn work_that_fails_is_started_again() {
        let failures = Cell::new(0);
        let mut runs = Vec::new();
        supervise(
            |restarts| {
                runs.push((restarts, failures.get()));
                assert!(restarts == 2, "a failure, as the test wants it");
            },
            || failures.set(failures.get() + 1),
        );
        assert_eq!(runs, [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(failures.get(), 2);
    }

    #[test]
    fn the_wait_grows_and_has_an_end() {
        assert_eq!(delay(0), FIRST_DELAY);
        assert_eq!(delay(1), FIRST_DELAY * 2);
        assert_eq!(delay(40), LAST_DELAY);
    }
}
