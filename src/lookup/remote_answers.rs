//! Lookups that need answers of other servers: run, fetch what is missing, run again.
//!
//! Nothing waits inside of a lookup, so no thread is blocked while another server takes its time.

use std::sync::Arc;

use hiera_resolver::hierarchy::glob::{EntryKind, GlobError};
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hiera_resolver::snapshot::LayerIndex;
use hiera_resolver::{Answer, DataFile, Format, Layer, LayerKind, LookupError, Strictness, Tree};

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
    /// Fetches an answer. A failure is an answer as well.
    fn fetch(&self, request: &RemoteRequest) -> impl Future<Output = RemoteAnswer> + Send;
}

impl RemoteSource for RemoteClient {
    fn fetch(&self, request: &RemoteRequest) -> impl Future<Output = RemoteAnswer> + Send {
        self.answer(request)
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
    loop {
        let NeedsRemote(request) = needed;
        if answers.0.len() == MAX_ANSWERS {
            return Err(RemoteAnswersError);
        }
        let answer = remotes.fetch(&request).await;
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
    use std::future::ready;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use hiera_resolver::{Snapshot, Value};

    use super::*;

    #[derive(Default)]
    struct CountingSource {
        fetched: AtomicUsize,
    }

    impl RemoteSource for CountingSource {
        async fn fetch(&self, _request: &RemoteRequest) -> RemoteAnswer {
            self.fetched.fetch_add(1, Ordering::Relaxed);
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

    /// Runs a lookup that needs so many answers; says how many were fetched.
    async fn fetched(needed: usize) -> (usize, Result<(), RemoteAnswersError>) {
        let snapshot = Snapshot::build(Default::default());
        let remotes = CountingSource::default();
        let run = |answers: RemoteAnswers| {
            let tree = answers.on(&snapshot);
            let missing = (0..needed).map(request);
            let mut missing = missing.filter(|request| tree.remote(&request.0).is_none());
            missing.next().map_or(Ok(()), Err)
        };
        let result = match run(RemoteAnswers::default()) {
            Ok(()) => Ok(()),
            Err(needed) => {
                with_remote_answers(needed, &remotes, |answers| ready(run(answers))).await
            }
        };
        (remotes.fetched.into_inner(), result)
    }

    #[tokio::test]
    async fn a_lookup_is_run_until_it_has_its_answers() {
        for needed in [0, 1, 3, MAX_ANSWERS] {
            let (count, result) = fetched(needed).await;
            assert_eq!(count, needed);
            assert!(result.is_ok());
        }
    }

    #[tokio::test]
    async fn a_lookup_that_needs_too_many_answers_ends() {
        let (count, result) = fetched(MAX_ANSWERS + 1).await;
        assert_eq!(count, MAX_ANSWERS);
        assert!(result.is_err());
    }
}
