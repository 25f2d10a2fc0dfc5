//! `POST /lookup` and `GET /lookup/{key}`: request → one snapshot → answer.

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::{Explain, Request, Scope, Session};

use super::App;
use super::body::{Asked, LookupBody, LookupRequest, bad, parse_merge, parse_type, read_body};
use super::error::{ApiError, ErrorKind};
use super::query::LookupQuery;
use super::reply::{self, Found, json_response};
use super::scope::RequestScope;
use crate::environments::Environment;
use crate::json::write_text;

/// Answers a lookup, or a batch of them.
pub(crate) async fn post_lookup(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match answer_post(&app, &headers, body).await {
        Ok(response) => response,
        Err(error) => show_error(error, &headers),
    }
}

async fn answer_post(app: &App, headers: &HeaderMap, body: Body) -> Result<Response, ApiError> {
    let bytes = read_body(headers, body, &app.limits).await?;
    let request = LookupBody::parse(&bytes, &app.limits)?;
    // One snapshot for the whole request, so that a reload cannot mix two states of the data.
    let environment = app.environment(&request.environment)?;
    let scope = RequestScope::new(
        &request.environment,
        &request.facts,
        &request.trusted,
        &request.variables,
        request.node.as_deref(),
    );
    match &request.asked {
        Asked::First(names) => {
            let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            let found = app.lookup(&environment, &scope, &Options::of(&request)?, &names)?;
            Ok(show_found(
                found,
                &names,
                &request.environment,
                &environment,
                headers,
            ))
        }
        Asked::Batch(names) => {
            let options = Options::of(&request)?;
            if options.request.explain != Explain::Nothing {
                return Err(bad("a batch cannot be explained; ask for one `key`"));
            }
            app.answer_batch(&environment, &scope, &options, names, &request.environment)
        }
    }
}

/// Answers a lookup that is written as a path and a query.
pub(crate) async fn get_lookup(
    State(app): State<App>,
    Path(key): Path<String>,
    Query(pairs): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    match answer_get(&app, &key, pairs, &headers) {
        Ok(response) => response,
        Err(error) => show_error(error, &headers),
    }
}

fn answer_get(
    app: &App,
    key: &str,
    pairs: Vec<(String, String)>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let query = LookupQuery::parse(pairs)?;
    let name = query.environment.as_deref().unwrap_or("production");
    let environment = app.environment(name)?;
    let scope = query.scope(name);
    let options = Options {
        merge: query.merge.as_ref().map(parse_merge).transpose()?,
        value_type: query.value_type.as_deref().map(parse_type).transpose()?,
        request: Request {
            default: query.default.as_ref(),
            explain: query.explain.unwrap_or(Explain::Nothing),
            ..Request::new(&[])
        },
    };
    let names = [key];
    let found = app.lookup(&environment, &scope, &options, &names)?;
    Ok(show_found(found, &names, name, &environment, headers))
}

/// What holds for every key of a request.
struct Options<'a> {
    merge: Option<hiera_resolver::MergeStrategy>,
    value_type: Option<hiera_resolver::Type>,
    request: Request<'a>,
}

impl<'a> Options<'a> {
    fn of(request: &'a LookupRequest<'_>) -> Result<Self, ApiError> {
        let merge = request
            .merge
            .as_ref()
            .filter(|merge| **merge != hiera_resolver::Value::Null);
        Ok(Options {
            merge: merge.map(parse_merge).transpose()?,
            value_type: request.value_type.as_deref().map(parse_type).transpose()?,
            request: Request {
                default: request.default.as_ref(),
                default_values: request.default_values.as_ref(),
                overrides: request.overrides.as_ref(),
                explain: request.explain,
                ..Request::new(&[])
            },
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
    fn environment(&self, name: &str) -> Result<Environment, ApiError> {
        match self.environments.get(name) {
            Some(environment) => Ok(environment),
            None if !self.environments.is_loaded() => Err(ApiError::new(
                ErrorKind::NotLoaded,
                "the environments are being loaded; try again in a moment",
            )),
            None => Err(ApiError::new(
                ErrorKind::UnknownEnvironment,
                format!("there is no environment `{name}`"),
            )),
        }
    }

    fn lookup(
        &self,
        environment: &Environment,
        scope: &dyn Scope,
        options: &Options<'_>,
        names: &[&str],
    ) -> Result<Found, ApiError> {
        let explains = options.request.explain != Explain::Nothing;
        let mut session = Session::new(&*environment.snapshot, scope, explains);
        reply::check(
            session.lookup(&options.for_names(names)),
            names,
            &self.metrics,
        )
    }

    /// Every key on its own, all on one snapshot.
    fn answer_batch(
        &self,
        environment: &Environment,
        scope: &dyn Scope,
        options: &Options<'_>,
        names: &[impl AsRef<str>],
        environment_name: &str,
    ) -> Result<Response, ApiError> {
        let mut session = Session::new(&*environment.snapshot, scope, false);
        let mut out = Vec::with_capacity(64 + 64 * names.len());
        out.extend_from_slice(b"{\"environment\":");
        write_text(environment_name, &mut out);
        out.extend_from_slice(b",\"revision\":");
        write_text(environment.snapshot.revision(), &mut out);
        out.extend_from_slice(b",\"results\":{");
        let mut seen: std::collections::HashSet<&str> =
            std::collections::HashSet::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            // Asked twice is answered once: an object has each key once.
            if !seen.insert(name) {
                continue;
            }
            if seen.len() > 1 {
                out.push(b',');
            }
            write_text(name, &mut out);
            out.push(b':');
            match reply::check(
                session.lookup(&options.for_names(&[name])),
                &[name],
                &self.metrics,
            ) {
                Ok(found) => {
                    out.extend_from_slice(b"{\"value\":");
                    found.write_value(&mut out);
                }
                Err(error) => {
                    out.extend_from_slice(b"{\"error\":");
                    error.write(&mut out);
                }
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"}}");
        Ok(json_response(out))
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
        _ => found.into_response(
            names.first().copied().unwrap_or_default(),
            name,
            environment.snapshot.revision(),
        ),
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
