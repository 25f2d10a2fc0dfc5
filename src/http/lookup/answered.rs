//! Lookups that need answers of other servers: run, fetch what is missing, run again.
//!
//! Nothing waits inside of a lookup, so no thread is held while another server takes its time.

use hiera_resolver::glob::{EntryKind, GlobError};
use hiera_resolver::layer_index::LayerIndex;
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hiera_resolver::{
    Answer, DataFile, Format, Layer, LayerKind, LookupError, Snapshot, Strictness, Tree,
};

use tracing::Instrument as _;

use crate::http::App;
use crate::http::error::{ApiError, ErrorKind};
use crate::http::gate::RequestId;

/// Answers that one request may need. A hierarchy has a handful of levels, and each asks once.
const MAX_ANSWERS: usize = 200;

/// What other servers have answered so far.
pub(super) type Answers = Vec<(RemoteRequest, RemoteAnswer)>;

/// Why there is no response yet.
pub(super) enum Failure {
    /// There will be none but this.
    Final(ApiError),
    /// Another server has to answer first.
    Needs(Box<RemoteRequest>),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Failure::Final(error)
    }
}

impl Failure {
    /// The answer, unless it is that something is missing.
    pub(super) fn if_needed(answer: Answer) -> Result<Answer, Failure> {
        match answer.outcome {
            Err(LookupError::NeedsRemote(request)) => Err(Failure::Needs(request)),
            _ => Ok(answer),
        }
    }
}

impl App {
    /// Runs a lookup, and again with every answer that it turns out to need.
    pub(super) async fn with_answers<T>(
        &self,
        id: &RequestId,
        attempt: impl Fn(&Answers) -> Result<T, Failure>,
    ) -> Result<T, ApiError> {
        let mut answers = Answers::new();
        while answers.len() < MAX_ANSWERS {
            match attempt(&answers) {
                Ok(response) => return Ok(response),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Needs(request)) => {
                    let answer = self.remotes.answer(&request).instrument(id.span()).await;
                    answers.push((*request, answer));
                }
            }
        }
        let detail = format!("the lookup needs more than {MAX_ANSWERS} answers of other servers");
        Err(ApiError::new(ErrorKind::LookupFailed, detail))
    }
}

/// A snapshot and what other servers have answered.
pub(super) struct AnsweredTree<'a> {
    snapshot: &'a Snapshot,
    answers: &'a Answers,
}

impl<'a> AnsweredTree<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, answers: &'a Answers) -> Self {
        AnsweredTree { snapshot, answers }
    }

    pub(super) fn revision(&self) -> &str {
        self.snapshot.revision()
    }
}

impl Tree for AnsweredTree<'_> {
    fn global(&self) -> &Layer {
        self.snapshot.global()
    }

    fn environment(&self) -> &Layer {
        self.snapshot.environment()
    }

    fn module(&self, name: &str) -> Option<&Layer> {
        self.snapshot.module(name)
    }

    fn file(&self, path: &str, format: Format) -> Option<&DataFile> {
        self.snapshot.file(path, format)
    }

    fn layer_index(&self, layer: &LayerKind) -> Option<&LayerIndex> {
        self.snapshot.layer_index(layer)
    }

    fn kind_of(&self, path: &str) -> Option<EntryKind> {
        self.snapshot.kind_of(path)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError> {
        self.snapshot.glob(pattern)
    }

    fn strictness(&self) -> Strictness {
        self.snapshot.strictness()
    }

    fn remote(&self, request: &RemoteRequest) -> Option<RemoteAnswer> {
        self.answers
            .iter()
            .find(|(asked, _)| asked == request)
            .map(|(_, answer)| answer.clone())
    }
}
