//! [`Progress`]: how many files are loaded. A bar on a terminal, or a log line now and then.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long loading takes before progress is shown.
const DELAY: Duration = Duration::from_secs(1);
/// The time between two updates.
const TICK: Duration = Duration::from_millis(100);
/// Ticks between two log lines.
const TICKS_PER_LINE: u64 = 30;

/// FileCounts files, and shows the counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    counts: Arc<FileCounts>,
    display_thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct FileCounts {
    total: AtomicUsize,
    done: AtomicUsize,
    is_finished: AtomicBool,
    /// Wakes the display thread at the end.
    wake: (Mutex<()>, Condvar),
}

impl Progress {
    /// FileCounts without showing.
    pub(crate) fn silent() -> Self {
        Progress {
            counts: Arc::default(),
            display_thread: None,
        }
    }

    /// FileCounts and shows.
    pub(crate) fn shown() -> Self {
        let counts = Arc::new(FileCounts::default());
        let shared = counts.clone();
        let display_thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || shared.show())
            .ok();
        Progress {
            counts,
            display_thread,
        }
    }

    /// Adds files to load.
    pub(crate) fn add(&self, files: usize) {
        self.counts.total.fetch_add(files, Ordering::Relaxed);
    }

    /// One more file is loaded.
    pub(crate) fn advance(&self) {
        self.counts.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.counts.is_finished.store(true, Ordering::Release);
        self.counts.wake.1.notify_all();
        if let Some(thread) = self.display_thread.take() {
            // A panic of that thread does not matter here.
            _ = thread.join();
        }
    }
}

impl FileCounts {
    fn show(&self) {
        if self.wait(DELAY) {
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

    /// Waits for the end, at most this long, and returns whether it has come.
    fn wait(&self, timeout: Duration) -> bool {
        let guard = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = |_: &mut ()| !self.is_finished.load(Ordering::Acquire);
        drop(self.wake.1.wait_timeout_while(guard, timeout, is_running));
        self.is_finished.load(Ordering::Acquire)
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} files, {eta} left") {
        bar.set_style(style);
    }
    bar
}
