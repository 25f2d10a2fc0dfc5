//! Threads for lookups that take long, so that the threads that serve connections never do.
//!
//! A lookup first runs where it is, with a small budget. If that is not enough, it starts again here with the budget of
//! its request. Clients take turns: one that sends many such lookups waits for itself.

mod fair_queue;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hiera_resolver::work_budget::Cancellation;
use tokio::sync::oneshot;

use self::fair_queue::FairQueue;

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of threads and a limited queue, with jobs of clients `C`. Clones are the same. The threads start when they
/// are needed, and end with the last clone.
#[derive(Debug)]
pub(crate) struct Compute<C> {
    handle: Arc<Handle<C>>,
}

impl<C> Clone for Compute<C> {
    fn clone(&self) -> Self {
        Compute {
            handle: self.handle.clone(),
        }
    }
}

#[derive(Debug)]
struct Handle<C>(Arc<Shared<C>>);

#[derive(Debug)]
struct Shared<C> {
    state: Mutex<State<C>>,
    has_work: Condvar,
    max_waiting: usize,
}

#[derive(Debug)]
struct State<C> {
    waiting: FairQueue<C, Job>,
    has_threads: bool,
    is_closed: bool,
}

/// There is more work than the queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

impl<C: PartialEq + Send + 'static> Compute<C> {
    /// Threads with a queue for this many jobs.
    pub(crate) fn new(max_waiting: usize) -> Self {
        let state = State {
            waiting: FairQueue::default(),
            has_threads: false,
            is_closed: false,
        };
        let shared = Shared {
            state: Mutex::new(state),
            has_work: Condvar::new(),
            max_waiting,
        };
        Compute {
            handle: Arc::new(Handle(Arc::new(shared))),
        }
    }

    /// How many jobs wait for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.handle.0.state().waiting.len()
    }

    /// Runs work on one of the threads. Work that is cancelled before its turn does not run.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        client: C,
        cancellation: &Cancellation,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (result, finished) = oneshot::channel();
        let cancellation = cancellation.clone();
        let job = Box::new(move || {
            if !cancellation.is_cancelled() {
                // Fails if nobody waits any more.
                _ = result.send(catch_unwind(AssertUnwindSafe(work)));
            }
        });
        self.handle.0.push(client, job)?;
        match finished.await {
            Ok(Ok(result)) => Ok(result),
            // The gate answers for panics.
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(Busy),
        }
    }
}

impl<C: PartialEq + Send + 'static> Shared<C> {
    fn push(self: &Arc<Self>, client: C, job: Job) -> Result<(), Busy> {
        let mut state = self.state();
        if state.waiting.len() >= self.max_waiting {
            return Err(Busy);
        }
        if !state.has_threads {
            self.start_threads().map_err(|error| {
                tracing::error!("cannot start a thread for long lookups: {error}");
                Busy
            })?;
            state.has_threads = true;
        }
        state.waiting.push(client, job);
        self.has_work.notify_one();
        Ok(())
    }

    /// Leaves a core to the threads that serve connections.
    fn start_threads(self: &Arc<Self>) -> std::io::Result<()> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        for _ in 0..cores.saturating_sub(1).max(1) {
            let shared = self.clone();
            std::thread::Builder::new()
                .name("compute".to_owned())
                .stack_size(crate::STACK_SIZE)
                .spawn(move || shared.work())?;
        }
        Ok(())
    }

    fn work(&self) {
        let mut state = self.state();
        while !state.is_closed {
            match state.waiting.pop() {
                Some(job) => {
                    drop(state);
                    job();
                    state = self.state();
                }
                None => {
                    let woken = self.has_work.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl<C> Shared<C> {
    /// Jobs run without the lock, so that none can leave the state half changed.
    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Drop for Handle<C> {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
        self.0.has_work.notify_all();
    }
}

/// Cancels work when it is dropped: whoever waited for it has gone.
#[derive(Debug, Default)]
pub(crate) struct CancelOnDrop(pub(crate) Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const NOBODY: Option<u8> = None;

    #[tokio::test]
    async fn work_runs_on_another_thread_and_its_panic_comes_back() {
        let compute = Compute::new(1);
        let cancellation = Cancellation::default();
        let here = std::thread::current().id();
        let there = compute.run(NOBODY, &cancellation, || std::thread::current().id());
        assert_ne!(there.await.unwrap(), here);
        let panicked = tokio::spawn({
            let (compute, cancellation) = (compute.clone(), cancellation.clone());
            async move {
                compute
                    .run(NOBODY, &cancellation, || panic!("on purpose"))
                    .await
            }
        });
        let panicked: Result<Result<(), Busy>, _> = panicked.await;
        assert!(panicked.unwrap_err().is_panic());
        assert_eq!(compute.run(NOBODY, &cancellation, || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn what_does_not_fit_into_the_queue_is_refused_at_once() {
        let compute = Compute::new(1);
        let (release, blocked) = mpsc::channel::<()>();
        let (started, has_started) = mpsc::channel();
        let block = move || {
            started.send(()).unwrap();
            blocked.recv().unwrap_err();
        };
        let cancellation = Cancellation::default();
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) - 1;
        assert_eq!(threads.max(1), 1, "the test is written for one thread");
        let running = tokio::spawn({
            let (compute, cancellation) = (compute.clone(), cancellation.clone());
            async move { compute.run(NOBODY, &cancellation, block).await }
        });
        tokio::task::spawn_blocking(move || has_started.recv().unwrap())
            .await
            .unwrap();
        let gone = CancelOnDrop::default();
        let waiting = tokio::spawn({
            let (compute, cancellation) = (compute.clone(), gone.0.clone());
            async move { compute.run(NOBODY, &cancellation, || ()).await }
        });
        while compute.handle.0.state().waiting.len() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(compute.run(NOBODY, &cancellation, || ()).await, Err(Busy));
        drop(gone);
        drop(release);
        assert_eq!(running.await.unwrap(), Ok(()));
        assert_eq!(waiting.await.unwrap(), Err(Busy));
    }
}
