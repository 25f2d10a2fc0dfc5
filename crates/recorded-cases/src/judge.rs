//! [`judge`]: an answer of hierad, from whatever interface, against the recorded one.

use crate::case::Question;
use crate::json::Json;

/// Stands for the absolute path of the tree in recorded answers.
pub const ROOT_SHOWN: &str = "<ROOT>";

/// What an interface answered, with the path of the tree replaced by [`ROOT_SHOWN`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The outcome, with the explanation as data where one is given: the library, and JSON over HTTP.
    Data {
        /// What the lookup came to.
        outcome: Outcome,
        /// The explanation.
        explanation: Option<Json>,
    },
    /// An explanation as text: `--explain`, and `Accept: text/plain`.
    Text {
        /// The explanation; `None` if there is an error alone.
        text: Option<String>,
        /// Was a value found? `None` if the interface does not say.
        is_found: Option<bool>,
    },
    /// The value alone, or none: `hierad lookup --render-as json`.
    Value(Option<Json>),
}

/// What a lookup came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A value.
    Found {
        /// The value.
        value: Json,
        /// Is it, or a part of it, Sensitive?
        sensitive: bool,
    },
    /// No value.
    NotFound,
    /// The data cannot answer.
    Failed,
    /// The request was refused.
    BadRequest,
    /// There is no such environment.
    UnknownEnvironment,
    /// Anything else.
    Other(String),
}

/// How an answer differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Difference(pub String);

impl Difference {
    fn new(text: impl Into<String>) -> Self {
        Difference(text.into())
    }
}

impl From<&str> for Difference {
    fn from(text: &str) -> Self {
        Difference::new(text)
    }
}

impl Answer {
    /// The answer in a JSON reply to a single lookup.
    pub fn from_json_reply(status: u16, body: &str) -> Result<Self, Difference> {
        let json = Json::parse(body)
            .map_err(|error| Difference(format!("the body is not JSON: {error}: {body}")))?;
        if !matches!(json, Json::Object(_)) {
            return Err(Difference(format!("the body is not an object: {body}")));
        }
        let outcome = Outcome::from_members(status, &json, &json);
        Ok(Answer::Data {
            explanation: json.get("explanation").cloned(),
            outcome: outcome.unwrap_or_else(|| Outcome::Other(format!("HTTP {status}: {body}"))),
        })
    }

    /// The answer in a reply to a single lookup that was asked for as `text/plain`.
    pub fn from_text_reply(
        status: u16,
        content_type: &str,
        body: &str,
    ) -> Result<Self, Difference> {
        let is_text = content_type.starts_with("text/plain");
        match (is_text, status) {
            (true, 200 | 404 | 422) | (false, 400..) => Ok(Answer::Text {
                text: is_text.then(|| body.to_owned()),
                is_found: Some(status == 200),
            }),
            _ => Err(Difference(format!("HTTP {status} {content_type}: {body}"))),
        }
    }

    /// The answer in an entry of a batch.
    pub fn from_batch_entry(entry: &Json) -> Self {
        let error = entry.get("error");
        let status = match error.and_then(|error| error.get("status")) {
            Some(Json::Integer(digits)) => digits.parse().unwrap_or(0),
            _ => 200,
        };
        let outcome = Outcome::from_members(status, entry, error.unwrap_or(entry));
        Answer::Data {
            outcome: outcome.unwrap_or_else(|| Outcome::Other(entry.to_string())),
            explanation: None,
        }
    }

    /// The same with a text replaced everywhere, such as the path of the tree by [`ROOT_SHOWN`].
    #[must_use]
    pub fn replace(self, old: &str, new: &str) -> Self {
        match self {
            Answer::Data {
                outcome,
                explanation,
            } => Answer::Data {
                outcome: match outcome {
                    Outcome::Found { value, sensitive } => Outcome::Found {
                        value: value.replace(old, new),
                        sensitive,
                    },
                    other => other,
                },
                explanation: explanation.map(|json| json.replace(old, new)),
            },
            Answer::Text { text, is_found } => Answer::Text {
                text: text.map(|text| text.replace(old, new)),
                is_found,
            },
            Answer::Value(value) => Answer::Value(value.map(|value| value.replace(old, new))),
        }
    }
}

