//! What a lookup came to → the body of the answer.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiera_resolver::explain::Explanation;
use hiera_resolver::{Answer, Outcome, Value};

use crate::http::error::{ApiError, ErrorKind};
use crate::json::{write_text, write_value};
use crate::metrics::{LookupOutcome, Metrics};

/// A value that was found.
pub(crate) struct Found {
    /// Its place among the names asked for.
    pub(crate) name: usize,
    pub(crate) value: Value,
    pub(crate) explanation: Option<Explanation>,
}

/// The value, or the problem that the client sees.
pub(crate) fn check(
    answer: Answer,
    explanation: Option<Explanation>,
    names: &[&str],
    metrics: &Metrics,
) -> Result<Found, ApiError> {
    let Answer { outcome, name } = answer;
    match outcome {
        Ok(Outcome::Found(value)) => {
            metrics.count_lookup(LookupOutcome::Found);
            Ok(Found {
                name: name.unwrap_or_default(),
                value,
                explanation,
            })
        }
        Ok(Outcome::NotFound) => {
            metrics.count_lookup(LookupOutcome::NotFound);
            let detail = match names {
                [name] => format!("no value was found for the key `{name}`"),
                names => format!(
                    "no value was found for any of the keys `{}`",
                    names.join("`, `")
                ),
            };
            Err(ApiError::new(ErrorKind::KeyNotFound, detail).with_explanation(explanation))
        }
        Err(error) => {
            metrics.count_lookup(LookupOutcome::Failed);
            Err(ApiError::new(ErrorKind::LookupFailed, error.to_string())
                .with_explanation(explanation))
        }
    }
}

impl Found {
    /// The answer to a request for one value.
    pub(crate) fn into_response(
        self,
        names: &[&str],
        environment: &str,
        revision: &str,
    ) -> Response {
        let key = names.get(self.name).copied().unwrap_or_default();
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

    /// The value, and the note that it is a secret where it is one.
    pub(crate) fn write_value(&self, out: &mut Vec<u8>) {
        write_value(&self.value, out);
        if self.value.traits().has_sensitive {
            out.extend_from_slice(b",\"sensitive\":true");
        }
    }
}

/// An answer of JSON.
pub(crate) fn json_response(body: Vec<u8>) -> Response {
    (
        StatusCode::OK,
        [(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        )],
        body,
    )
        .into_response()
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
