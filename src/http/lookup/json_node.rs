//! [`JsonNode`]: what the body of a request says about its node, parsed when it is asked for.
//!
//! A node sends thousands of facts and a lookup needs a handful: parsing all of them would cost more than everything else
//! together. What is kept of an object is the text of its members.

mod scope;

use std::borrow::Cow;

use hiera_resolver::Scope;
use hiera_resolver::scope::ScopeError;
use hiera_resolver::scope::{NameKind, check_certname, check_names};

use self::scope::JsonScope;
use super::raw_object::RawObject;
use crate::lookup::NodeScope;

/// The facts, trusted data and variables of a node, checked.
#[derive(Debug)]
pub(crate) struct JsonNode<'a> {
    facts: RawObject<'a>,
    trusted: RawObject<'a>,
    variables: RawObject<'a>,
    /// The node's name, if `trusted` does not have one.
    name: Option<Cow<'a, str>>,
}

impl<'a> JsonNode<'a> {
    /// Checks what a body says about its node.
    pub(crate) fn check(
        facts: RawObject<'a>,
        trusted: RawObject<'a>,
        variables: RawObject<'a>,
        name: Option<Cow<'a, str>>,
    ) -> Result<Self, ScopeError> {
        check_names(NameKind::Fact, facts.names())?;
        check_names(NameKind::Variable, variables.names())?;
        check_certname(name.is_some(), trusted.is_text("certname"))?;
        Ok(JsonNode {
            name: name.filter(|_| !trusted.contains("certname")),
            facts,
            trusted,
            variables,
        })
    }
}

impl NodeScope for JsonNode<'_> {
    fn with_scope<T>(&self, environment: &str, run: impl FnOnce(&dyn Scope) -> T) -> T {
        run(&JsonScope::new(environment, self))
    }
}
