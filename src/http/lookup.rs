//! `POST /lookup` and `GET /lookup/{key}`: bytes or query → a checked request → one snapshot → a reply.

mod body;
mod entity_tag;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json_node;
mod json_scanner;
mod long;
mod query;
mod raw_object;
pub(super) mod reply;

use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::http::{self, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hiera_resolver::scope::ScopeError;
use hiera_resolver::work_budget::{self, Budget};
use hiera_resolver::{Snapshot, Tree};
use tokio::time::Instant;
use tracing::Instrument as _;

use self::body::LookupBody;
use self::entity_tag::{EntityTag, caching_headers};
use self::long::FIRST_SLICE;
use self::query::LookupQuery;
use self::reply::{BatchReply, FoundValue};
use super::App;
use super::error::{ApiError, ErrorKind};
use super::gate::{Client, RequestId};
use super::request_body::{RequestBody, read_json_body};
use crate::environments::Environment;
use crate::lookup::{
    LookupRequest, NeedsRemote, NodeScope, RemoteAnswers, RemoteAnswersError, RemoteSource,
    RequestError, RequestedKeys,
};
use crate::metrics::LookupOutcome;

/// Answers a lookup, or a batch of them. The gate's fast path calls [`answer_post`] without coming here.
pub(crate) async fn post_lookup<B: RequestBody>(
    State(app): State<App>,
    Extension(id): Extension<RequestId>,
    Extension(client): Extension<Option<Client>>,
    request: http::Request<B>,
) -> Response {
    let (head, body) = request.into_parts();
    answer_post(&app, &head.headers, &id, client, body).await
}

/// Answers a lookup, or a batch of them.
pub(crate) async fn answer_post(
    app: &App,
    headers: &HeaderMap,
    id: &RequestId,
    client: Option<Client>,
    body: impl RequestBody,
) -> Response {
    let caller = Caller {
        app,
        headers,
        id,
        client,
    };
    match read_json_body(headers, body, app, client).await {
        Ok(bytes) => caller.answer(Question::Body(bytes)).await,
        Err(error) => caller.show_error(error),
    }
}

/// Answers a lookup that is written as a path and a query.
pub(crate) async fn get_lookup(
    State(app): State<App>,
    key: Result<Path<String>, PathRejection>,
    parameters: Result<Query<Vec<(String, String)>>, QueryRejection>,
    Extension(id): Extension<RequestId>,
    Extension(client): Extension<Option<Client>>,
    headers: HeaderMap,
) -> Response {
    let caller = Caller {
        app: &app,
        headers: &headers,
        id: &id,
        client,
    };
    let problem = match (key, parameters) {
        (Ok(Path(key)), Ok(Query(parameters))) => {
            return caller.answer(Question::Query { key, parameters }).await;
        }
        (Err(rejection), _) => format!("the key cannot be read: {}", rejection.body_text()),
        (_, Err(rejection)) => format!("the query cannot be read: {}", rejection.body_text()),
    };
    caller.show_error(ApiError::bad_request(problem))
}

/// A lookup as it was sent.
#[derive(Debug)]
enum Question {
    Body(Bytes),
    Query {
        key: String,
        parameters: Vec<(String, String)>,
    },
}

/// Why a run ended without a reply.
enum Stop {
    Failed(ApiError),
    NeedsRemote(NeedsRemote),
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        Stop::Failed(error)
    }
}

impl From<NeedsRemote> for Stop {
    fn from(needed: NeedsRemote) -> Self {
        Stop::NeedsRemote(needed)
    }
}

/// Who asks, and in which form they want the answer.
#[derive(Clone, Copy)]
struct Caller<'a> {
    app: &'a App,
    headers: &'a HeaderMap,
    id: &'a RequestId,
    client: Option<Client>,
}

