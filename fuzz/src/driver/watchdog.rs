//! Ends the process when an input never ends: a thread cannot be stopped from outside.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::time::ClockId;

use super::lock;
use super::one_run::time_of;

/// Far more than what counts as slow. It is processor time of all threads, since one thread cannot ask for that of another,
/// and since the time of day says nothing on a busy machine.
const NEVER: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(1);

/// What runs, and the processor time at which it began.
type Running = Arc<Mutex<Vec<(&'static str, Duration)>>>;

/// Looks now and then at what is running. Dropping it ends its thread.
pub(super) struct Watchdog {
    running: Running,
    _stop: Sender<()>,
}

/// Dropped when a run ends.
pub(super) struct Watched<'a> {
    watchdog: &'a Watchdog,
    name: &'static str,
}

impl Watchdog {
    pub(super) fn start() -> Self {
        let running = Running::default();
        let watched = running.clone();
        let (stop, stopped) = channel();
        std::thread::spawn(move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let stuck = lock(&watched)
                    .iter()
                    .find(|(_, start)| process_time().saturating_sub(*start) > NEVER)
                    .map(|(name, _)| *name);
                if let Some(name) = stuck {
                    eprintln!("FAILED {name}: an input never ends; it is in `{name}.running`");
                    std::process::exit(1);
                }
            }
        });
        Watchdog {
            running,
            _stop: stop,
        }
    }

    /// A run begins. Each target has one at a time.
    pub(super) fn watch(&self, name: &'static str) -> Watched<'_> {
        lock(&self.running).push((name, process_time()));
        Watched {
            watchdog: self,
            name,
        }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        lock(&self.watchdog.running).retain(|(name, _)| *name != self.name);
    }
}

fn process_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}