impl Outcome {
    fn from_members(status: u16, result: &Json, problem: &Json) -> Option<Self> {
        let kind = problem.get("type").and_then(Json::as_text);
        let kind = kind.and_then(|kind| kind.rsplit('/').next());
        Some(match (status, kind, result.get("value")) {
            (200, None, Some(value)) => Outcome::Found {
                value: value.clone(),
                sensitive: result.get("sensitive") == Some(&Json::Bool(true)),
            },
            (404, Some("key-not-found"), None) => Outcome::NotFound,
            (404, Some("unknown-environment"), None) => Outcome::UnknownEnvironment,
            (422, Some("lookup-failed"), None) => Outcome::Failed,
            (400, _, None) => Outcome::BadRequest,
            _ => return None,
        })
    }
}

impl Question<'_> {
    /// Is there something recorded that a text explanation can be compared with?
    pub fn has_recorded_text(&self) -> bool {
        self.is_explained()
            && (self.fails_unexplained() || self.expected.get("explain_text").is_some())
    }

    /// Does Puppet print the error alone, although an explanation was asked for?
    fn fails_unexplained(&self) -> bool {
        self.expected.get("told") == Some(&Json::Bool(false))
    }

    /// Does Puppet print an explanation that ends in the error?
    fn fails_explained(&self) -> bool {
        self.expected.get("told") == Some(&Json::Bool(true))
    }

    /// A recorded text, without the ends of lines at its end.
    fn recorded_text(&self, member: &str) -> Option<&str> {
        let text = self.expected.get(member)?.as_text()?;
        Some(text.trim_end_matches('\n'))
    }
}

/// Compares an answer with the recorded one.
pub fn judge(question: &Question<'_>, answer: &Answer) -> Result<(), Difference> {
    match answer {
        Answer::Data {
            outcome,
            explanation,
        } => judge_data(question, outcome, explanation.as_ref()),
        Answer::Text { text, is_found } => judge_text(question, text.as_deref(), *is_found),
        Answer::Value(value) => judge_value(question, value.as_ref()),
    }
}

fn judge_data(
    question: &Question<'_>,
    outcome: &Outcome,
    explanation: Option<&Json>,
) -> Result<(), Difference> {
    if question.explains_options() && question.status() != "error" {
        return match outcome {
            Outcome::Found { .. } | Outcome::NotFound => judge_explanation(question, explanation),
            other => Err(Difference(format!(
                "{other:?}; an explanation was asked for"
            ))),
        };
    }
    match (question.status(), outcome) {
        ("found", Outcome::Found { value, sensitive }) => {
            judge_value(question, Some(value))?;
            let is_sensitive = question.expected.get("sensitive") == Some(&Json::Bool(true));
            if *sensitive != is_sensitive {
                return Err(Difference(format!(
                    "sensitive is {sensitive}; should be {is_sensitive}"
                )));
            }
            judge_explanation(question, explanation)
        }
        ("not_found", Outcome::NotFound) => judge_explanation(question, explanation),
        ("error", Outcome::UnknownEnvironment) if question.has("unknown_env") => Ok(()),
        ("error", Outcome::Failed) if !question.has("unknown_env") => {
            match question.fails_explained() {
                true => judge_explanation(question, explanation),
                false => Ok(()),
            }
        }
        ("error", Outcome::BadRequest) if question.has("badreq") => Ok(()),
        (_, other) => Err(Difference(format!(
            "{other:?}; Puppet: {}",
            question.expected
        ))),
    }
}

