//! The rules that a node's facts and variables are held to, wherever they come from: a request's body, its query, a file
//! of facts.
//!
//! A caller that has all of them as values uses [`RawNode`]. One that reads them lazily applies the same rules piece
//! by piece.

use puppet_values::{Hash, Value};

use super::Node;

/// Why facts and variables cannot be those of a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Puppet sets a variable of this name itself.
    #[error("a {kind} cannot be called `{name}`: Puppet keeps that name for itself")]
    ReservedName {
        /// What has the name.
        kind: NameKind,
        /// The name.
        name: String,
    },
    /// Which of the two names the node would be a guess.
    #[error("`trusted.certname` must be a string where `node` is given")]
    CertnameNotText,
}

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A fact.
    Fact,
    /// A further variable, such as a classifier's.
    Variable,
}

impl std::fmt::Display for NameKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            NameKind::Fact => "fact",
            NameKind::Variable => "variable",
        })
    }
}

/// May a fact or a classifier's variable have this name? Puppet fails every lookup of a node if one has a
/// name of its own variables, or a number.
fn is_assignable(name: &str) -> bool {
    !matches!(
        name,
        "facts" | "server_facts" | "name" | "title" | "module_name"
    ) && (name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Rejects names that are not assignable.
pub fn check_names<'a>(
    kind: NameKind,
    mut names: impl Iterator<Item = &'a str>,
) -> Result<(), ScopeError> {
    match names.find(|name| !is_assignable(name)) {
        Some(name) => Err(ScopeError::ReservedName {
            kind,
            name: name.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Rejects a node's name beside a `trusted.certname` that is not a string. `certname_is_text` is `None` if `trusted`
/// has no `certname`: the node's name is then used.
pub fn check_certname(has_name: bool, certname_is_text: Option<bool>) -> Result<(), ScopeError> {
    match (has_name, certname_is_text) {
        (true, Some(false)) => Err(ScopeError::CertnameNotText),
        _ => Ok(()),
    }
}

/// The value of a fact. Puppet: one that is null is an empty string, at any depth.
pub fn fact_value(value: Value) -> Value {
    match value {
        Value::Null => Value::str(""),
        Value::Array(array) => {
            Value::array(array.items().iter().cloned().map(fact_value).collect())
        }
        Value::Hash(hash) => Value::hash(fact_values(&hash)),
        other => other,
    }
}

fn fact_values(facts: &Hash) -> Hash {
    facts
        .iter()
        .map(|(name, value)| (name.clone(), fact_value(value.clone())))
        .collect()
}

/// What is known of a node, as it was given.
#[derive(Clone, Debug, Default)]
pub struct RawNode {
    /// The node's facts.
    pub facts: Hash,
    /// Its trusted data.
    pub trusted: Hash,
    /// Further variables, which win over facts of the same name.
    pub variables: Hash,
    /// The node's name, for `trusted.certname` if `trusted` does not have one.
    pub name: Option<String>,
}

impl RawNode {
    /// Checks them, and makes a node of them.
    pub fn check(self, environment: &str) -> Result<Node, ScopeError> {
        let RawNode {
            facts,
            mut trusted,
            variables,
            name,
        } = self;
        check_names(NameKind::Fact, texts(&facts))?;
        check_names(NameKind::Variable, texts(&variables))?;
        let certname = trusted.get("certname");
        let is_text = certname.map(|certname| certname.as_str().is_some());
        check_certname(name.is_some(), is_text)?;
        if let (Some(name), None) = (name, certname) {
            trusted.insert("certname".into(), Value::str(name));
        }
        Ok(Node::new(environment)
            .facts(fact_values(&facts))
            .trusted(trusted)
            .variables(variables))
    }
}

fn texts(hash: &Hash) -> impl Iterator<Item = &str> {
    hash.iter().filter_map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;

    fn hash(yaml: &str) -> Hash {
        let value = crate::data::read_yaml(yaml.as_bytes(), &mut Default::default());
        match value.unwrap() {
            Some(Value::Hash(hash)) => Hash::clone(&hash),
            other => panic!("not a hash: {other:?}"),
        }
    }

    #[test]
    fn a_fact_that_is_null_is_an_empty_string_and_a_variable_is_not() {
        let node = RawNode {
            facts: hash("{a: ~, b: {c: [~, 1]}}"),
            variables: hash("{v: ~}"),
            ..RawNode::default()
        };
        let scope = node.check("production").unwrap();
        assert_eq!(scope.variable("a"), Some(Value::str("")));
        let expected = Value::hash(hash("{c: ['', 1]}"));
        assert_eq!(scope.variable("b"), Some(expected));
        assert_eq!(scope.variable("v"), Some(Value::Null));
    }

    #[test]
    fn names_of_puppet_are_rejected_for_facts_and_variables() {
        for name in ["facts", "server_facts", "name", "title", "module_name", "7"] {
            let taken = hash(&format!("'{name}': 1"));
            let as_fact = RawNode {
                facts: taken.clone(),
                ..RawNode::default()
            };
            let as_variable = RawNode {
                variables: taken,
                ..RawNode::default()
            };
            for (node, kind) in [(as_fact, "fact"), (as_variable, "variable")] {
                assert_eq!(
                    node.check("production").unwrap_err().to_string(),
                    format!(
                        "a {kind} cannot be called `{name}`: Puppet keeps that name for itself"
                    )
                );
            }
        }
    }

    #[test]
    fn the_name_of_a_node_is_its_certname_unless_trusted_has_one() {
        let certname = |trusted: &str| {
            let node = RawNode {
                trusted: hash(trusted),
                name: Some("n".to_owned()),
                ..RawNode::default()
            };
            let scope = node.check("production")?;
            let trusted = scope.variable("trusted").unwrap();
            let certname = trusted.as_hash().unwrap().get("certname").cloned();
            Ok::<_, ScopeError>(certname.unwrap())
        };
        assert_eq!(certname("{}"), Ok(Value::str("n")));
        assert_eq!(certname("{certname: t}"), Ok(Value::str("t")));
        assert_eq!(certname("{certname: 5}"), Err(ScopeError::CertnameNotText));
    }
}
