//! Lookups that need answers of other servers: run, fetch what is missing, run again.
//!
//! Nothing waits inside of a lookup, so no thread is blocked while another server takes its time.

use std::sync::Arc;
use std::time::Duration;

use hiera_resolver::hierarchy::glob::{EntryKind, GlobError};
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hiera_resolver::snapshot::LayerIndex;
use hiera_resolver::{Answer, DataFile, Format, Layer, LayerKind, LookupError, Strictness, Tree};
use tokio::time::Instant;

use crate::backends::hiera_http::RemoteClient;

/// Answers that one lookup may need. A hierarchy has a handful of levels, and each asks once.
const MAX_ANSWERS: usize = 200;

/// A run that ended because another server has to answer first.
#[derive(Debug)]
pub(crate) struct NeedsRemote(Box<RemoteRequest>);

impl NeedsRemote {
    /// The answer, unless the lookup needs another server.
    pub(super) fn check(answer: Answer) -> Result<Answer, NeedsRemote> {
        match answer.outcome {
            Err(LookupError::NeedsRemote(request)) => Err(NeedsRemote(request)),
            _ => Ok(answer),
        }
    }
}

/// Where the answers of other servers come from.
pub(crate) trait RemoteSource {
    /// How long a lookup waits for all its answers together; `None` without a limit.
    fn time_limit(&self) -> Option<Duration>;

    /// Fetches an answer. A failure is an answer as well, and so is one that is not there at the deadline.
    fn fetch(
        &self,
        request: &RemoteRequest,
        deadline: Option<Instant>,
    ) -> impl Future<Output = RemoteAnswer> + Send;
}

impl RemoteSource for RemoteClient {
    fn time_limit(&self) -> Option<Duration> {
        RemoteClient::time_limit(self)
    }

    fn fetch(
        &self,
        request: &RemoteRequest,
        deadline: Option<Instant>,
    ) -> impl Future<Output = RemoteAnswer> + Send {
        self.answer(request, deadline)
    }
}

/// A lookup that needs too many answers.
#[derive(Debug, thiserror::Error)]
#[error("the lookup needs more than {MAX_ANSWERS} answers of other servers")]
pub(crate) struct RemoteAnswersError;

/// Fetches what a lookup needs, and runs it again until it needs no more.
pub(crate) async fn with_remote_answers<R, F>(
    mut needed: NeedsRemote,
    remotes: &impl RemoteSource,
    mut run_again: impl FnMut(RemoteAnswers) -> F,
) -> Result<R, RemoteAnswersError>
where
    F: Future<Output = Result<R, NeedsRemote>>,
{
    let mut answers = RemoteAnswers::default();
    // Only what other servers take counts, not the runs in between.
    let mut remaining = remotes.time_limit();
    loop {
        let NeedsRemote(request) = needed;
        if answers.0.len() == MAX_ANSWERS {
            return Err(RemoteAnswersError);
        }
        let start = Instant::now();
        let deadline = remaining.and_then(|remaining| start.checked_add(remaining));
        let answer = remotes.fetch(&request, deadline).await;
        remaining = remaining.map(|remaining| remaining.saturating_sub(start.elapsed()));
        Arc::make_mut(&mut answers.0).push((*request, answer));
        needed = match run_again(answers.clone()).await {
            Ok(result) => return Ok(result),
            Err(needed) => needed,
        };
    }
}

/// What other servers have answered so far. Clones are cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemoteAnswers(Arc<Vec<(RemoteRequest, RemoteAnswer)>>);

impl RemoteAnswers {
    /// A tree with these answers.
    pub(crate) fn on<'a, T: Tree>(&'a self, tree: &'a T) -> AnsweredTree<'a, T> {
        AnsweredTree {
            tree,
            answers: &self.0,
        }
    }
}

/// A tree, and what other servers have answered so far.
pub(crate) struct AnsweredTree<'a, T> {
    tree: &'a T,
    answers: &'a [(RemoteRequest, RemoteAnswer)],
}