fn judge_value(question: &Question<'_>, value: Option<&Json>) -> Result<(), Difference> {
    let expected = match question.status() {
        "found" => Some(
            question
                .expected
                .get("value")
                .ok_or("no value is recorded")?,
        ),
        _ => None,
    };
    if value == expected {
        return Ok(());
    }
    let shown = |value: Option<&Json>| value.map_or("none".to_owned(), ToString::to_string);
    let (value, expected) = (shown(value), shown(expected));
    Err(Difference(format!("value {value}; Puppet: {expected}")))
}

fn judge_text(
    question: &Question<'_>,
    text: Option<&str>,
    is_found: Option<bool>,
) -> Result<(), Difference> {
    let Some(text) = text else {
        return match question.fails_unexplained() {
            true => Ok(()),
            false => Err("an error alone; Puppet explains".into()),
        };
    };
    if question.fails_unexplained() {
        return Err(Difference(format!("{text}\nPuppet: an error alone")));
    }
    let should_be_found = question.status() == "found";
    if !question.explains_options() && is_found.is_some_and(|found| found != should_be_found) {
        return Err(Difference(format!(
            "found: {is_found:?}; Puppet: {should_be_found}"
        )));
    }
    let expected = question
        .recorded_text("explain_text")
        .ok_or("no text is recorded")?;
    let text = text.trim_end_matches('\n');
    // The command `puppet lookup` says a little more than the function; both are accepted.
    match text == expected || Some(text) == question.recorded_text("explain_text_cli") {
        true => Ok(()),
        false => Err(first_line_difference(expected, text)),
    }
}

fn judge_explanation(
    question: &Question<'_>,
    explanation: Option<&Json>,
) -> Result<(), Difference> {
    let Some(expected) = question.expected.get("explain_json") else {
        return Ok(());
    };
    let explanation = explanation.ok_or("no explanation")?;
    let Some(difference) = first_difference(expected, explanation, "explanation") else {
        return Ok(());
    };
    match question.expected.get("explain_json_cli") {
        Some(other) if first_difference(other, explanation, "explanation").is_none() => Ok(()),
        _ => Err(Difference(difference)),
    }
}

/// `None` if alike. The objects of an explanation may have their keys in any order, but not those of a `value`.
fn first_difference(expected: &Json, got: &Json, path: &str) -> Option<String> {
    match (expected, got) {
        (Json::Object(members), Json::Object(others)) => {
            let lacks = |json: &Json, members: &[(String, Json)]| -> Vec<String> {
                let names = members.iter().map(|(name, _)| name);
                let names = names.filter(|name| json.get(name).is_none());
                names.cloned().collect()
            };
            let (missing, extra) = (lacks(got, members), lacks(expected, others));
            if !missing.is_empty() || !extra.is_empty() {
                return Some(format!(
                    "{path}: keys missing {missing:?}, keys extra {extra:?}"
                ));
            }
            members.iter().find_map(|(name, value)| {
                let other = got.get(name)?;
                let path = format!("{path}.{name}");
                match name.as_str() {
                    "value" => {
                        (value != other).then(|| format!("{path}: {other}; should be {value}"))
                    }
                    _ => first_difference(value, other, &path),
                }
            })
        }
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            pairs.find_map(|(index, (item, other))| {
                first_difference(item, other, &format!("{path}[{index}]"))
            })
        }
        _ => (expected != got).then(|| format!("{path}: {got}; should be {expected}")),
    }
}

/// The first line that differs.
fn first_line_difference(expected: &str, got: &str) -> Difference {
    let (mut expected, mut got) = (expected.split('\n'), got.split('\n'));
    let mut number = 0;
    loop {
        number += 1;
        let pair = (expected.next(), got.next());
        if pair.0 != pair.1 {
            let line = |line: Option<&str>| line.unwrap_or("(end)").to_owned();
            return Difference(format!(
                "line {number} is {:?}; should be {:?}",
                line(pair.1),
                line(pair.0)
            ));
        }
        if pair == (None, None) {
            return Difference::new("equal line by line");
        }
    }
}

#[cfg(test)]
mod tests;
