//! Progress of loading that takes longer than a moment: a bar on a terminal, a line now and then in a log.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this is not worth a word.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks at how far it is.
const TICK: Duration = Duration::from_millis(100);
/// Ticks between two lines in a log.
const TICKS_PER_LINE: u64 = 30;

/// Counts files to do and done, and shows them while it lives.
#[derive(Debug)]
pub(crate) struct Progress {
    counts: Arc<Counts>,
    shower: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Counts {
    total: AtomicUsize,
    done: AtomicUsize,
    is_over: AtomicBool,
    /// Wakes whoever shows them, so that the end is not waited for.
    wake: (Mutex<()>, Condvar),
}

impl Progress {
    /// Counts without showing.
    pub(crate) fn silent() -> Self {
        Progress {
            counts: Arc::default(),
            shower: None,
        }
    }

    /// Counts and shows.
    pub(crate) fn shown() -> Self {
        let counts = Arc::new(Counts::default());
        let shared = counts.clone();
        let shower = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || shared.show())
            .ok();
        Progress { counts, shower }
    }

    /// There are this many files more to do.
    pub(crate) fn add(&self, files: usize) {
        self.counts.total.fetch_add(files, Ordering::Relaxed);
    }

    /// One more is done.
    pub(crate) fn advance(&self) {
        self.counts.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.counts.is_over.store(true, Ordering::Release);
        self.counts.wake.1.notify_all();
        if let Some(shower) = self.shower.take() {
            // It has nothing to fail at.
            _ = shower.join();
        }
    }
}

impl Counts {
    fn show(&self) {
        if self.wait(PATIENCE) {
            return;
        }
        let bar = std::io::stderr().is_terminal().then(new_bar);
        for tick in 0u64.. {
            let (done, total) = (
                self.done.load(Ordering::Relaxed),
                self.total.load(Ordering::Relaxed),
            );
            if let Some(bar) = &bar {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            } else if tick % TICKS_PER_LINE == 0 {
                tracing::info!(
                    files.done = done,
                    files.left = total.saturating_sub(done),
                    "loading: {done} of {total} files"
                );
            }
            if self.wait(TICK) {
                break;
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    /// Waits for the end, but not longer than this; says whether it came.
    fn wait(&self, patience: Duration) -> bool {
        let guard = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |_: &mut ()| !self.is_over.load(Ordering::Acquire);
        drop(self.wake.1.wait_timeout_while(guard, patience, is_open));
        self.is_over.load(Ordering::Acquire)
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} files, {eta} left") {
        bar.set_style(style);
    }
    bar
}
