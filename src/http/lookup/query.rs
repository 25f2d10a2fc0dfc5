//! `GET /lookup/{key}?…`: the query string → the parts of a request, for people with curl.

use hiera_resolver::scope::Node;
use hiera_resolver::{Explain, Hash, Value};

use super::body::{bad, check_certname, check_names, parse_explain};
use crate::http::error::ApiError;

/// A request written as a query string. Facts and the like are texts.
#[derive(Debug, Default)]
pub(crate) struct LookupQuery {
    pub(crate) environment: Option<String>,
    pub(crate) merge: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) value_type: Option<String>,
    /// Outer `None`: not given.
    pub(crate) explain: Option<Option<Explain>>,
    node: Option<String>,
    facts: Branch,
    trusted: Branch,
    variables: Branch,
}

/// The names that may stand before the first dot or alone.
const NAMES: &str =
    "environment, node, merge, default, type, explain, facts.…, trusted.… and variables.…";

impl LookupQuery {
    /// Reads a query string.
    pub(crate) fn parse(pairs: Vec<(String, String)>) -> Result<Self, ApiError> {
        let mut query = LookupQuery::default();
        for (name, value) in pairs {
            match name.as_str() {
                "environment" => set_once(&mut query.environment, &name, value)?,
                "node" => set_once(&mut query.node, &name, value)?,
                "merge" => set_once(&mut query.merge, &name, Value::str(value))?,
                "default" => set_once(&mut query.default, &name, Value::str(value))?,
                "type" => set_once(&mut query.value_type, &name, value)?,
                "explain" => set_once(&mut query.explain, &name, parse_explain(&value)?)?,
                dotted => query.set_variable(dotted, value)?,
            }
        }
        check_names("fact", query.facts.names())?;
        check_names("variable", query.variables.names())?;
        check_certname(query.node.is_some(), query.trusted.is_leaf("certname"))?;
        Ok(query)
    }

    fn set_variable(&mut self, dotted: &str, value: String) -> Result<(), ApiError> {
        let unknown = || bad(format!("unknown parameter `{dotted}`; there are {NAMES}"));
        let (kind, path) = dotted.split_once('.').ok_or_else(unknown)?;
        let branch = match kind {
            "facts" => &mut self.facts,
            "trusted" => &mut self.trusted,
            "variables" => &mut self.variables,
            _ => return Err(unknown()),
        };
        branch.set(path, value).map_err(|conflict| match conflict {
            Conflict::Repeated => duplicate(dotted),
            Conflict::ValueAndMembers => bad(format!(
                "`{dotted}` is set both as a value and as an object"
            )),
        })
    }

    /// The variables of the request.
    pub(crate) fn scope(&self, environment: &str) -> Node {
        let mut trusted = self.trusted.to_hash();
        if let (Some(node), None) = (&self.node, trusted.get("certname")) {
            trusted.insert("certname".into(), Value::str(node));
        }
        Node::new(environment)
            .facts(self.facts.to_hash())
            .trusted(trusted)
            .variables(self.variables.to_hash())
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
    bad(format!("duplicate parameter `{name}`"))
}

/// Why a member cannot be set.
enum Conflict {
    Repeated,
    ValueAndMembers,
}

/// `os.family=Debian` as a tree.
#[derive(Debug, Default)]
struct Branch {
    members: Vec<(String, Member)>,
}

#[derive(Debug)]
enum Member {
    Leaf(String),
    Branch(Branch),
}

impl Branch {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    /// Is this member a text? `None` where there is no such member.
    fn is_leaf(&self, name: &str) -> Option<bool> {
        let (_, member) = self.members.iter().find(|(known, _)| known == name)?;
        Some(matches!(member, Member::Leaf(_)))
    }

    fn set(&mut self, path: &str, value: String) -> Result<(), Conflict> {
        let mut branch = self;
        let mut rest = path;
        while let Some((name, behind)) = rest.split_once('.') {
            branch = branch.below(name)?;
            rest = behind;
        }
        match branch.is_leaf(rest) {
            Some(true) => Err(Conflict::Repeated),
            Some(false) => Err(Conflict::ValueAndMembers),
            None => {
                branch.members.push((rest.to_owned(), Member::Leaf(value)));
                Ok(())
            }
        }
    }

    fn below(&mut self, name: &str) -> Result<&mut Branch, Conflict> {
        let place = match self.members.iter().position(|(known, _)| known == name) {
            Some(place) => place,
            None => {
                self.members
                    .push((name.to_owned(), Member::Branch(Branch::default())));
                self.members.len() - 1
            }
        };
        match self.members.get_mut(place) {
            Some((_, Member::Branch(branch))) => Ok(branch),
            _ => Err(Conflict::ValueAndMembers),
        }
    }

    fn to_hash(&self) -> Hash {
        self.members
            .iter()
            .map(|(name, member)| {
                let value = match member {
                    Member::Leaf(text) => Value::str(text),
                    Member::Branch(branch) => Value::hash(branch.to_hash()),
                };
                (Value::str(name), value)
            })
            .collect()
    }
}
