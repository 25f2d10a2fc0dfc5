//! The body of `POST /lookup`: bytes → [`LookupBody`] → a checked request.

use std::borrow::Cow;

use hiera_resolver::Explain;

use super::json_node::JsonNode;
use super::json_scanner::{JsonScanner, ScanResult};
use super::raw_object::{RawObject, parse_scanned};
use crate::config::Limits;
use crate::http::error::ApiError;
use crate::lookup::{DEFAULT_ENVIRONMENT, LookupRequest, RawLookupRequest, RequestedKeys};

/// The fields of a body as they were written. Facts and the like are not parsed yet.
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
    explain: Option<Explain>,
}

/// Defines the fields of a body once: their names, and a number for each.
macro_rules! fields {
    ($($field:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Field {
            $($field,)*
        }

        impl Field {
            const NAMES: &[&str] = &[$($name),*];

            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Field::$field),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    Key = "key",
    Keys = "keys",
    Environment = "environment",
    Facts = "facts",
    Trusted = "trusted",
    Node = "node",
    Variables = "variables",
    Merge = "merge",
    Default = "default",
    DefaultValues = "default_values",
    Override = "override",
    Type = "type",
    Explain = "explain",
}

impl<'a> LookupBody<'a> {
    /// Parses and checks a body.
    pub(crate) fn parse(
        bytes: &'a [u8],
        limits: &Limits,
    ) -> Result<LookupRequest<'a, JsonNode<'a>>, ApiError> {
        // Checked once as a whole, which is far cheaper than string by string.
        let text = std::str::from_utf8(bytes).map_err(not_a_request)?;
        let mut scanner = JsonScanner::new(text, limits.max_nesting);
        let body = LookupBody::scan(&mut scanner).map_err(not_a_request)?;
        body.check(limits)
    }

    fn scan(scanner: &mut JsonScanner<'a>) -> ScanResult<Self> {
        let mut body = LookupBody::default();
        // One bit for each field.
        let mut seen = 0_u32;
        scanner.object(|scanner, name| {
            let Some(field) = Field::named(&name) else {
                let known = Field::NAMES.join("`, `");
                let problem = format!("unknown field `{name}`, expected one of `{known}`");
                return Err(scanner.error(problem));
            };
            let bit = 1 << field as u32;
            if seen & bit != 0 {
                return Err(scanner.error(format!("duplicate field `{name}`")));
            }
            seen |= bit;
            body.scan_field(field, scanner)
        })?;
        scanner.end()?;
        Ok(body)
    }

    fn scan_field(&mut self, field: Field, scanner: &mut JsonScanner<'a>) -> ScanResult<()> {
        // `null` is a valid default; any other field that is null counts as left out.
        if field != Field::Default && scanner.take_null()? {
            return Ok(());
        }
        match field {
            Field::Key => self.key = Some(scan_keys(scanner)?),
            Field::Keys => self.keys = Some(scan_strings(scanner)?),
            Field::Environment => self.environment = Some(scanner.string()?),
            Field::Facts => self.facts = Some(RawObject::scan(scanner)?),
            Field::Trusted => self.trusted = Some(RawObject::scan(scanner)?),
            Field::Node => self.node = Some(scanner.string()?),
            Field::Variables => self.variables = Some(RawObject::scan(scanner)?),
            Field::Merge => self.merge = Some(scanner.value()?),
            Field::Default => self.default = Some(scanner.value()?),
            Field::DefaultValues => self.default_values = Some(RawObject::scan(scanner)?),
            Field::Override => self.r#override = Some(RawObject::scan(scanner)?),
            Field::Type => self.value_type = Some(scanner.string()?),
            Field::Explain => self.explain = scan_explain(scanner)?,
        }
        Ok(())
    }

    fn check(self, limits: &Limits) -> Result<LookupRequest<'a, JsonNode<'a>>, ApiError> {
        let keys = match (self.key, self.keys) {
            (Some(keys), None) => RequestedKeys::FirstFound(keys),
            (None, Some(keys)) => RequestedKeys::Batch(keys),
            (Some(_), Some(_)) => {
                return Err(ApiError::bad_request(
                    "give either `key` or `keys`, not both",
                ));
            }
            (None, None) => {
                return Err(ApiError::bad_request(
                    "`key` is missing (or `keys`, for a batch)",
                ));
            }
        };
        let node = JsonNode::check(
            self.facts.unwrap_or_default(),
            self.trusted.unwrap_or_default(),
            self.variables.unwrap_or_default(),
            self.node,
        )?;
        let environment = self.environment.unwrap_or(DEFAULT_ENVIRONMENT.into());
        let request = RawLookupRequest {
            merge: self.merge.map(parse_scanned),
            value_type: self.value_type,
            default: self.default.map(parse_scanned),
            default_values: self
                .default_values
                .map(|object| object.to_hash(parse_scanned)),
            overrides: self.r#override.map(|object| object.to_hash(parse_scanned)),
            explain: self.explain,
            ..RawLookupRequest::new(environment, keys, node)
        };
        Ok(request.check(limits.max_keys)?)
    }
}

fn not_a_request(problem: impl std::fmt::Display) -> ApiError {
    ApiError::bad_request(format!("the body is not a lookup request: {problem}"))
}

fn scan_keys<'a>(scanner: &mut JsonScanner<'a>) -> ScanResult<Vec<Cow<'a, str>>> {
    let wrong = "`key` must be a string or an array of strings";
    match scanner.peek() {
        Some(b'"') => Ok(vec![scanner.string()?]),
        Some(b'[') => {
            let mut keys = Vec::new();
            scanner.array(|scanner| {
                if scanner.peek() != Some(b'"') {
                    return Err(scanner.error(wrong));
                }
                keys.push(scanner.string()?);
                Ok(())
            })?;
            Ok(keys)
        }
        _ => Err(scanner.error(wrong)),
    }
}

fn scan_strings<'a>(scanner: &mut JsonScanner<'a>) -> ScanResult<Vec<Cow<'a, str>>> {
    let mut strings = Vec::new();
    scanner.array(|scanner| {
        strings.push(scanner.string()?);
        Ok(())
    })?;
    Ok(strings)
}

fn scan_explain(scanner: &mut JsonScanner<'_>) -> ScanResult<Option<Explain>> {
    match scanner.peek() {
        Some(b't' | b'f') => {
            let word = scanner.value()?;
            explain_by_name(word).map_err(|problem| scanner.error(problem))
        }
        Some(b'"') => {
            let word = scanner.string()?;
            explain_by_name(&word).map_err(|problem| scanner.error(problem))
        }
        _ => Err(scanner.error(EXPLAIN_VALUES)),
    }
}

const EXPLAIN_VALUES: &str = "`explain` must be true, false or \"options\"";

/// What is explained, from the value of `explain`; the problem where it has no such value.
pub(super) fn explain_by_name(word: &str) -> Result<Option<Explain>, String> {
    match word {
        "options" => Ok(Some(Explain::Options)),
        "true" => Ok(Some(Explain::Value)),
        "false" => Ok(None),
        _ => Err(format!("{EXPLAIN_VALUES}, not `{word}`")),
    }
}

#[cfg(test)]
mod tests {
    use hiera_resolver::Value;

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
