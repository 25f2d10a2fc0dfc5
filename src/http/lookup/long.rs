//! [`LongLookup`]: a lookup that does not end within its first slice of work, or that needs other servers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use axum::response::Response;
use hiera_resolver::work_budget::{Budget, Limits, Spent};

use super::{Caller, Question};
use crate::compute::{Busy, CancelOnDrop};
use crate::environments::Environment;
use crate::http::App;
use crate::http::error::{ApiError, ErrorKind};
use crate::http::gate::{Client, RequestId};
use crate::lookup::{NeedsRemote, RemoteAnswers, with_remote_answers};
use crate::metrics::Refusal;

/// What a lookup may do on a thread that serves connections: at most a fraction of a millisecond. Nearly all lookups
/// need less than a tenth of it.
pub(super) const FIRST_SLICE: Limits = Limits {
    steps: 20_000,
    bytes: 256 * 1024,
    ..Limits::NONE
};

/// A lookup that can move to another thread. Every run starts from the beginning.
#[derive(Debug)]
pub(super) struct LongLookup {
    app: App,
    headers: HeaderMap,
    id: RequestId,
    client: Option<Client>,
    question: Question,
    state: Mutex<State>,
}

/// What one run leaves to the next.
#[derive(Debug)]
struct State {
    /// For all runs on compute threads.
    budget: Budget,
    /// The one that the first run has chosen.
    environment: Option<Environment>,
}

impl Caller<'_> {
    /// Answers a lookup on the compute threads, and again with the answers of other servers.
    pub(super) async fn answer_long(
        self,
        question: Question,
        environment: Option<Environment>,
        needed: Option<NeedsRemote>,
    ) -> Response {
        // Dropped with this future, if the client hangs up.
        let waiting = CancelOnDrop::default();
        let budget = Budget::new(self.app.limits.request_budget());
        let lookup = Arc::new(LongLookup {
            app: self.app.clone(),
            headers: self.headers.clone(),
            id: self.id.clone(),
            client: self.client,
            question,
            state: Mutex::new(State {
                budget: budget.with_cancellation(&waiting.0),
                environment,
            }),
        });
        let first = match needed {
            Some(needed) => Err(needed),
            None => lookup.run_elsewhere(&waiting, None).await,
        };
        let answer = match first {
            Ok(reply) => Ok(reply),
            Err(needed) => {
                let run_again = |answers| lookup.run_again(&waiting, answers);
                with_remote_answers(needed, &self, run_again).await
            }
        };
        answer.unwrap_or_else(|error| self.show_error(error.into()))
    }
}

impl LongLookup {
    /// Runs here if a slice is enough, as it is for most lookups whose answers of other servers are known.
    async fn run_again(
        self: &Arc<Self>,
        waiting: &CancelOnDrop,
        answers: RemoteAnswers,
    ) -> Result<Response, NeedsRemote> {
        let slice = {
            let environment = &mut self.state().environment;
            let run = || {
                self.caller()
                    .run(&self.question, environment, Some(&answers))
            };
            Budget::new(FIRST_SLICE).run(run)
        };
        match slice {
            Ok(reply) => reply,
            Err(_) => self.run_elsewhere(waiting, Some(answers)).await,
        }
    }

    /// Runs on a compute thread, with what is left of the budget.
    async fn run_elsewhere(
        self: &Arc<Self>,
        waiting: &CancelOnDrop,
        answers: Option<RemoteAnswers>,
    ) -> Result<Response, NeedsRemote> {
        let lookup = self.clone();
        let run = move || {
            let State {
                budget,
                environment,
            } = &mut *lookup.state();
            budget.run(|| {
                lookup
                    .caller()
                    .run(&lookup.question, environment, answers.as_ref())
            })
        };
        let error = match self.app.compute.run(self.client, &waiting.0, run).await {
            Ok(Ok(reply)) => return reply,
            Ok(Err(spent)) => spent_error(spent),
            Err(Busy) => {
                self.app.metrics.count_refusal(Refusal::WaitingLookups);
                ApiError::new(
                    ErrorKind::Overloaded,
                    "too many long lookups are waiting (`limits.max_waiting`)",
                )
            }
        };
        Ok(self.caller().show_error(error))
    }

    fn caller(&self) -> Caller<'_> {
        Caller {
            app: &self.app,
            headers: &self.headers,
            id: &self.id,
            client: self.client,
        }
    }

    /// Only one run is under way at a time.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of a request that takes more than it may, with the setting.
fn spent_error(spent: Spent) -> ApiError {
    let (kind, detail) = match spent {
        Spent::Steps { limit } => (
            ErrorKind::LookupFailed,
            format!("the request takes more than {limit} steps (`limits.max_steps`)"),
        ),
        Spent::Part { limit } => (
            ErrorKind::LookupFailed,
            format!("a regular expression takes more than {limit} steps to match"),
        ),
        Spent::Time { limit } => (
            ErrorKind::LookupFailed,
            format!(
                "the request takes longer than {} ms (`limits.max_time_ms`)",
                limit.as_millis()
            ),
        ),
        Spent::Bytes { limit } => (
            ErrorKind::AnswerTooLarge,
            format!("the request makes more than {limit} bytes (`limits.max_bytes`)"),
        ),
        // Nobody reads it.
        Spent::Cancelled => (ErrorKind::Overloaded, "the client is gone".to_owned()),
    };
    ApiError::new(kind, detail)
}
