//! [`EntityTag`]: distinguishes the answers to `GET /lookup/{key}` under the same URI.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::wants_text;
use crate::environments::Environment;

/// The tag of an answer: the data, and the form that is asked for.
#[derive(Debug)]
pub(super) struct EntityTag {
    pub(super) strong: HeaderValue,
}

impl EntityTag {
    /// `None` if other servers have a say in the answer.
    pub(super) fn of(environment: &Environment, headers: &HeaderMap) -> Option<Self> {
        if environment.has_remote_levels {
            return None;
        }
        let form = if wants_text(headers) { "-text" } else { "" };
        let tag = format!("\"{}{form}\"", environment.snapshot.revision());
        let strong = HeaderValue::from_str(&tag).ok()?;
        Some(EntityTag { strong })
    }

    /// The tag as the client knows it, if `If-None-Match` names it: weak where it got a compressed answer. A cache
    /// refreshes what it holds only under the tag that it has.
    pub(super) fn known_to(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let known = headers.get_all(header::IF_NONE_MATCH).iter();
        let mut known = known
            .filter_map(|value| value.to_str().ok())
            .flat_map(|list| list.split(',').map(str::trim));
        let strong = self.strong.to_str().ok()?;
        known.find_map(|known| match known {
            "*" => Some(self.strong.clone()),
            known if known.strip_prefix("W/").unwrap_or(known) == strong => {
                HeaderValue::from_str(known).ok()
            }
            _ => None,
        })
    }
}

/// What caches need to know of an answer, and of a 304 that replaces it.
pub(super) fn caching_headers(tag: HeaderValue) -> [(HeaderName, HeaderValue); 2] {
    [
        (header::ETAG, tag),
        (
            header::VARY,
            HeaderValue::from_static("accept, accept-encoding"),
        ),
    ]
}
