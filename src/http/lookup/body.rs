//! The body of `POST /lookup`: bytes → [`LookupBody`], every mistake named.

use std::borrow::Cow;
use std::fmt::Display;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use axum::body::HttpBody;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use hiera_resolver::scope::is_assignable;
use hiera_resolver::{Explain, Hash, MergeStrategy, Type, Value};
use http_body_util::BodyExt;

use super::scan::{Scan, Scanner};
use super::scope::{RawObject, read};
use crate::config::Limits;
use crate::http::error::{ApiError, ErrorKind};

/// A request as it stands in the body. What is not needed is not read.
#[derive(Debug, Default)]
pub(crate) struct LookupBody<'a> {
    key: Option<Vec<Cow<'a, str>>>,
    keys: Option<Vec<Cow<'a, str>>>,
    environment: Option<Cow<'a, str>>,
    facts: Option<RawObject<'a>>,
    trusted: Option<RawObject<'a>>,
    node: Option<Cow<'a, str>>,
    variables: Option<RawObject<'a>>,
    merge: Option<&'a str>,
    default: Option<&'a str>,
    default_values: Option<RawObject<'a>>,
    r#override: Option<RawObject<'a>>,
    value_type: Option<Cow<'a, str>>,
    explain: Option<Option<Explain>>,
}

/// The fields of a request, for whoever misspells one.
const FIELDS: [&str; 13] = [
    "key",
    "keys",
    "environment",
    "facts",
    "trusted",
    "node",
    "variables",
    "merge",
    "default",
    "default_values",
    "override",
    "type",
    "explain",
];

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
    pub(crate) explain: Option<Explain>,
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
        // Checked once as a whole, which is far cheaper than text by text.
        let text = std::str::from_utf8(bytes).map_err(not_a_request)?;
        let mut scanner = Scanner::new(text, limits.max_nesting);
        let body = LookupBody::scan(&mut scanner).map_err(not_a_request)?;
        body.check(limits)
    }

    fn scan(scanner: &mut Scanner<'a>) -> Scan<Self> {
        let mut body = LookupBody::default();
        let mut seen = [false; FIELDS.len()];
        scanner.object(|scanner, name| {
            let field = FIELDS.iter().position(|field| *field == name);
            match field.and_then(|place| seen.get_mut(place)) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(scanner.error(format!("duplicate field `{name}`"))),
                None => {
                    let known = FIELDS.join("`, `");
                    let problem = format!("unknown field `{name}`, expected one of `{known}`");
                    return Err(scanner.error(problem));
                }
            }
            body.scan_field(&name, scanner)
        })?;
        scanner.end()?;
        Ok(body)
    }

    fn scan_field(&mut self, name: &str, scanner: &mut Scanner<'a>) -> Scan<()> {
        // `null` is a default like any other; elsewhere it stands for a field that is left out.
        if name != "default" && scanner.take_null()? {
            return Ok(());
        }
        match name {
            "key" => self.key = Some(scan_names(scanner, name)?),
            "keys" => self.keys = Some(scan_texts(scanner)?),
            "environment" => self.environment = Some(scanner.string()?),
            "facts" => self.facts = Some(RawObject::scan(scanner)?),
            "trusted" => self.trusted = Some(RawObject::scan(scanner)?),
            "node" => self.node = Some(scanner.string()?),
            "variables" => self.variables = Some(RawObject::scan(scanner)?),
            "merge" => self.merge = Some(scanner.value()?),
            "default" => self.default = Some(scanner.value()?),
            "default_values" => self.default_values = Some(RawObject::scan(scanner)?),
            "override" => self.r#override = Some(RawObject::scan(scanner)?),
            "type" => self.value_type = Some(scanner.string()?),
            _ => self.explain = Some(scan_explain(scanner)?),
        }
        Ok(())
    }

    fn check(self, limits: &Limits) -> Result<LookupRequest<'a>, ApiError> {
        let asked = match (self.key, self.keys) {
            (Some(names), None) => Asked::First(names),
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
        check_names("fact", self.facts.iter().flat_map(RawObject::names))?;
        check_names("variable", self.variables.iter().flat_map(RawObject::names))?;
        let certname = self
            .trusted
            .as_ref()
            .map(|trusted| trusted.is_text("certname"));
        check_certname(self.node.is_some(), certname.flatten())?;
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
            explain: self.explain.flatten(),
        })
    }
}

fn not_a_request(problem: impl std::fmt::Display) -> ApiError {
    bad(format!("the body is not a lookup request: {problem}"))
}

fn scan_names<'a>(scanner: &mut Scanner<'a>, field: &str) -> Scan<Vec<Cow<'a, str>>> {
    let wrong = || format!("`{field}` must be a string or an array of strings");
    match scanner.peek() {
        Some(b'"') => Ok(vec![scanner.string()?]),
        Some(b'[') => {
            let mut names = Vec::new();
            scanner.array(|scanner| {
                if scanner.peek() != Some(b'"') {
                    return Err(scanner.error(wrong()));
                }
                names.push(scanner.string()?);
                Ok(())
            })?;
            Ok(names)
        }
        _ => Err(scanner.error(wrong())),
    }
}

