//! An answer against the recorded one, as `run.py` compares them.

use crate::cases::Ask;
use crate::exact::Json;
use crate::support::{Reply, Tree};

/// In a recorded answer: the tree's absolute path.
pub(super) const ROOT_SHOWN: &str = "<ROOT>";

/// An answer, wherever it came from.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) outcome: Outcome,
    pub(super) explanation: Option<Json>,
    pub(super) text: Option<String>,
}

/// What a lookup came to.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Found {
        value: Json,
        sensitive: bool,
    },
    NotFound,
    Failed,
    BadRequest,
    UnknownEnvironment,
    /// Anything else.
    Other(String),
}

impl Got {
    /// What a reply says.
    pub(super) fn of_reply(reply: &Reply) -> Result<Self, String> {
        let text = String::from_utf8(reply.body.clone()).map_err(|error| error.to_string())?;
        let body =
            Json::parse(&text).map_err(|error| format!("the body is not JSON: {error}: {text}"))?;
        if !matches!(body, Json::Object(_)) {
            return Err(format!("the body is not an object: {text}"));
        }
        let kind = body.get("type").and_then(Json::as_text).unwrap_or_default();
        let kind = kind.rsplit('/').next().unwrap_or_default();
        let outcome = match (reply.status, kind, body.get("value")) {
            (200, "", Some(value)) => {
                let sensitive = body.get("sensitive") == Some(&Json::Bool(true));
                Outcome::Found {
                    value: value.clone(),
                    sensitive,
                }
            }
            (404, "key-not-found", None) => Outcome::NotFound,
            (404, "unknown-environment", None) => Outcome::UnknownEnvironment,
            (422, "lookup-failed", None) => Outcome::Failed,
            (400, _, None) => Outcome::BadRequest,
            (status, _, _) => Outcome::Other(format!("HTTP {status} {text}")),
        };
        Ok(Got {
            outcome,
            explanation: body.get("explanation").cloned(),
            text: None,
        })
    }

    /// The same with the tree's path as it is recorded.
    pub(super) fn shown(self, tree: &Tree) -> Self {
        let root = tree.root().display().to_string();
        let outcome = match self.outcome {
            Outcome::Found { value, sensitive } => Outcome::Found {
                value: value.replace(&root, ROOT_SHOWN),
                sensitive,
            },
            other => other,
        };
        Got {
            outcome,
            explanation: self.explanation.map(|json| json.replace(&root, ROOT_SHOWN)),
            text: self.text.map(|text| text.replace(&root, ROOT_SHOWN)),
        }
    }
}

/// Compares an answer with the recorded one.
pub(super) fn check(ask: &Ask, got: &Got) -> Result<(), String> {
    let want = ask.want();
    let explains_options = ask.request.get("explain").and_then(Json::as_text) == Some("options");
    if explains_options && ask.status() != "error" {
        return match &got.outcome {
            Outcome::Found { .. } | Outcome::NotFound => check_explanation(want, got),
            other => Err(format!("{other:?}; an explanation was asked for")),
        };
    }
    match (ask.status(), &got.outcome) {
        ("found", Outcome::Found { value, sensitive }) => {
            let wanted = want.get("value").ok_or("no value is recorded")?;
            if value != wanted {
                return Err(format!("value {value}; Puppet: {wanted}"));
            }
            let is_sensitive = want.get("sensitive") == Some(&Json::Bool(true));
            if *sensitive != is_sensitive {
                return Err(format!(
                    "sensitive is {sensitive}; should be {is_sensitive}"
                ));
            }
            check_explanation(want, got)
        }
        ("not_found", Outcome::NotFound) => check_explanation(want, got),
        ("error", Outcome::UnknownEnvironment) if ask.has("unknown_env") => Ok(()),
        ("error", Outcome::Failed) if !ask.has("unknown_env") => match is_told(ask) {
            Some(true) => check_explanation(want, got),
            _ => Ok(()),
        },
        ("error", Outcome::BadRequest) if ask.has("badreq") => Ok(()),
        (_, other) => Err(format!("{other:?}; Puppet: {want}")),
    }
}

/// Does Puppet's explanation of a failure end in the error? Where it does not, there is none.
pub(super) fn is_told(ask: &Ask) -> Option<bool> {
    match ask.want().get("told") {
        Some(Json::Bool(told)) => Some(*told),
        _ => None,
    }
}

