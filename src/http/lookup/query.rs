//! `GET /lookup/{key}?…`: the query string → a checked request, for people with curl.

mod dotted;

use hiera_resolver::scope::RawNode;
use hiera_resolver::{Explain, Node, Value};

use self::dotted::{Conflict, DottedValues};
use super::body::explain_by_name;
use crate::http::error::ApiError;
use crate::lookup::{DEFAULT_ENVIRONMENT, LookupRequest, RawLookupRequest, RequestedKeys};

/// The parameters of a query. All values are strings.
#[derive(Debug, Default)]
pub(crate) struct LookupQuery {
    environment: Option<String>,
    merge: Option<String>,
    default: Option<String>,
    value_type: Option<String>,
    explain: Option<Option<Explain>>,
    node: Option<String>,
    facts: DottedValues,
    trusted: DottedValues,
    variables: DottedValues,
}

/// The parameters, for errors.
const PARAMETERS: &str =
    "environment, node, merge, default, type, explain, facts.…, trusted.… and variables.…";

impl LookupQuery {
    /// Parses and checks a query.
    pub(crate) fn parse(
        key: String,
        parameters: Vec<(String, String)>,
    ) -> Result<LookupRequest<'static, Node>, ApiError> {
        let mut query = LookupQuery::default();
        for (name, value) in parameters {
            query.set(&name, value)?;
        }
        query.check(key)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), ApiError> {
        match name {
            "environment" => set_once(&mut self.environment, name, value),
            "node" => set_once(&mut self.node, name, value),
            "merge" => set_once(&mut self.merge, name, value),
            "default" => set_once(&mut self.default, name, value),
            "type" => set_once(&mut self.value_type, name, value),
            "explain" => {
                let explain = explain_by_name(&value).map_err(ApiError::bad_request)?;
                set_once(&mut self.explain, name, explain)
            }
            dotted => self.set_dotted(dotted, value),
        }
    }

    fn set_dotted(&mut self, name: &str, value: String) -> Result<(), ApiError> {
        let unknown = || {
            ApiError::bad_request(format!(
                "unknown parameter `{name}`; there are {PARAMETERS}"
            ))
        };
        let (kind, path) = name.split_once('.').ok_or_else(unknown)?;
        let values = match kind {
            "facts" => &mut self.facts,
            "trusted" => &mut self.trusted,
            "variables" => &mut self.variables,
            _ => return Err(unknown()),
        };
        values.set(path, value).map_err(|conflict| match conflict {
            Conflict::Repeated => duplicate(name),
            Conflict::ValueAndMembers => {
                ApiError::bad_request(format!("`{name}` is set both as a value and as an object"))
            }
        })
    }

    fn check(self, key: String) -> Result<LookupRequest<'static, Node>, ApiError> {
        let environment = self.environment.unwrap_or(DEFAULT_ENVIRONMENT.to_owned());
        let node = RawNode {
            facts: self.facts.to_hash(),
            trusted: self.trusted.to_hash(),
            variables: self.variables.to_hash(),
            name: self.node,
        };
        let node = node.check(&environment)?;
        let keys = RequestedKeys::FirstFound(vec![key.into()]);
        let request = RawLookupRequest {
            merge: self.merge.map(Value::str),
            default: self.default.map(Value::str),
            value_type: self.value_type.map(Into::into),
            explain: self.explain.flatten(),
            ..RawLookupRequest::new(environment.into(), keys, node)
        };
        Ok(request.check(1)?)
    }
}

/// Sets a parameter that must not be repeated.
fn set_once<T>(parameter: &mut Option<T>, name: &str, value: T) -> Result<(), ApiError> {
    match parameter.replace(value) {
        Some(_) => Err(duplicate(name)),
        None => Ok(()),
    }
}

fn duplicate(name: &str) -> ApiError {
    ApiError::bad_request(format!("duplicate parameter `{name}`"))
}
