//! [`LookupRequest`]: everything a lookup is asked, checked once.

use std::borrow::Cow;

use hiera_resolver::error::MergeError;
use hiera_resolver::scope::ScopeError;
use hiera_resolver::{Explain, Hash, MergeStrategy, Node, Scope, Type, Value};
use puppet_types::TypeParseError;

/// The environment of a request that names none.
pub(crate) const DEFAULT_ENVIRONMENT: &str = "production";

/// A request as it was written. `N` is what it says about its node, already checked.
#[derive(Debug)]
pub(crate) struct RawLookupRequest<'a, N> {
    pub(crate) environment: Cow<'a, str>,
    pub(crate) keys: RequestedKeys<'a>,
    pub(crate) node: N,
    pub(crate) merge: Option<Value>,
    pub(crate) value_type: Option<Cow<'a, str>>,
    pub(crate) default: Option<Value>,
    pub(crate) default_values: Option<Hash>,
    pub(crate) overrides: Option<Hash>,
    pub(crate) explain: Option<Explain>,
}

/// A request that has been checked.
#[derive(Debug)]
pub(crate) struct LookupRequest<'a, N> {
    pub(crate) environment: Cow<'a, str>,
    // Invariant: there is at least one key, and at most as many as allowed.
    pub(crate) keys: RequestedKeys<'a>,
    pub(crate) node: N,
    pub(crate) merge: Option<MergeStrategy>,
    pub(crate) value_type: Option<Type>,
    pub(crate) default: Option<Value>,
    pub(crate) default_values: Option<Hash>,
    pub(crate) overrides: Option<Hash>,
    // Invariant: `None` for a batch.
    pub(crate) explain: Option<Explain>,
}

/// The keys of a request, and which of them are answered.
#[derive(Debug)]
pub(crate) enum RequestedKeys<'a> {
    /// The first that is found.
    FirstFound(Vec<Cow<'a, str>>),
    /// Each of them.
    Batch(Vec<Cow<'a, str>>),
}

impl RequestedKeys<'_> {
    fn all(&self) -> &[Cow<'_, str>] {
        let (RequestedKeys::FirstFound(keys) | RequestedKeys::Batch(keys)) = self;
        keys
    }

    /// The keys as they were written.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.all().iter().map(AsRef::as_ref).collect()
    }
}

/// What a request says about its node.
pub(crate) trait NodeScope {
    /// Runs something with the node's variables. A scope lives for one run, since it may cache without locks.
    fn with_scope<T>(&self, environment: &str, run: impl FnOnce(&dyn Scope) -> T) -> T;
}

/// All variables are values already, the environment's name among them.
impl NodeScope for Node {
    fn with_scope<T>(&self, _environment: &str, run: impl FnOnce(&dyn Scope) -> T) -> T {
        run(self)
    }
}

/// Why a request cannot be answered, whatever the data is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("there must be at least one key")]
    NoKeys,
    #[error("{count} keys are more than the limit of {limit}")]
    TooManyKeys { count: usize, limit: usize },
    #[error("a batch cannot be explained; ask for one `key`")]
    ExplainedBatch,
    #[error("`merge` must be a string or an object")]
    MergeKind,
    #[error("`merge`: {0}")]
    Merge(MergeError),
    #[error("`type`: {0}")]
    Type(TypeParseError),
    #[error(transparent)]
    Node(#[from] ScopeError),
}

impl<'a, N> RawLookupRequest<'a, N> {
    /// A request for these keys that leaves everything else open.
    pub(crate) fn new(environment: Cow<'a, str>, keys: RequestedKeys<'a>, node: N) -> Self {
        RawLookupRequest {
            environment,
            keys,
            node,
            merge: None,
            value_type: None,
            default: None,
            default_values: None,
            overrides: None,
            explain: None,
        }
    }

    /// Checks the request.
    pub(crate) fn check(self, max_keys: usize) -> Result<LookupRequest<'a, N>, RequestError> {
        match self.keys.all().len() {
            0 => return Err(RequestError::NoKeys),
            count if count > max_keys => {
                let limit = max_keys;
                return Err(RequestError::TooManyKeys { count, limit });
            }
            _ => {}
        }
        if self.explain.is_some() && matches!(self.keys, RequestedKeys::Batch(_)) {
            return Err(RequestError::ExplainedBatch);
        }
        let merge = self.merge.as_ref().filter(|merge| **merge != Value::Null);
        let value_type = self.value_type.as_deref().map(Type::parse);
        Ok(LookupRequest {
            merge: merge.map(parse_merge).transpose()?,
            value_type: value_type.transpose().map_err(RequestError::Type)?,
            environment: self.environment,
            keys: self.keys,
            node: self.node,
            default: self.default,
            default_values: self.default_values,
            overrides: self.overrides,
            explain: self.explain,
        })
    }
}

/// The strategy that a request names. Hiera 1's names are understood.
fn parse_merge(merge: &Value) -> Result<MergeStrategy, RequestError> {
    if !matches!(merge, Value::Str(_) | Value::Hash(_)) {
        return Err(RequestError::MergeKind);
    }
    let current_name = match merge.as_str() {
        Some("priority") => Some(Value::str("first")),
        Some("array") => Some(Value::str("unique")),
        _ => None,
    };
    MergeStrategy::parse(current_name.as_ref().unwrap_or(merge)).map_err(RequestError::Merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(keys: RequestedKeys<'static>) -> RawLookupRequest<'static, Node> {
        RawLookupRequest::new(
            DEFAULT_ENVIRONMENT.into(),
            keys,
            Node::new(DEFAULT_ENVIRONMENT),
        )
    }

    fn one_key() -> RawLookupRequest<'static, Node> {
        request(RequestedKeys::FirstFound(vec!["a".into()]))
    }

    #[test]
    fn a_request_has_a_key_and_no_more_than_allowed() {
        for keys in [RequestedKeys::FirstFound, RequestedKeys::Batch] {
            let checked = |count| request(keys(vec!["a".into(); count])).check(2);
            assert!(matches!(checked(0), Err(RequestError::NoKeys)));
            assert!(checked(1).is_ok() && checked(2).is_ok());
            assert_eq!(
                checked(3).unwrap_err().to_string(),
                "3 keys are more than the limit of 2"
            );
        }
    }

    #[test]
    fn strategies_are_read_with_the_names_of_hiera_1() {
        let merge = |value: Value| {
            let mut request = one_key();
            request.merge = Some(value);
            request.check(1).map(|request| request.merge)
        };
        assert!(merge(Value::Null).unwrap().is_none());
        let shown = |name: &str| format!("{:?}", merge(Value::str(name)).unwrap().unwrap());
        assert_eq!(shown("array"), shown("unique"));
        assert_eq!(shown("priority"), shown("first"));
        assert!(matches!(merge(Value::Int(1)), Err(RequestError::MergeKind)));
        assert!(matches!(
            merge(Value::str("no such")),
            Err(RequestError::Merge(_))
        ));
    }

    #[test]
    fn a_batch_is_not_explained_and_a_type_must_be_one() {
        let mut batch = request(RequestedKeys::Batch(vec!["a".into()]));
        batch.explain = Some(Explain::Value);
        assert!(matches!(batch.check(1), Err(RequestError::ExplainedBatch)));
        let mut typed = one_key();
        typed.value_type = Some("Array[".into());
        let error = typed.check(1).unwrap_err().to_string();
        assert!(error.starts_with("`type`: "), "{error}");
    }
}