fn check_explanation(want: &Json, got: &Got) -> Result<(), String> {
    let Some(wanted) = want.get("explain_json") else {
        return Ok(());
    };
    let explanation = got.explanation.as_ref().ok_or("no explanation")?;
    // The command `puppet lookup` tells a little more than the function; either will do.
    match first_difference(wanted, explanation, "explanation") {
        None => Ok(()),
        Some(difference) => match want.get("explain_json_cli") {
            Some(other) if first_difference(other, explanation, "explanation").is_none() => Ok(()),
            _ => Err(difference),
        },
    }
}

/// Compares an explanation as text.
pub(super) fn check_text(ask: &Ask, text: &str) -> Result<(), String> {
    let wanted = |name: &str| {
        ask.want()
            .get(name)
            .and_then(Json::as_text)
            .map(|text| text.trim_end_matches('\n'))
    };
    let text = text.trim_end_matches('\n');
    let (one, other) = (wanted("explain_text"), wanted("explain_text_cli"));
    match one {
        Some(want) if one != Some(text) && other != Some(text) => {
            Err(first_line_difference(want, text))
        }
        _ => Ok(()),
    }
}

/// `None` when alike. Objects of the explanation may order their keys freely, values may not.
fn first_difference(want: &Json, got: &Json, place: &str) -> Option<String> {
    match (want, got) {
        (Json::Object(wanted), Json::Object(members)) => {
            let names = |members: &[(String, Json)]| {
                members
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect::<Vec<_>>()
            };
            let missing: Vec<_> = names(wanted)
                .into_iter()
                .filter(|name| got.get(name).is_none())
                .collect();
            let extra: Vec<_> = names(members)
                .into_iter()
                .filter(|name| want.get(name).is_none())
                .collect();
            if !missing.is_empty() || !extra.is_empty() {
                return Some(format!(
                    "{place}: keys missing {missing:?}, keys extra {extra:?}"
                ));
            }
            wanted.iter().find_map(|(name, value)| {
                let other = got.get(name)?;
                let place = format!("{place}.{name}");
                match name.as_str() {
                    "value" => {
                        (value != other).then(|| format!("{place}: {other}; should be {value}"))
                    }
                    _ => first_difference(value, other, &place),
                }
            })
        }
        (Json::Array(wanted), Json::Array(items)) if wanted.len() == items.len() => {
            let pairs = wanted.iter().zip(items).enumerate();
            let mut pairs =
                pairs.map(|(number, (want, got))| (format!("{place}[{number}]"), want, got));
            pairs.find_map(|(place, want, got)| first_difference(want, got, &place))
        }
        _ => (want != got).then(|| format!("{place}: {got}; should be {want}")),
    }
}

/// The first line that is not as it should be.
pub(super) fn first_line_difference(want: &str, got: &str) -> String {
    let (mut want, mut got) = (want.lines(), got.lines());
    for number in 1.. {
        match (want.next(), got.next()) {
            (None, None) => break,
            (want, got) if want == got => {}
            (want, got) => {
                let line = |line: Option<&str>| line.unwrap_or("(end)").to_owned();
                return format!(
                    "line {number} is {:?}; should be {:?}",
                    line(got),
                    line(want)
                );
            }
        }
    }
    "alike by lines".to_owned()
}

/// Compares the answer to a batch with those recorded for its keys.
pub(super) fn check_batch(asks: &[&Ask], reply: &Reply, tree: &Tree) -> Result<(), String> {
    let text = String::from_utf8(reply.body.clone()).map_err(|error| error.to_string())?;
    if reply.status != 200 {
        return Err(format!("HTTP {} {text}", reply.status));
    }
    let body = Json::parse(&text).map_err(|error| error.to_string())?;
    let body = body.replace(&tree.root().display().to_string(), ROOT_SHOWN);
    let results = body.get("results").ok_or("no results")?;
    let keys: Vec<Option<&str>> = results
        .members()
        .iter()
        .map(|(name, _)| Some(name.as_str()))
        .collect();
    let asked: Vec<Option<&str>> = asks.iter().map(|ask| ask.key()).collect();
    if keys != asked {
        return Err(format!("results are {keys:?}; asked for {asked:?}"));
    }
    for ((key, entry), ask) in results.members().iter().zip(asks) {
        let kind = entry
            .get("error")
            .and_then(|error| error.get("type"))
            .and_then(Json::as_text);
        let is_right = match ask.status() {
            "found" => entry.get("value") == ask.want().get("value") && kind.is_none(),
            "not_found" => kind.is_some_and(|kind| kind.ends_with("/key-not-found")),
            _ => kind.is_some_and(|kind| kind.ends_with("/lookup-failed")),
        };
        if !is_right {
            return Err(format!("{key}: {entry}; Puppet: {}", ask.want()));
        }
    }
    Ok(())
}
