//! `GET /lookup/{key}?…`: the query string → the parts of a request, for people with curl.

use hiera_resolver::scope::Variables;
use hiera_resolver::{Explain, Hash, Value};

use super::body::{bad, check_names, parse_explain};
use super::error::ApiError;

/// A request written as a query string. Facts and the like are texts.
#[derive(Debug, Default)]
pub(crate) struct LookupQuery {
    pub(crate) environment: Option<String>,
    pub(crate) merge: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) value_type: Option<String>,
    pub(crate) explain: Option<Explain>,
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
                "environment" => query.environment = Some(value),
                "node" => query.node = Some(value),
                "merge" => query.merge = Some(Value::str(value)),
                "default" => query.default = Some(Value::str(value)),
                "type" => query.value_type = Some(value),
                "explain" => query.explain = Some(parse_explain(&value)?),
                dotted => query.set_variable(dotted, value)?,
            }
        }
        check_names("fact", query.facts.names())?;
        check_names("variable", query.variables.names())?;
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
        branch.set(path, value).map_err(|()| {
            bad(format!(
                "`{dotted}` is given both a value and members of its own"
            ))
        })
    }

    /// The variables of the request.
    pub(crate) fn scope(&self, environment: &str) -> Variables {
        let mut trusted = self.trusted.to_hash();
        if let (Some(node), None) = (&self.node, trusted.get("certname")) {
            trusted.insert("certname".into(), Value::str(node));
        }
        Variables::new(
            environment,
            self.facts.to_hash(),
            trusted,
            self.variables.to_hash(),
        )
    }
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

    fn set(&mut self, path: &str, value: String) -> Result<(), ()> {
        let mut branch = self;
        let mut rest = path;
        while let Some((name, behind)) = rest.split_once('.') {
            branch = branch.below(name)?;
            rest = behind;
        }
        match branch.members.iter_mut().find(|(known, _)| known == rest) {
            Some((_, Member::Branch(_))) => return Err(()),
            Some((_, member)) => *member = Member::Leaf(value),
            None => branch.members.push((rest.to_owned(), Member::Leaf(value))),
        }
        Ok(())
    }

    fn below(&mut self, name: &str) -> Result<&mut Branch, ()> {
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
            _ => Err(()),
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
