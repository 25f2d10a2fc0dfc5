//! The body of `POST /lookup`: bytes → [`LookupBody`], every mistake named.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use hiera_resolver::scope::is_assignable;
use hiera_resolver::{Explain, Hash, MergeStrategy, Type, Value};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{ApiError, ErrorKind};
use super::scope::{RawObject, read};
use crate::config::Limits;

/// A request as it stands in the body. What is not needed is not read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookupBody<'a> {
    #[serde(borrow, default)]
    key: Option<Names<'a>>,
    #[serde(borrow, default)]
    keys: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow, default)]
    environment: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    facts: Option<RawObject<'a>>,
    #[serde(borrow, default)]
    trusted: Option<RawObject<'a>>,
    #[serde(borrow, default)]
    node: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    variables: Option<RawObject<'a>>,
    #[serde(borrow, default)]
    merge: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    default: Option<&'a RawValue>,
    #[serde(borrow, default)]
    default_values: Option<RawObject<'a>>,
    #[serde(borrow, default)]
    r#override: Option<RawObject<'a>>,
    #[serde(borrow, default, rename = "type")]
    value_type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    explain: Option<ExplainField<'a>>,
}

/// `null` is a default like any other.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`key` must be a string or an array of strings")]
enum Names<'a> {
    One(#[serde(borrow)] Cow<'a, str>),
    Several(#[serde(borrow)] Vec<Cow<'a, str>>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`explain` must be true, false or \"options\"")]
enum ExplainField<'a> {
    Flag(bool),
    Word(#[serde(borrow)] Cow<'a, str>),
}

/// A request that has been checked.
#[derive(Debug)]
pub(crate) struct LookupRequest<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) environment: Cow<'a, str>,
    pub(crate) facts: RawObject<'a>,
    pub(crate) trusted: RawObject<'a>,
    pub(crate) node: Option<Cow<'a, str>>,
    pub(crate) variables: RawObject<'a>,
    pub(crate) merge: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) default_values: Option<Hash>,
    pub(crate) overrides: Option<Hash>,
    pub(crate) value_type: Option<Cow<'a, str>>,
    pub(crate) explain: Explain,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Asked<'a> {
    /// The first of these that is found.
    First(Vec<Cow<'a, str>>),
    /// Each of these.
    Batch(Vec<Cow<'a, str>>),
}

impl<'a> LookupBody<'a> {
    /// Reads a body.
    pub(crate) fn parse(bytes: &'a [u8], limits: &Limits) -> Result<LookupRequest<'a>, ApiError> {
        check_nesting(bytes, limits.max_nesting)?;
        // A list would otherwise be taken for the fields in their order.
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(bad(
                "the body is not a lookup request: it must be a JSON object",
            ));
        }
        // Checked once as a whole, which is far cheaper than text by text.
        let text = std::str::from_utf8(bytes)
            .map_err(|error| bad(format!("the body is not a lookup request: {error}")))?;
        let body: LookupBody<'a> = serde_json::from_str(text)
            .map_err(|error| bad(format!("the body is not a lookup request: {error}")))?;
        body.check(limits)
    }

    fn check(self, limits: &Limits) -> Result<LookupRequest<'a>, ApiError> {
        let asked = match (self.key, self.keys) {
            (Some(Names::One(name)), None) => Asked::First(vec![name]),
            (Some(Names::Several(names)), None) => Asked::First(names),
            (None, Some(names)) => Asked::Batch(names),
            (Some(_), Some(_)) => return Err(bad("give either `key` or `keys`, not both")),
            (None, None) => return Err(bad("`key` is missing (or `keys`, for a batch)")),
        };
        let (Asked::First(names) | Asked::Batch(names)) = &asked;
        if names.is_empty() {
            return Err(bad("there must be at least one key"));
        }
        if names.len() > limits.max_keys {
            return Err(bad(format!(
                "{} keys are more than the limit of {}",
                names.len(),
                limits.max_keys
            )));
        }
        let explain = match self.explain {
            None | Some(ExplainField::Flag(false)) => Explain::Nothing,
            Some(ExplainField::Flag(true)) => Explain::Value,
            Some(ExplainField::Word(word)) => parse_explain(&word)?,
        };
        check_names("fact", self.facts.iter().flat_map(RawObject::names))?;
        check_names("variable", self.variables.iter().flat_map(RawObject::names))?;
        let merge = self.merge.map(read);
        if let Some(merge) = &merge
            && !matches!(merge, Value::Str(_) | Value::Hash(_) | Value::Null)
        {
            return Err(bad("`merge` must be a string or an object"));
        }
        Ok(LookupRequest {
            asked,
            environment: self.environment.unwrap_or(Cow::Borrowed("production")),
            facts: self.facts.unwrap_or_default(),
            trusted: self.trusted.unwrap_or_default(),
            node: self.node,
            variables: self.variables.unwrap_or_default(),
            merge,
            default: self.default.map(read),
            default_values: self.default_values.map(|object| object.to_hash(read)),
            overrides: self.r#override.map(|object| object.to_hash(read)),
            value_type: self.value_type,
            explain,
        })
    }
}

