//! `POST /lookup` and `GET /lookup/{key}`: bytes or query → a checked request → one snapshot → a reply.

mod body;
mod entity_tag;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json_node;
mod json_scanner;
mod query;
mod raw_object;
pub(super) mod reply;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::http::{self, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::remote::{RemoteAnswer, RemoteRequest};
use hiera_resolver::scope::ScopeError;
use hiera_resolver::{Snapshot, Tree};
use tracing::Instrument as _;

use self::body::LookupBody;
use self::entity_tag::{EntityTag, caching_headers};
use self::query::LookupQuery;
use self::reply::{BatchReply, FoundValue};
use super::App;
use super::error::{ApiError, ErrorKind};
use super::gate::RequestId;
use super::request_body::{RequestBody, read_json_body};
use crate::environments::Environment;
use crate::lookup::{
    LookupRequest, NodeScope, RemoteAnswersError, RemoteSource, RequestError, RequestedKeys,
    with_remote_answers,
};
use crate::metrics::LookupOutcome;

/// Answers a lookup, or a batch of them. The gate's fast path calls [`answer_post`] without coming here.
pub(crate) async fn post_lookup<B: RequestBody>(
    State(app): State<App>,
    Extension(id): Extension<RequestId>,
    request: http::Request<B>,
) -> Response {
    let (head, body) = request.into_parts();
    answer_post(&app, &head.headers, &id, body).await
}

/// Answers a lookup, or a batch of them.
pub(crate) async fn answer_post(
    app: &App,
    headers: &HeaderMap,
    id: &RequestId,
    body: impl RequestBody,
) -> Response {
    let caller = Caller { app, headers, id };
    let answer = caller.answer_body(body).await;
    answer.unwrap_or_else(|error| caller.show_error(error))
}

/// Answers a lookup that is written as a path and a query.
pub(crate) async fn get_lookup(
    State(app): State<App>,
    key: Result<Path<String>, PathRejection>,
    parameters: Result<Query<Vec<(String, String)>>, QueryRejection>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    let caller = Caller {
        app: &app,
        headers: &headers,
        id: &id,
    };
    let answer = match (key, parameters) {
        (Ok(Path(key)), Ok(Query(parameters))) => caller.answer_query(key, parameters).await,
        (Err(rejection), _) => Err(ApiError::bad_request(format!(
            "the key cannot be read: {}",
            rejection.body_text()
        ))),
        (_, Err(rejection)) => Err(ApiError::bad_request(format!(
            "the query cannot be read: {}",
            rejection.body_text()
        ))),
    };
    answer.unwrap_or_else(|error| caller.show_error(error))
}

/// Who asks, and in which form they want the answer.
#[derive(Clone, Copy)]
struct Caller<'a> {
    app: &'a App,
    headers: &'a HeaderMap,
    id: &'a RequestId,
}

impl Caller<'_> {
    async fn answer_body(self, body: impl RequestBody) -> Result<Response, ApiError> {
        let limits = &self.app.limits;
        let bytes = read_json_body(self.headers, body, limits).await?;
        let request = LookupBody::parse(&bytes, limits)?;
        let environment = self.app.environment(&request.environment)?;
        self.answer(&request, &environment.snapshot).await
    }

    async fn answer_query(
        self,
        key: String,
        parameters: Vec<(String, String)>,
    ) -> Result<Response, ApiError> {
        let request = LookupQuery::parse(key, parameters)?;
        let environment = self.app.environment(&request.environment)?;
        let tag = EntityTag::of(&environment, self.headers);
        // The same data gives the same answer, so there is no need to look.
        if let Some(known) = tag.as_ref().and_then(|tag| tag.known_to(self.headers)) {
            return Ok((StatusCode::NOT_MODIFIED, caching_headers(known)).into_response());
        }
        let mut response = self.answer(&request, &environment.snapshot).await?;
        if let Some(tag) = tag {
            response.headers_mut().extend(caching_headers(tag.strong));
        }
        Ok(response)
    }

    /// Answers on one snapshot, so that a reload cannot mix two states of the data.
    async fn answer<N: NodeScope>(
        self,
        request: &LookupRequest<'_, N>,
        snapshot: &Snapshot,
    ) -> Result<Response, ApiError> {
        match &request.keys {
            RequestedKeys::FirstFound(_) => {
                let keys = request.keys.names();
                let run = |tree: &dyn Tree| request.first_found(&keys, tree);
                let (answer, explanation) = with_remote_answers(snapshot, &self, run).await?;
                self.app.metrics.count_lookup(LookupOutcome::of(&answer));
                let found = FoundValue::check(answer, explanation, &keys)?;
                Ok(self.show_found(found, &keys, &request.environment, snapshot))
            }
            RequestedKeys::Batch(keys) => {
                let run = |tree: &dyn Tree| {
                    let (environment, revision) = (&request.environment, snapshot.revision());
                    let mut reply = BatchReply::new(environment, revision, keys.len());
                    request.batch(keys, tree, |key, answer| reply.push(key, answer))?;
                    Ok(reply)
                };
                let reply = with_remote_answers(snapshot, &self, run).await?;
                for outcome in &reply.outcomes {
                    self.app.metrics.count_lookup(*outcome);
                }
                Ok(reply.into_response())
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
    fn fetch(&self, request: &RemoteRequest) -> impl Future<Output = RemoteAnswer> + Send {
        self.app.remotes.answer(request).instrument(self.id.span())
    }
}

impl App {
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