impl Caller<'_> {
    /// Answers a lookup. It runs at once, and again if it needs more than a slice of work, or other servers.
    async fn answer(self, question: Question) -> Response {
        let mut environment = None;
        let mut slice = Budget::new(FIRST_SLICE);
        let run = slice.start();
        let result = self.run(&question, &mut environment, None);
        let is_done = run.finish().is_none();
        let needed = match result {
            Ok(reply) if is_done => return reply,
            Err(needed) if is_done => Some(needed),
            _ => None,
        };
        Box::pin(self.answer_long(question, environment, needed)).await
    }

    /// One run from the bytes of a request to those of its reply. The first run chooses the environment, and all runs
    /// use the same snapshot, so that a reload cannot mix two states of the data.
    fn run(
        self,
        question: &Question,
        environment: &mut Option<Environment>,
        answers: Option<&RemoteAnswers>,
    ) -> Result<Response, NeedsRemote> {
        let reply = match question {
            Question::Body(bytes) => self.run_body(bytes, environment, answers),
            Question::Query { key, parameters } => {
                self.run_query(key, parameters, environment, answers)
            }
        };
        match reply {
            Ok(reply) => Ok(reply),
            Err(Stop::NeedsRemote(needed)) => Err(needed),
            Err(Stop::Failed(error)) => Ok(self.show_error(error)),
        }
    }

    #[inline]
    fn run_body(
        self,
        bytes: &Bytes,
        environment: &mut Option<Environment>,
        answers: Option<&RemoteAnswers>,
    ) -> Result<Response, Stop> {
        let request = LookupBody::parse(bytes, &self.app.limits)?;
        let environment = self.app.pinned(environment, &request.environment)?;
        self.run_request(&request, &environment.snapshot, answers)
    }

    fn run_query(
        self,
        key: &str,
        parameters: &[(String, String)],
        environment: &mut Option<Environment>,
        answers: Option<&RemoteAnswers>,
    ) -> Result<Response, Stop> {
        let request = LookupQuery::parse(key.to_owned(), parameters.to_vec())?;
        let environment = self.app.pinned(environment, &request.environment)?;
        let tag = EntityTag::of(environment, self.headers);
        // The same data gives the same answer, so there is no need to look.
        if let Some(known) = tag.as_ref().and_then(|tag| tag.known_to(self.headers)) {
            return Ok((StatusCode::NOT_MODIFIED, caching_headers(known)).into_response());
        }
        let mut reply = self.run_request(&request, &environment.snapshot, answers)?;
        if let Some(tag) = tag {
            reply.headers_mut().extend(caching_headers(tag.strong));
        }
        Ok(reply)
    }

    #[inline]
    fn run_request<N: NodeScope>(
        self,
        request: &LookupRequest<'_, N>,
        snapshot: &Snapshot,
        answers: Option<&RemoteAnswers>,
    ) -> Result<Response, Stop> {
        let answered = answers.map(|answers| answers.on(snapshot));
        let tree: &dyn Tree = match &answered {
            Some(answered) => answered,
            None => snapshot,
        };
        match &request.keys {
            RequestedKeys::FirstFound(_) => {
                let keys = request.keys.names();
                let (answer, explanation) = request.first_found(&keys, tree)?;
                let outcome = LookupOutcome::of(&answer);
                let found = FoundValue::check(answer, explanation, &keys);
                let reply = found
                    .map(|found| self.show_found(found, &keys, &request.environment, snapshot));
                self.count(&[outcome]);
                Ok(reply?)
            }
            RequestedKeys::Batch(keys) => {
                let (environment, revision) = (&request.environment, snapshot.revision());
                let mut reply = BatchReply::new(environment, revision, keys.len());
                request.batch(keys, tree, |key, answer| reply.push(key, answer))?;
                self.count(&reply.outcomes);
                Ok(reply.into_response())
            }
        }
    }

    /// Counts lookups, unless their result is discarded.
    fn count(self, outcomes: &[LookupOutcome]) {
        if !work_budget::is_spent() {
            for outcome in outcomes {
                self.app.metrics.count_lookup(*outcome);
            }
        }
    }

    fn show_found(
        self,
        found: FoundValue,
        keys: &[&str],
        environment: &str,
        snapshot: &Snapshot,
    ) -> Response {
        match &found.explanation {
            Some(explanation) if wants_text(self.headers) => {
                reply::text_response(StatusCode::OK, explanation)
            }
            _ => found.into_response(keys, environment, snapshot.revision()),
        }
    }

    fn show_error(self, error: ApiError) -> Response {
        match error.self_contained_explanation() {
            Some(explanation) if wants_text(self.headers) => {
                reply::text_response(error.kind().status(), explanation)
            }
            _ => error.into_response(),
        }
    }
}

/// Log lines on a fetch carry the id of the request that needs it.
impl RemoteSource for Caller<'_> {
    fn time_limit(&self) -> Option<Duration> {
        self.app.remotes.time_limit()
    }

    fn fetch(
        &self,
        request: &RemoteRequest,
        deadline: Option<Instant>,
    ) -> impl Future<Output = RemoteAnswer> + Send {
        let answer = self.app.remotes.answer(request, deadline);
        answer.instrument(self.id.span())
    }
}

impl App {
    /// The environment of an earlier run, else the one of this name.
    fn pinned<'e>(
        &self,
        pinned: &'e mut Option<Environment>,
        name: &str,
    ) -> Result<&'e Environment, ApiError> {
        Ok(match pinned {
            Some(environment) => environment,
            none => none.insert(self.environment(name)?),
        })
    }

    /// An environment that is served.
    pub(super) fn environment(&self, name: &str) -> Result<Environment, ApiError> {
        match self.environments.get(name) {
            Some(environment) => Ok(environment),
            None => Err(match self.environments.not_ready_reason() {
                Some(reason) => ApiError::new(ErrorKind::NotLoaded, reason),
                None => ApiError::new(
                    ErrorKind::UnknownEnvironment,
                    format!("there is no environment `{name}`"),
                ),
            }),
        }
    }
}

/// Mistakes in how a request is written are 400; a request that Puppet's `lookup` would fail on is 422.
impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        let kind = match &error {
            RequestError::NoKeys
            | RequestError::TooManyKeys { .. }
            | RequestError::ExplainedBatch
            | RequestError::MergeKind
            | RequestError::Node(ScopeError::CertnameNotText) => ErrorKind::BadRequest,
            RequestError::Merge(_)
            | RequestError::Type(_)
            | RequestError::Node(ScopeError::ReservedName { .. }) => ErrorKind::LookupFailed,
        };
        ApiError::new(kind, error.to_string())
    }
}

impl From<ScopeError> for ApiError {
    fn from(error: ScopeError) -> Self {
        RequestError::from(error).into()
    }
}

impl From<RemoteAnswersError> for ApiError {
    fn from(error: RemoteAnswersError) -> Self {
        ApiError::new(ErrorKind::LookupFailed, error.to_string())
    }
}

/// Does the client ask for text rather than JSON?
fn wants_text(headers: &HeaderMap) -> bool {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let mut media = accept
        .split(',')
        .map(|range| range.split(';').next().unwrap_or_default().trim());
    media.find(|range| range.ends_with("json") || *range == "*/*" || range.starts_with("text/"))
        == Some("text/plain")
}
