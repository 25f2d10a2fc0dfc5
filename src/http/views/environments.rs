//! `GET /environments`: the environments that are served, with their layers, hierarchy and faults.

use axum::extract::{Path, State};
use axum::response::Response;
use hiera_resolver::hierarchy::{ConfigText, HieraConfig, Level, Locations};
use hiera_resolver::remote::without_user;
use hiera_resolver::{Fault, Layer};
use serde_json::{Value, json};

use crate::environments::{self, Environment};
use crate::http::App;
use crate::http::error::ApiError;
use crate::http::lookup::reply::json_response;
use crate::timestamp::rfc_3339;

/// A summary of every environment.
pub(crate) async fn list_environments(State(app): State<App>) -> Response {
    let all = app.environments.all();
    let list: serde_json::Map<String, Value> = all
        .iter()
        .map(|(name, environment)| (name.clone(), summary(environment)))
        .collect();
    to_response(&json!({ "environments": list }))
}

/// One environment with its layers and hierarchy.
pub(crate) async fn show_environment(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let environment = app.environment(&name)?;
    let mut shown = summary(&environment);
    if let Value::Object(members) = &mut shown {
        members.insert("environment".to_owned(), json!(name));
        let served = environments::faults(&environment.snapshot);
        let faults = if environment.kept_because.is_empty() {
            &served
        } else {
            &*environment.kept_because
        };
        let faults: Vec<Value> = faults.iter().map(show_fault).collect();
        members.insert("faults".to_owned(), Value::Array(faults));
        let layers: Vec<Value> = environments::layers(&environment.snapshot)
            .filter(|(_, layer)| !matches!(layer, Layer::Absent))
            .map(|(name, layer)| show_layer(&name, layer))
            .collect();
        members.insert("layers".to_owned(), Value::Array(layers));
    }
    Ok(to_response(&shown))
}

fn to_response(value: &Value) -> Response {
    json_response(value.to_string().into_bytes())
}

fn summary(environment: &Environment) -> Value {
    let snapshot = &environment.snapshot;
    let faults = environments::faults(snapshot);
    let notices = environments::notices(snapshot);
    let state = match (environment.kept_because.is_empty(), faults.is_empty()) {
        (false, _) => "kept",
        (true, false) => "faulty",
        (true, true) => "ok",
    };
    let last_fault = environment.kept_because.last().or(faults.last());
    let keys: usize = snapshot
        .files()
        .filter_map(|file| file.contents().ok())
        .map(|contents| contents.len())
        .sum();
    json!({
        "state": state,
        "revision": snapshot.revision(),
        "loaded_at": rfc_3339(environment.loaded_at),
        "files": snapshot.files().count(),
        "keys": keys,
        "last_fault": last_fault.map(ToString::to_string),
        "notices": notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

pub(super) fn show_fault(fault: &Fault) -> Value {
    json!({
        "file": fault.path,
        "line": fault.position.map(|(line, _)| line),
        "column": fault.position.map(|(_, column)| column),
        "message": fault.problem,
    })
}

fn show_layer(name: &str, layer: &Layer) -> Value {
    match layer {
        Layer::Absent => json!({ "layer": name, "state": "absent" }),
        Layer::Ignored(fault) => {
            json!({ "layer": name, "state": "ignored", "reason": fault.problem })
        }
        Layer::Faulty(faults) => {
            json!({ "layer": name, "state": "faulty", "faults": faults.to_string() })
        }
        Layer::Configured(config) => json!({
            "layer": name,
            "state": "ok",
            "config": config.path().map(|path| path.as_str()),
            "version": config.version(),
            "hierarchy": show_levels(config.levels()),
            "default_hierarchy": default_levels(config),
        }),
    }
}

fn default_levels(config: &HieraConfig) -> Value {
    config.default_levels().map_or(Value::Null, show_levels)
}

fn show_levels(levels: &[Level]) -> Value {
    levels.iter().map(show_level).collect()
}

fn show_level(level: &Level) -> Value {
    let texts = |texts: &[ConfigText]| {
        texts
            .iter()
            .map(|text| text.source().to_string())
            .collect::<Vec<_>>()
    };
    let mut shown =
        json!({ "name": level.name().as_str(), "datadir": level.datadir().source().as_str() });
    let Value::Object(members) = &mut shown else {
        return shown;
    };
    let (kind, name) = level.function().kind_and_name();
    members.insert(kind.to_owned(), json!(name));
    match level.locations() {
        Locations::None => {}
        Locations::Paths(paths) => _ = members.insert("paths".to_owned(), json!(texts(paths))),
        Locations::Globs(globs) => _ = members.insert("globs".to_owned(), json!(texts(globs))),
        Locations::Uris(uris) => {
            let uris = uris.iter().map(|uri| without_user(uri.source()));
            members.insert("uris".to_owned(), uris.collect());
        }
        Locations::Mapped {
            variable,
            name,
            path,
        } => {
            let mapped = json!([
                variable.text.as_str(),
                name.as_str(),
                path.source().as_str()
            ]);
            members.insert("mapped_paths".to_owned(), mapped);
        }
    }
    shown
}
