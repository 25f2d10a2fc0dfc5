//! `POST /lookup` and `GET /lookup/{key}`: request → one snapshot → answer.

mod answered;
mod body;
mod entity_tag;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod query;
pub(super) mod reply;
mod scan;
pub(super) mod scope;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::http::{self, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::{Explain, MergeStrategy, Request, Scope, Session, Type, Value};

use self::answered::{AnsweredTree, Answers, Failure};
use self::body::{
    Asked, LookupBody, LookupRequest, RequestBody, bad, parse_merge, parse_type, read_body,
};
use self::entity_tag::{EntityTag, caching_headers};
use self::query::LookupQuery;
use self::reply::{Found, json_response};
use self::scope::RequestScope;
use super::App;
use super::error::{ApiError, ErrorKind};
use super::gate::RequestId;
use crate::environments::Environment;
use crate::json::write_text;

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
    try_answer_post(app, headers, id, body)
        .await
        .unwrap_or_else(|error| show_error(error, headers))
}

async fn try_answer_post(
    app: &App,
    headers: &HeaderMap,
    id: &RequestId,
    body: impl RequestBody,
) -> Result<Response, ApiError> {
    let bytes = read_body(headers, body, &app.limits).await?;
    let request = LookupBody::parse(&bytes, &app.limits)?;
    // One snapshot for the whole request, so that a reload cannot mix two states of the data.
    let environment = app.environment(&request.environment)?;
    app.with_answers(id, |answers| {
        app.try_post(&request, &environment, answers, headers)
    })
    .await
}

/// Answers a lookup that is written as a path and a query.
pub(crate) async fn get_lookup(
    State(app): State<App>,
    key: Result<Path<String>, PathRejection>,
    pairs: Result<Query<Vec<(String, String)>>, QueryRejection>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    let answer = match (key, pairs) {
        (Ok(Path(key)), Ok(Query(pairs))) => answer_get(&app, &key, pairs, &id, &headers).await,
        (Err(rejection), _) => Err(bad(format!(
            "the key cannot be read: {}",
            rejection.body_text()
        ))),
        (_, Err(rejection)) => Err(bad(format!(
            "the query cannot be read: {}",
            rejection.body_text()
        ))),
    };
    answer.unwrap_or_else(|error| show_error(error, &headers))
}

async fn answer_get(
    app: &App,
    key: &str,
    pairs: Vec<(String, String)>,
    id: &RequestId,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let query = LookupQuery::parse(pairs)?;
    let name = query.environment.as_deref().unwrap_or("production");
    let environment = app.environment(name)?;
    let tag = EntityTag::of(&environment, headers);
    // The same data gives the same answer, so there is no need to look.
    if let Some(known) = tag.as_ref().and_then(|tag| tag.known_to_client(headers)) {
        return Ok((StatusCode::NOT_MODIFIED, caching_headers(known)).into_response());
    }
    let mut response = app
        .with_answers(id, |answers| {
            app.try_get(key, &query, name, &environment, answers, headers)
        })
        .await?;
    if let Some(tag) = tag {
        response.headers_mut().extend(caching_headers(tag.strong));
    }
    Ok(response)
}

/// What holds for every key of a request.
struct Options<'a> {
    merge: Option<MergeStrategy>,
    value_type: Option<Type>,
    request: Request<'a>,
    explain: Option<Explain>,
}

impl<'a> Options<'a> {
    fn of_body(request: &'a LookupRequest<'_>) -> Result<Self, ApiError> {
        let merge = request
            .merge
            .as_ref()
            .filter(|merge| **merge != Value::Null);
        Ok(Options {
            merge: merge.map(parse_merge).transpose()?,
            value_type: request.value_type.as_deref().map(parse_type).transpose()?,
            request: Request {
                default: request.default.as_ref(),
                default_values: request.default_values.as_ref(),
                overrides: request.overrides.as_ref(),
                ..Request::new(&[])
            },
            explain: request.explain,
        })
    }

    fn of_query(query: &'a LookupQuery) -> Result<Self, ApiError> {
        Ok(Options {
            merge: query.merge.as_ref().map(parse_merge).transpose()?,
            value_type: query.value_type.as_deref().map(parse_type).transpose()?,
            request: Request {
                default: query.default.as_ref(),
                ..Request::new(&[])
            },
            explain: query.explain.flatten(),
        })
    }

