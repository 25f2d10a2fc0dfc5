//! [`Node`]: a scope whose variables are all there as values.

use puppet_values::{Hash, Value};

use super::{Scope, TopScopeName, bare_name, built_in};
use crate::key::{Segment, dig};

/// A node with its facts, what is trusted about it, and variables of a classifier.
///
/// It takes them as they are. [`RawNode`](super::RawNode) checks them by Puppet's rules first.
///
/// ```
/// use hiera_resolver::{Node, Scope, Value};
/// use serde_json::json;
///
/// let node = Node::new("production")
///     .certname("thrush.example.com")
///     .facts_json(json!({"os": {"family": "Debian"}, "role": "ntp"}))
///     .expect("facts are an object");
/// assert_eq!(node.variable("role"), Some(Value::str("ntp")));
/// assert_eq!(node.variable("environment"), Some(Value::str("production")));
/// ```
#[derive(Clone, Debug)]
pub struct Node {
    facts: Value,
    trusted: Value,
    server_facts: Value,
    environment: Value,
    variables: Hash,
}

impl Node {
    /// A node of an environment without facts.
    pub fn new(environment: &str) -> Self {
        let environment = Value::str(environment);
        let server_facts = Hash::from_iter([("environment".into(), environment.clone())]);
        Node {
            facts: Value::hash(Hash::new()),
            trusted: Value::hash(Hash::new()),
            server_facts: Value::hash(server_facts),
            environment,
            variables: Hash::new(),
        }
    }

    /// Sets the facts: `%{facts.NAME}`, and `%{NAME}` if no variable has that name.
    pub fn facts(mut self, facts: impl Into<Hash>) -> Self {
        self.facts = Value::hash(facts.into());
        self
    }

    /// Sets the facts from an object of `serde_json`.
    #[cfg(feature = "serde_json")]
    pub fn facts_json(self, facts: serde_json::Value) -> Result<Self, NotAnObject> {
        match facts {
            serde_json::Value::Object(facts) => Ok(self.facts(Hash::from(facts))),
            _ => Err(NotAnObject),
        }
    }

    /// Sets what is trusted about the node: `%{trusted.NAME}`.
    pub fn trusted(mut self, trusted: impl Into<Hash>) -> Self {
        self.trusted = Value::hash(trusted.into());
        self
    }

    /// Sets the name in the node's certificate, `%{trusted.certname}`, and keeps what else is trusted.
    pub fn certname(mut self, certname: &str) -> Self {
        let mut trusted = self.trusted.as_hash().cloned().unwrap_or_default();
        trusted.insert("certname".into(), Value::str(certname));
        self.trusted = Value::hash(trusted);
        self
    }

    /// Sets the variables of a classifier. They win over facts of the same name.
    pub fn variables(mut self, variables: impl Into<Hash>) -> Self {
        self.variables = variables.into();
        self
    }

    fn get(&self, name: &str) -> Option<&Value> {
        match TopScopeName::parse(name) {
            TopScopeName::Facts => Some(&self.facts),
            TopScopeName::Trusted => Some(&self.trusted),
            TopScopeName::ServerFacts => Some(&self.server_facts),
            TopScopeName::Environment => Some(&self.environment),
            TopScopeName::Other(name) => self
                .variables
                .get(name)
                .or_else(|| self.facts.as_hash()?.get(name)),
        }
    }
}

/// Facts that are not an object.
#[cfg(feature = "serde_json")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("facts must be an object")]
pub struct NotAnObject;

impl Scope for Node {
    fn variable(&self, name: &str) -> Option<Value> {
        let value = self.get(name).cloned();
        value.or_else(|| built_in(bare_name(name)))
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some() || built_in(bare_name(name)).is_some()
    }

    fn text(&self, name: &str, segments: &[Segment]) -> Option<&str> {
        let value = self.get(name)?;
        dig(value, segments, name).ok()??.as_str()
    }
}
