//! What a lookup came to → the body of the reply.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::Explanation;
use hiera_resolver::work_budget;
use hiera_resolver::{Answer, Outcome, Value};

use crate::http::error::{ApiError, ErrorKind, error_text};
use crate::json::{write_text, write_value};
use crate::metrics::LookupOutcome;

/// A value that was found.
pub(crate) struct FoundValue {
    /// The index of its key among those asked for.
    key: usize,
    value: Value,
    pub(crate) explanation: Option<Box<Explanation>>,
}

impl FoundValue {
    /// The value, or the problem that the client gets.
    pub(crate) fn check(
        answer: Answer,
        explanation: Option<Box<Explanation>>,
        keys: &[&str],
    ) -> Result<Self, ApiError> {
        match answer.outcome {
            Ok(Outcome::Found(value)) => Ok(FoundValue {
                key: answer.name.unwrap_or_default(),
                value,
                explanation,
            }),
            Ok(Outcome::NotFound) => {
                let detail = match keys {
                    [key] => format!("no value was found for the key `{key}`"),
                    keys => format!(
                        "no value was found for any of the keys `{}`",
                        keys.join("`, `")
                    ),
                };
                Err(ApiError::new(ErrorKind::KeyNotFound, detail).with_explanation(explanation))
            }
            Err(error) => {
                let error = ApiError::new(ErrorKind::LookupFailed, error_text(&error));
                Err(error.with_explanation(explanation))
            }
        }
    }

    /// The reply to a request for one value.
    pub(crate) fn into_response(
        self,
        keys: &[&str],
        environment: &str,
        revision: &str,
    ) -> Response {
        let key = keys.get(self.key).copied().unwrap_or_default();
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(b"{\"key\":");
        write_text(key, &mut out);
        out.extend_from_slice(b",\"environment\":");
        write_text(environment, &mut out);
        out.extend_from_slice(b",\"value\":");
        self.write_value(&mut out);
        out.extend_from_slice(b",\"revision\":");
        write_text(revision, &mut out);
        if let Some(explanation) = &self.explanation {
            out.extend_from_slice(b",\"explanation\":");
            write_value(&explanation.to_value(), &mut out);
        }
        out.push(b'}');
        json_response(out)
    }

    /// Writes the value, and the flag that says whether it is Sensitive.
    fn write_value(&self, out: &mut Vec<u8>) {
        let traits = self.value.traits();
        match traits.weight < SMALL {
            true => write_value(&self.value, out),
            false => write_charged(&self.value, traits.weight, out),
        }
        if traits.has_sensitive {
            out.extend_from_slice(b",\"sensitive\":true");
        }
    }
}

/// The reply to a batch, written key by key.
pub(crate) struct BatchReply {
    out: Vec<u8>,
    /// What each key came to.
    pub(crate) outcomes: Vec<LookupOutcome>,
}

impl BatchReply {
    pub(crate) fn new(environment: &str, revision: &str, keys: usize) -> Self {
        let mut out = Vec::with_capacity(64 + 64 * keys);
        out.extend_from_slice(b"{\"environment\":");
        write_text(environment, &mut out);
        out.extend_from_slice(b",\"revision\":");
        write_text(revision, &mut out);
        out.extend_from_slice(b",\"results\":{");
        BatchReply {
            out,
            outcomes: Vec::with_capacity(keys),
        }
    }

    pub(crate) fn push(&mut self, key: &str, answer: Answer) {
        let out = &mut self.out;
        if !self.outcomes.is_empty() {
            out.push(b',');
        }
        self.outcomes.push(LookupOutcome::of(&answer));
        write_text(key, out);
        match FoundValue::check(answer, None, &[key]) {
            Ok(found) => {
                out.extend_from_slice(b":{\"value\":");
                found.write_value(out);
            }
            Err(error) => {
                out.extend_from_slice(b":{\"error\":");
                error.write(out);
            }
        }
        out.push(b'}');
    }

    pub(crate) fn into_response(mut self) -> Response {
        self.out.extend_from_slice(b"}}");
        json_response(self.out)
    }
}

/// The weight of a value from which writing it is charged. Below, the lookup has cost far more.
const SMALL: u32 = 16;

/// Writes a value, unless it is more than the budget allows. What is made of a spent budget is discarded.
fn write_charged(value: &Value, weight: u32, out: &mut Vec<u8>) {
    // The weight counts pieces of 16 bytes. Escapes may take more.
    let expected = weight as usize * 16;
    if work_budget::charge(u64::from(weight) / 4).is_err()
        || work_budget::charge_bytes(expected).is_err()
    {
        return;
    }
    let start = out.len();
    write_value(value, out);
    _ = work_budget::charge_bytes((out.len() - start).saturating_sub(expected));
}

/// A reply of JSON.
pub(crate) fn json_response(body: Vec<u8>) -> Response {
    // By hand, since a tuple would set the content type of plain bytes first, and then replace it.
    let mut response = Response::new(Body::from(body));
    let content_type = HeaderValue::from_static("application/json");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}

/// An explanation as text.
pub(crate) fn text_response(status: StatusCode, explanation: &Explanation) -> Response {
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    (
        status,
        [(header::CONTENT_TYPE, content_type)],
        explanation.to_string(),
    )
        .into_response()
}
