//! How a request's body is read, for fuzzing. No part of the interface.

use hiera_resolver::{Hash, Scope, Value};

use super::body::LookupBody;
use super::json_scanner::{JsonScanner, ScanResult};
use crate::config::Limits;
use crate::lookup::{NodeScope as _, RequestedKeys};

/// A member of an object: its name, and its value as written.
pub type Member<'a> = (String, &'a str);

/// What a checked body asks for, without its scope.
#[derive(Debug)]
pub struct Question {
    /// The keys.
    pub keys: Vec<String>,
    /// Is each key looked up, or the first that is found?
    pub is_batch: bool,
    /// The environment.
    pub environment: String,
    /// The default for all keys.
    pub default: Option<Value>,
    /// The default of each key.
    pub default_values: Option<Hash>,
    /// What is not looked up, but given.
    pub overrides: Option<Hash>,
}

/// Scans a text that is one JSON value, and returns that value as written.
pub fn scan_value(text: &str, max_nesting: usize) -> Result<&str, String> {
    let mut scanner = JsonScanner::new(text, max_nesting);
    let value = scanner.value();
    to_end(&mut scanner, value)
}

/// Scans a text that is one JSON object.
pub fn scan_members(text: &str, max_nesting: usize) -> Result<Vec<Member<'_>>, String> {
    let mut scanner = JsonScanner::new(text, max_nesting);
    let mut members = Vec::new();
    let scanned = scanner.object(|scanner, name| {
        members.push((name.into_owned(), scanner.value()?));
        Ok(())
    });
    to_end(&mut scanner, scanned).map(|()| members)
}

/// Reads a body as `POST /lookup` does, within the default limits, and hands over what it asks for and its scope.
pub fn with_request<T>(
    body: &[u8],
    look: impl FnOnce(&Question, &dyn Scope) -> T,
) -> Result<T, String> {
    let request =
        LookupBody::parse(body, &Limits::default()).map_err(|error| format!("{error:?}"))?;
    let question = Question {
        keys: request
            .keys
            .names()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        is_batch: matches!(request.keys, RequestedKeys::Batch(_)),
        environment: request.environment.to_string(),
        default: request.default.clone(),
        default_values: request.default_values.clone(),
        overrides: request.overrides.clone(),
    };
    let node = &request.node;
    Ok(node.with_scope(&request.environment, |scope| look(&question, scope)))
}

fn to_end<T>(scanner: &mut JsonScanner<'_>, scanned: ScanResult<T>) -> Result<T, String> {
    scanned
        .and_then(|scanned| scanner.end().map(|()| scanned))
        .map_err(|error| error.to_string())
}
