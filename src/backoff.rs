//! [`Backoff`]: delays between attempts, each twice as long as the one before, up to a limit.

use std::time::Duration;

/// The delays between attempts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, max: Duration) -> Self {
        Backoff { next: first, max }
    }

    /// The delay before the next attempt.
    pub(crate) fn next_delay(&mut self) -> Duration {
        let delay = self.next.min(self.max);
        self.next = delay.saturating_mul(2);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_limit() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
        let delays = [(); 5].map(|()| backoff.next_delay().as_secs());
        assert_eq!(delays, [1, 2, 4, 5, 5]);
    }
}
