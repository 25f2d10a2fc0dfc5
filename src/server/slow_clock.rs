//! [`SlowClock`]: a cheap timer for the timeouts of a connection.
//!
//! hyper starts a timer for the head of every request and cancels it again. A timer of the runtime costs an allocation and
//! takes a lock twice that all connections share. These timeouts need not be exact, so the clock advances in steps: one
//! timer of the runtime for each step, however many requests come meanwhile.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// Steps in a timeout.
const STEPS: u32 = 4;

/// The shortest step: a timeout of nothing must not keep the processor busy.
const MIN_STEP: Duration = Duration::from_millis(1);

/// The clock of one connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct SlowClock {
    start: Instant,
    step: Duration,
    steps: Arc<AtomicU32>,
}

impl SlowClock {
    /// A clock for timeouts of at least this length, which may end up to two steps late.
    pub(super) fn for_timeout(timeout: Duration) -> Self {
        SlowClock {
            start: Instant::now(),
            step: (timeout / STEPS).max(MIN_STEP),
            steps: Arc::default(),
        }
    }

    /// Runs a connection that uses this timer. It is polled at every step, and when it is woken.
    pub(super) async fn drive<T>(self, connection: impl Future<Output = T>) -> T {
        let mut connection = pin!(connection);
        loop {
            tokio::select! {
                biased;
                end = &mut connection => return end,
                () = tokio::time::sleep(self.step) => {
                    self.steps.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Timer for SlowClock {
    fn now(&self) -> Instant {
        self.start + self.step * self.steps.load(Ordering::Relaxed)
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(SlowSleep {
            clock: self.clone(),
            // The clock is up to a step behind, and a timeout must not end early.
            deadline: deadline + self.step,
        })
    }
}

/// Ends at a step of its clock. It registers no waker: [`SlowClock::drive`] polls the connection.
struct SlowSleep {
    clock: SlowClock,
    deadline: Instant,
}

impl Sleep for SlowSleep {}

impl Future for SlowSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<()> {
        match self.clock.now() >= self.deadline {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timeout_ends_within_two_steps_and_never_early() {
        let timeout = Duration::from_secs(4);
        let start = tokio::time::Instant::now();
        let clock = SlowClock::for_timeout(timeout);
        let timer = clock.clone();
        clock
            .drive(async {
                for _ in 0..3 {
                    let start = tokio::time::Instant::now();
                    timer.sleep(timeout).await;
                    let took = start.elapsed();
                    assert!(took >= timeout && took <= timeout * 3 / 2, "{took:?}");
                    // Stop between two steps.
                    tokio::time::sleep(timeout / 7).await;
                }
            })
            .await;
        assert!(start.elapsed() >= timeout * 3);
    }
}