/// The strategy that a request names. Hiera 1's names are understood.
pub(crate) fn parse_merge(merge: &Value) -> Result<MergeStrategy, ApiError> {
    let renamed = match merge.as_str() {
        Some("priority") => Some(Value::str("first")),
        Some("array") => Some(Value::str("unique")),
        _ => None,
    };
    MergeStrategy::parse(renamed.as_ref().unwrap_or(merge))
        .map_err(|error| ApiError::new(ErrorKind::LookupFailed, format!("`merge`: {error}")))
}

/// The type that a request names.
pub(crate) fn parse_type(text: &str) -> Result<Type, ApiError> {
    Type::parse(text)
        .map_err(|error| ApiError::new(ErrorKind::LookupFailed, format!("`type`: {error}")))
}

/// What a request wants explained.
pub(crate) fn parse_explain(word: &str) -> Result<Explain, ApiError> {
    match word {
        "options" => Ok(Explain::Options),
        "true" => Ok(Explain::Value),
        "false" => Ok(Explain::Nothing),
        _ => Err(bad(format!(
            "`explain` must be true, false or \"options\", not `{word}`"
        ))),
    }
}

/// Refuses the names that Puppet fails on.
pub(crate) fn check_names<'a>(
    kind: &str,
    mut names: impl Iterator<Item = &'a str>,
) -> Result<(), ApiError> {
    match names.find(|name| !is_assignable(name)) {
        Some(name) => {
            let detail =
                format!("a {kind} cannot be called `{name}`: Puppet keeps that name for itself");
            Err(ApiError::new(ErrorKind::LookupFailed, detail))
        }
        None => Ok(()),
    }
}

/// Reads the body of a request, within its limits.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<Bytes, ApiError> {
    check_content_type(headers)?;
    let collected = tokio::time::timeout(
        limits.request_timeout(),
        Limited::new(body, limits.max_body_size).collect(),
    );
    match collected.await {
        Err(_) => Err(ApiError::new(
            ErrorKind::RequestTimeout,
            "the body did not arrive in time",
        )),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => {
            let detail = format!("the body is larger than {} bytes", limits.max_body_size);
            Err(ApiError::new(ErrorKind::BodyTooLarge, detail))
        }
        Ok(Err(error)) => Err(bad(format!("the body could not be read: {error}"))),
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let media = given
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if media.eq_ignore_ascii_case("application/json")
        || media.to_ascii_lowercase().ends_with("+json")
    {
        return Ok(());
    }
    let detail = format!("the content type is `{media}`; send `Content-Type: application/json`");
    Err(ApiError::new(ErrorKind::UnsupportedMediaType, detail))
}

/// Refuses a body whose nesting could be too deep to be looked at.
fn check_nesting(bytes: &[u8], limit: usize) -> Result<(), ApiError> {
    // Fewer brackets than the limit cannot nest deeper, and counting is far cheaper than looking.
    if memchr::memchr2_iter(b'[', b'{', bytes).count() <= limit {
        return Ok(());
    }
    let (mut depth, mut is_text, mut is_escaped) = (0usize, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                if depth > limit {
                    return Err(bad(format!("the body is nested more than {limit} deep")));
                }
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn bad(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::BadRequest, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail_of(body: &str) -> String {
        let limits = Limits {
            max_keys: 2,
            max_nesting: 3,
            ..Limits::default()
        };
        let error = LookupBody::parse(body.as_bytes(), &limits).unwrap_err();
        let mut out = Vec::new();
        error.write(&mut out);
        let problem: serde_json::Value = serde_json::from_slice(&out).unwrap();
        problem["detail"].as_str().unwrap().to_owned()
    }

    #[test]
    fn mistakes_are_named() {
        for (body, expected) in [
            ("{}", "`key` is missing"),
            (r#"{"kee":"a"}"#, "unknown field `kee`"),
            (r#"{"key":"a","keys":["b"]}"#, "not both"),
            (
                r#"{"key":5}"#,
                "`key` must be a string or an array of strings",
            ),
            (
                r#"{"keys":["a","b","c"]}"#,
                "3 keys are more than the limit of 2",
            ),
            (r#"{"key":"a","facts":5}"#, "expected an object"),
            (r#"{"key":"a","merge":[]}"#, "`merge` must be"),
            (
                r#"{"key":"a","facts":{"a":[[[]]]}}"#,
                "nested more than 3 deep",
            ),
            (r#"{"key":"a","key":"b"}"#, "duplicate field `key`"),
            ("[\"k\"]", "it must be a JSON object"),
            ("{", "EOF while parsing"),
        ] {
            let detail = detail_of(body);
            assert!(detail.contains(expected), "{body}: {detail}");
        }
    }

    #[test]
    fn a_default_of_null_is_a_default() {
        let limits = Limits::default();
        let request = LookupBody::parse(br#"{"key":"a","default":null}"#, &limits).unwrap();
        assert_eq!(request.default, Some(Value::Null));
        assert_eq!(
            LookupBody::parse(br#"{"key":"a"}"#, &limits)
                .unwrap()
                .default,
            None
        );
    }
}
