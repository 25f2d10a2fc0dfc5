//! A request's facts and variables as a [`Scope`], taken out of its JSON when they are asked for.
//!
//! A node sends thousands of facts and a lookup needs a handful: building values of all of them would cost
//! more than everything else together. What is kept of an object is where its members lie.

use std::borrow::Cow;
use std::cell::RefCell;

use hiera_resolver::key::{DigError, Segment, dig};
use hiera_resolver::scope::{bare_name, built_in};
use hiera_resolver::{Hash, Scope, Value, json};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object of which only the names have been read.
#[derive(Debug, Default)]
pub(crate) struct RawObject<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> RawObject<'a> {
    /// The member of this name. The last of several counts.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.members
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_ref())
    }

    /// The whole object as a value.
    pub(crate) fn to_hash(&self, read: impl Fn(&RawValue) -> Value) -> Hash {
        self.members
            .iter()
            .map(|(name, value)| (Value::str(name), read(value)))
            .collect()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawObject<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject<'de>, A::Error> {
                let mut members = Vec::with_capacity(64);
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(RawObject { members })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A name that borrows from the body where it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The variables of a request.
#[derive(Debug)]
pub(crate) struct RequestScope<'a> {
    environment: &'a str,
    facts: &'a RawObject<'a>,
    trusted: &'a RawObject<'a>,
    variables: &'a RawObject<'a>,
    /// The node's name, where `trusted` does not have it.
    node: Option<&'a str>,
    /// What has been read already.
    known: RefCell<Vec<(Source, String, Option<Value>)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Fact,
    Trusted,
    Variable,
}

impl<'a> RequestScope<'a> {
    pub(crate) fn new(
        environment: &'a str,
        facts: &'a RawObject<'a>,
        trusted: &'a RawObject<'a>,
        variables: &'a RawObject<'a>,
        node: Option<&'a str>,
    ) -> Self {
        let node = node.filter(|_| !trusted.contains("certname"));
        RequestScope {
            environment,
            facts,
            trusted,
            variables,
            node,
            known: RefCell::default(),
        }
    }

    fn member(&self, source: Source, name: &str) -> Option<Value> {
        let known = self
            .known
            .borrow()
            .iter()
            .find(|(kind, known, _)| *kind == source && known == name)
            .cloned();
        if let Some((_, _, value)) = known {
            return value;
        }
        let value = match source {
            Source::Fact => self.facts.get(name).map(read_fact),
            Source::Variable => self.variables.get(name).map(read),
            Source::Trusted => match (name, self.node) {
                ("certname", Some(node)) => Some(Value::str(node)),
                _ => self.trusted.get(name).map(read),
            },
        };
        self.known
            .borrow_mut()
            .push((source, name.to_owned(), value.clone()));
        value
    }

    fn trusted(&self) -> Value {
        let mut trusted = self.trusted.to_hash(read);
        if let Some(node) = self.node {
            trusted.insert("certname".into(), Value::str(node));
        }
        Value::hash(trusted)
    }

    fn server_facts(&self) -> Value {
        Value::hash(
            [("environment".into(), Value::str(self.environment))]
                .into_iter()
                .collect(),
        )
    }
}

impl Scope for RequestScope<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        match bare_name(name) {
            "facts" => Some(Value::hash(self.facts.to_hash(read_fact))),
            "trusted" => Some(self.trusted()),
            "server_facts" => Some(self.server_facts()),
            "environment" => Some(Value::str(self.environment)),
            name => self
                .member(Source::Variable, name)
                .or_else(|| self.member(Source::Fact, name))
                .or_else(|| built_in(name)),
        }
    }

    fn dig(&self, name: &str, segments: &[Segment], key: &str) -> Result<Option<Value>, DigError> {
        let source = match bare_name(name) {
            "facts" => Some(Source::Fact),
            "trusted" => Some(Source::Trusted),
            _ => None,
        };
        let (value, rest) = match (source, segments.split_first()) {
            (Some(source), Some((Segment::Key(member), rest))) => {
                (self.member(source, member), rest)
            }
            _ => (self.variable(name), segments),
        };
        match value {
            None => Ok(None),
            Some(value) => Ok(dig(&value, rest, key)?.cloned()),
        }
    }
}

/// A value of a request. It has been read as JSON before, so it can be read again.
pub(crate) fn read(raw: &RawValue) -> Value {
    json::parse(raw.get().as_bytes(), &mut |text| Value::str(text)).unwrap_or_default()
}

/// Puppet: a fact that is null is an empty text, at any depth.
fn read_fact(raw: &RawValue) -> Value {
    let value = read(raw);
    // Looking for the word is far cheaper than making every value anew.
    if memchr::memmem::find(raw.get().as_bytes(), b"null").is_some() {
        without_nulls(value)
    } else {
        value
    }
}

pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Null => Value::str(""),
        Value::Array(array) => {
            Value::array(array.items().iter().cloned().map(without_nulls).collect())
        }
        Value::Hash(hash) => Value::hash(
            hash.iter()
                .map(|(key, value)| (key.clone(), without_nulls(value.clone())))
                .collect(),
        ),
        other => other,
    }
}