    fn for_names<'b>(&'b self, names: &'b [&'b str]) -> Request<'b> {
        Request {
            names,
            merge: self.merge.as_ref(),
            value_type: self.value_type.as_ref(),
            ..self.request
        }
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

    fn try_post(
        &self,
        request: &LookupRequest<'_>,
        environment: &Environment,
        answers: &Answers,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let scope = RequestScope::new(
            &request.environment,
            &request.facts,
            &request.trusted,
            &request.variables,
            request.node.as_deref(),
        );
        let tree = AnsweredTree::new(&environment.snapshot, answers);
        let options = Options::of_body(request)?;
        match &request.asked {
            Asked::First(names) => {
                let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
                let found = self.lookup(&tree, &scope, &options, &names)?;
                Ok(show_found(
                    found,
                    &names,
                    &request.environment,
                    environment,
                    headers,
                ))
            }
            Asked::Batch(_) if options.explain.is_some() => {
                Err(bad("a batch cannot be explained; ask for one `key`").into())
            }
            Asked::Batch(names) => {
                let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
                let body =
                    self.lookup_batch(&tree, &scope, &options, &names, &request.environment)?;
                Ok(json_response(body))
            }
        }
    }

    fn try_get(
        &self,
        key: &str,
        query: &LookupQuery,
        name: &str,
        environment: &Environment,
        answers: &Answers,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let tree = AnsweredTree::new(&environment.snapshot, answers);
        let found = self.lookup(
            &tree,
            &query.scope(name),
            &Options::of_query(query)?,
            &[key],
        )?;
        Ok(show_found(found, &[key], name, environment, headers))
    }

    fn lookup(
        &self,
        tree: &AnsweredTree<'_>,
        scope: &dyn Scope,
        options: &Options<'_>,
        names: &[&str],
    ) -> Result<Found, Failure> {
        let request = options.for_names(names);
        let (answer, explanation) = request.answer(tree, scope, options.explain);
        Ok(reply::check(
            Failure::if_needed(answer)?,
            explanation,
            names,
            &self.metrics,
        )?)
    }

    /// Every key on its own, all on one snapshot.
    fn lookup_batch(
        &self,
        tree: &AnsweredTree<'_>,
        scope: &dyn Scope,
        options: &Options<'_>,
        names: &[&str],
        environment: &str,
    ) -> Result<Vec<u8>, Failure> {
        let mut session = Session::new(tree, scope);
        let mut out = Vec::with_capacity(64 + 64 * names.len());
        out.extend_from_slice(b"{\"environment\":");
        write_text(environment, &mut out);
        out.extend_from_slice(b",\"revision\":");
        write_text(tree.revision(), &mut out);
        out.extend_from_slice(b",\"results\":{");
        let mut seen: std::collections::HashSet<&str> =
            std::collections::HashSet::with_capacity(names.len());
        for name in names {
            // Asked twice is answered once: an object has each key once.
            if !seen.insert(name) {
                continue;
            }
            if seen.len() > 1 {
                out.push(b',');
            }
            write_text(name, &mut out);
            let answer = Failure::if_needed(session.lookup(&options.for_names(&[name])))?;
            match reply::check(answer, None, &[name], &self.metrics) {
                Ok(found) => {
                    out.extend_from_slice(b":{\"value\":");
                    found.write_value(&mut out);
                }
                Err(error) => {
                    out.extend_from_slice(b":{\"error\":");
                    error.write(&mut out);
                }
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"}}");
        Ok(out)
    }
}

fn show_found(
    found: Found,
    names: &[&str],
    name: &str,
    environment: &Environment,
    headers: &HeaderMap,
) -> Response {
    match &found.explanation {
        Some(explanation) if wants_text(headers) => {
            reply::text_response(StatusCode::OK, explanation)
        }
        _ => found.into_response(names, name, environment.snapshot.revision()),
    }
}

fn show_error(error: ApiError, headers: &HeaderMap) -> Response {
    match error.telling_explanation() {
        Some(explanation) if wants_text(headers) => {
            reply::text_response(error.kind().status(), explanation)
        }
        _ => error.into_response(),
    }
}

/// Does the client ask for text rather than JSON?
pub(super) fn wants_text(headers: &HeaderMap) -> bool {
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