fn scan_texts<'a>(scanner: &mut Scanner<'a>) -> Scan<Vec<Cow<'a, str>>> {
    let mut texts = Vec::new();
    scanner.array(|scanner| {
        texts.push(scanner.string()?);
        Ok(())
    })?;
    Ok(texts)
}

fn scan_explain(scanner: &mut Scanner<'_>) -> Scan<Option<Explain>> {
    let wrong = "`explain` must be true, false or \"options\"";
    match scanner.peek() {
        Some(b't' | b'f') => Ok(match scanner.value()? {
            "true" => Some(Explain::Value),
            _ => None,
        }),
        Some(b'"') => {
            let word = scanner.string()?;
            explain_named(&word).ok_or_else(|| scanner.error(format!("{wrong}, not `{word}`")))
        }
        _ => Err(scanner.error(wrong)),
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
pub(crate) fn parse_explain(word: &str) -> Result<Option<Explain>, ApiError> {
    explain_named(word).ok_or_else(|| {
        bad(format!(
            "`explain` must be true, false or \"options\", not `{word}`"
        ))
    })
}

/// Outer `None`: not a word that `explain` knows.
fn explain_named(word: &str) -> Option<Option<Explain>> {
    match word {
        "options" => Some(Some(Explain::Options)),
        "true" => Some(Some(Explain::Value)),
        "false" => Some(None),
        _ => None,
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

/// Refuses a `node` beside a `trusted.certname` that is something other than a text: which of the two names the node
/// would be a guess.
pub(crate) fn check_certname(
    has_node: bool,
    certname_is_text: Option<bool>,
) -> Result<(), ApiError> {
    match (has_node, certname_is_text) {
        (true, Some(false)) => Err(bad(
            "`trusted.certname` must be a string where `node` is given",
        )),
        _ => Ok(()),
    }
}

/// What a request's body may come as: from a connection, or from the router, which wraps it.
pub(crate) trait RequestBody: HttpBody<Data = Bytes, Error: Display> {}

impl<B: HttpBody<Data = Bytes, Error: Display>> RequestBody for B {}

/// Reads the body of a request, within its limits.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    body: impl RequestBody,
    limits: &Limits,
) -> Result<Bytes, ApiError> {
    check_content_type(headers)?;
    let mut reading = pin!(collect(body, limits.max_body_size));
    // Nearly always all of it is there already, and no timer has to be set.
    let first = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await;
    if let Poll::Ready(read) = first {
        return read;
    }
    let read = tokio::time::timeout(limits.request_timeout(), reading).await;
    read.unwrap_or_else(|_| {
        Err(ApiError::new(
            ErrorKind::RequestTimeout,
            "the body did not arrive in time",
        ))
    })
}

async fn collect(body: impl RequestBody, max_size: usize) -> Result<Bytes, ApiError> {
    let too_large = || {
        let detail = format!("the body is larger than {max_size} bytes");
        ApiError::new(ErrorKind::BodyTooLarge, detail)
    };
    // A declared size is enough to refuse: a client that waits for `100 Continue` need not send it.
    if body.size_hint().lower() > u64::try_from(max_size).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    // One frame is handed on as it came, which is nearly always all; others are gathered.
    let mut first = Bytes::new();
    let mut gathered = BytesMut::new();
    let mut body = pin!(body);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| bad(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len().max(gathered.len()) + data.len() > max_size {
            return Err(too_large());
        }
        if first.is_empty() {
            first = data;
            continue;
        }
        if gathered.is_empty() {
            gathered.extend_from_slice(&first);
        }
        gathered.extend_from_slice(&data);
    }
    Ok(match gathered.is_empty() {
        true => first,
        false => gathered.freeze(),
    })
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

pub(crate) fn bad(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::BadRequest, detail)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;

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
            ("[\"k\"]", "expected an object"),
            ("{", "EOF while parsing"),
        ] {
            let detail = detail_of(body);
            assert!(detail.contains(expected), "{body}: {detail}");
        }
    }

    #[tokio::test]
    async fn a_body_in_pieces_is_read_whole_and_within_bounds() {
        let pieces = |text: &str| {
            let pieces: Vec<_> = text
                .chars()
                .map(|letter| Ok::<_, Infallible>(letter.to_string()))
                .collect();
            Body::from_stream(tokio_stream::iter(pieces))
        };
        for text in ["", "a", "ab", "abcdef"] {
            assert_eq!(collect(pieces(text), 6).await.unwrap(), text);
        }
        assert!(collect(pieces("abcdefg"), 6).await.is_err());
        assert!(collect(Body::from("abcdefg"), 6).await.is_err());
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