impl<T: Tree> Tree for AnsweredTree<'_, T> {
    fn global(&self) -> &Layer {
        self.tree.global()
    }

    fn environment(&self) -> &Layer {
        self.tree.environment()
    }

    fn module(&self, name: &str) -> Option<&Layer> {
        self.tree.module(name)
    }

    fn file(&self, path: &str, format: Format) -> Option<&DataFile> {
        self.tree.file(path, format)
    }

    fn layer_index(&self, layer: &LayerKind) -> Option<&LayerIndex> {
        self.tree.layer_index(layer)
    }

    fn kind_of(&self, path: &str) -> Option<EntryKind> {
        self.tree.kind_of(path)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError> {
        self.tree.glob(pattern)
    }

    fn strictness(&self) -> Strictness {
        self.tree.strictness()
    }

    fn remote(&self, request: &RemoteRequest) -> Option<RemoteAnswer> {
        let answer = self.answers.iter().find(|(asked, _)| asked == request);
        answer.map(|(_, answer)| answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use hiera_resolver::{Snapshot, Value};

    use super::*;

    /// A server that takes a while for each answer.
    #[derive(Default)]
    struct SlowSource {
        time_limit: Option<Duration>,
        takes: Duration,
        /// How much time was left for each answer.
        left: Mutex<Vec<Option<Duration>>>,
    }

    impl RemoteSource for SlowSource {
        fn time_limit(&self) -> Option<Duration> {
            self.time_limit
        }

        async fn fetch(&self, _: &RemoteRequest, deadline: Option<Instant>) -> RemoteAnswer {
            let left = deadline.map(|deadline| deadline - Instant::now());
            self.left.lock().unwrap().push(left);
            tokio::time::sleep(left.unwrap_or(self.takes).min(self.takes)).await;
            RemoteAnswer::NotFound
        }
    }

    fn request(number: usize) -> NeedsRemote {
        let request = RemoteRequest {
            function: "hiera_http",
            uri: format!("http://a/{number}"),
            options: Value::Null,
        };
        NeedsRemote(Box::new(request))
    }

    /// Runs a lookup that needs so many answers, and takes a second for each run.
    async fn run(needed: usize, remotes: &SlowSource) -> Result<(), RemoteAnswersError> {
        let snapshot = Snapshot::build(Default::default());
        let run = async |answers: RemoteAnswers| {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let tree = answers.on(&snapshot);
            let missing = (0..needed).map(request);
            let mut missing = missing.filter(|request| tree.remote(&request.0).is_none());
            missing.next().map_or(Ok(()), Err)
        };
        match run(RemoteAnswers::default()).await {
            Ok(()) => Ok(()),
            Err(needed) => with_remote_answers(needed, remotes, run).await,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lookup_is_run_until_it_has_its_answers() {
        for needed in [0, 1, 3, MAX_ANSWERS] {
            let remotes = SlowSource::default();
            assert!(run(needed, &remotes).await.is_ok());
            assert_eq!(remotes.left.into_inner().unwrap(), vec![None; needed]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lookup_that_needs_too_many_answers_ends() {
        let remotes = SlowSource::default();
        assert!(run(MAX_ANSWERS + 1, &remotes).await.is_err());
        assert_eq!(remotes.left.into_inner().unwrap().len(), MAX_ANSWERS);
    }

    #[tokio::test(start_paused = true)]
    async fn all_answers_of_a_lookup_share_one_time_limit() {
        let remotes = SlowSource {
            time_limit: Some(Duration::from_secs(10)),
            takes: Duration::from_secs(4),
            ..SlowSource::default()
        };
        assert!(run(5, &remotes).await.is_ok());
        // The runs in between do not count.
        let left = remotes.left.into_inner().unwrap();
        let left = left
            .into_iter()
            .map(|left| left.unwrap().as_secs_f64().round());
        assert_eq!(left.collect::<Vec<_>>(), [10.0, 6.0, 2.0, 0.0, 0.0]);
    }
}
