//! Reloads on demand, and changes of an environment as server-sent events.

use std::convert::Infallible;

use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt as _};

use super::environments::show_fault;
use crate::backends::hiera_http::CircuitEvent;
use crate::environments::{Change, ChangeKind, Environments};
use crate::http::App;
use crate::http::error::{ApiError, ErrorKind};
use crate::http::lookup::reply::json_response;
use crate::reload::ReloadOutcome;
use crate::timestamp::rfc_3339;

/// Reloads an environment and returns the outcome.
pub(crate) async fn reload_environment(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let unavailable = || {
        ApiError::new(
            ErrorKind::NotLoaded,
            "nothing can be reloaded at the moment",
        )
    };
    let reloader = app.reloader.as_ref().ok_or_else(unavailable)?;
    let outcome = reloader.reload(&name).await.ok_or_else(unavailable)?;
    let shown = match &*outcome {
        ReloadOutcome::Gone => {
            let detail = format!("there is no environment `{name}`");
            return Err(ApiError::new(ErrorKind::UnknownEnvironment, detail));
        }
        ReloadOutcome::Unchanged { revision } => {
            json!({ "environment": name, "outcome": "unchanged", "revision": revision })
        }
        ReloadOutcome::Swapped { revision, changes } => json!({
            "environment": name,
            "outcome": "loaded",
            "revision": revision,
            "added": changes.added,
            "changed": changes.changed,
            "removed": changes.removed,
        }),
        ReloadOutcome::Kept { revision, faults } => json!({
            "environment": name,
            "outcome": "kept",
            "revision": revision,
            "faults": faults.iter().map(show_fault).collect::<Vec<_>>(),
        }),
    };
    Ok(json_response(shown.to_string().into_bytes()))
}

/// The changes of an environment, as they happen.
pub(crate) async fn environment_events(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    // Subscribed before the current state is read, so that no change is missed in between.
    let changes = BroadcastStream::new(app.environments.subscribe());
    let circuits = BroadcastStream::new(app.remotes.subscribe());
    let current = app.environment(&name)?;
    let open_circuits = match current.has_remote_levels {
        true => app.remotes.open_circuits(),
        false => Vec::new(),
    };
    let revision = current.snapshot.revision().to_owned();
    let kind = match current.kept_because.is_empty() {
        true => ChangeKind::Loaded { revision },
        false => ChangeKind::Kept {
            revision,
            faults: current.kept_because,
        },
    };
    let first = Change {
        environment: name.clone(),
        kind,
    };
    let now = std::iter::once(StreamItem::Change(first))
        .chain(open_circuits.into_iter().map(StreamItem::Circuit));
    let later = changes
        .filter_map(Result::ok)
        .map(StreamItem::Change)
        .merge(circuits.filter_map(Result::ok).map(StreamItem::Circuit))
        .take_while(|item| !item.is_last())
        .filter(move |item| item.concerns(&name, &app.environments));
    let events = tokio_stream::iter(now)
        .chain(later)
        .map(|item| Ok(item.show()));
    Ok(respond(events))
}

/// What subscribers of an environment receive.
enum StreamItem {
    Change(Change),
    Circuit(CircuitEvent),
}

impl StreamItem {
    fn is_last(&self) -> bool {
        matches!(self, StreamItem::Change(change) if matches!(change.kind, ChangeKind::Stopping))
    }

    /// Other servers concern every environment that asks any of them.
    fn concerns(&self, name: &str, environments: &Environments) -> bool {
        match self {
            StreamItem::Change(change) => change.environment == name,
            StreamItem::Circuit(_) => environments
                .get(name)
                .is_some_and(|environment| environment.has_remote_levels),
        }
    }

    fn show(&self) -> Event {
        match self {
            StreamItem::Change(change) => show_change(change),
            StreamItem::Circuit(circuit) => show_circuit(circuit),
        }
    }
}

fn respond(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn show_change(change: &Change) -> Event {
    let (name, data) = match &change.kind {
        ChangeKind::Loaded { revision } => ("loaded", json!({ "revision": revision })),
        ChangeKind::Kept { revision, faults } => {
            let faults: Vec<_> = faults.iter().map(show_fault).collect();
            ("kept", json!({ "revision": revision, "faults": faults }))
        }
        ChangeKind::Removed | ChangeKind::Stopping => ("removed", json!({})),
    };
    Event::default().event(name).data(data.to_string())
}

fn show_circuit(circuit: &CircuitEvent) -> Event {
    let server = &circuit.server;
    let (name, data) = match &circuit.open {
        None => ("circuit_closed", json!({ "server": server })),
        Some(failure) => (
            "circuit_open",
            json!({
                "server": server,
                "until": failure.until.map(rfc_3339),
                "failures": failure.failures,
                "reason": failure.reason,
            }),
        ),
    };
    Event::default().event(name).data(data.to_string())
}
