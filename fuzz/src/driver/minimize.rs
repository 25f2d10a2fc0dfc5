//! Makes a failing input smaller.

use std::time::{Duration, Instant};

use super::one_run::{Failure, Runner};

/// A failure is shown soon even if it could still be smaller.
const LIMIT: Duration = Duration::from_secs(20);

/// Takes out ever smaller pieces as long as the input fails at the same place in the code.
pub(super) fn minimize(runner: &mut Runner<'_>, failure: Failure) -> Failure {
    let start = Instant::now();
    let mut smallest = failure;
    let mut size = smallest.input.len().div_ceil(2);
    while size > 0 && start.elapsed() < LIMIT {
        let mut offset = 0;
        let mut is_smaller = false;
        while offset < smallest.input.len() && start.elapsed() < LIMIT {
            let mut input = smallest.input.clone();
            input.drain(offset..(offset + size).min(input.len()));
            match runner.run(&input) {
                Some(failure) if failure.location == smallest.location => {
                    smallest = failure;
                    is_smaller = true;
                }
                _ => offset += size,
            }
        }
        // Once a piece is gone, others of its size may go too.
        if !is_smaller {
            size /= 2;
        }
    }
    smallest
}
