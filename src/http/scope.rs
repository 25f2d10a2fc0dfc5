//! A request's facts and variables as a [`Scope`], taken out of its JSON when they are asked for.
//!
//! A node sends thousands of facts and a lookup needs a handful: building values of all of them would cost
//! more than everything else together. What is kept of an object is where its members lie.

use std::borrow::Cow;
use std::cell::RefCell;

use hiera_resolver::key::{DigError, Segment, dig};
use hiera_resolver::scope::{bare_name, built_in};
use hiera_resolver::{Hash, Scope, Value, json};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
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
    /// What has been asked for already, by the whole expression: hierarchies ask for the same again and again.
    known: RefCell<Vec<(String, Option<Value>)>>,
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

    /// Digs through the text of objects, and makes a value of what is found there alone.
    fn dig_text(
        &self,
        name: &str,
        segments: &[Segment],
        key: &str,
    ) -> Result<Option<Value>, DigError> {
        let (object, read): (_, fn(&RawValue) -> Value) = match bare_name(name) {
            "facts" => (self.facts, read_fact),
            "trusted" => (self.trusted, read),
            _ => return self.dig_value(name, segments, key),
        };
        let Some((Segment::Key(first), mut rest)) = segments.split_first() else {
            return self.dig_value(name, segments, key);
        };
        if let (Some(node), "certname", "trusted") = (self.node, first.as_str(), bare_name(name)) {
            return Ok(dig(&Value::str(node), rest, key)?.cloned());
        }
        let Some(mut raw) = object.get(first) else {
            return Ok(None);
        };
        while let Some((Segment::Key(member), behind)) = rest.split_first()
            && raw.get().starts_with('{')
        {
            match member_of(raw, member) {
                Some(inner) => raw = inner,
                None => return Ok(None),
            }
            rest = behind;
        }
        Ok(dig(&read(raw), rest, key)?.cloned())
    }

    fn dig_value(
        &self,
        name: &str,
        segments: &[Segment],
        key: &str,
    ) -> Result<Option<Value>, DigError> {
        match self.variable(name) {
            None => Ok(None),
            Some(value) => Ok(dig(&value, segments, key)?.cloned()),
        }
    }

    fn known(&self, expression: &str) -> Option<Option<Value>> {
        let known = self.known.borrow();
        known
            .iter()
            .find(|(asked, _)| asked == expression)
            .map(|(_, value)| value.clone())
    }

    fn remember(&self, expression: &str, value: &Option<Value>) {
        self.known
            .borrow_mut()
            .push((expression.to_owned(), value.clone()));
    }
}

impl Scope for RequestScope<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        match bare_name(name) {
            "facts" => Some(Value::hash(self.facts.to_hash(read_fact))),
            "trusted" => Some(self.trusted()),
            "server_facts" => Some(self.server_facts()),
            "environment" => Some(Value::str(self.environment)),
            bare => {
                if let Some(known) = self.known(name) {
                    return known;
                }
                let fact = || self.facts.get(bare).map(read_fact);
                let value = self
                    .variables
                    .get(bare)
                    .map(read)
                    .or_else(fact)
                    .or_else(|| built_in(bare));
                self.remember(name, &value);
                value
            }
        }
    }

    fn dig(&self, name: &str, segments: &[Segment], key: &str) -> Result<Option<Value>, DigError> {
        if let Some(known) = self.known(key) {
            return Ok(known);
        }
        let value = self.dig_text(name, segments, key)?;
        self.remember(key, &value);
        Ok(value)
    }
}

/// The member of an object that is still text; the last of several of the same name.
fn member_of<'a>(raw: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    struct Find<'n>(&'n str);
    impl<'de> Visitor<'de> for Find<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(Name(name)) = map.next_key()? {
                if name == self.0 {
                    found = Some(map.next_value()?);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    // It has been read as JSON before, so it can be read again.
    serde_json::Deserializer::from_str(raw.get())
        .deserialize_map(Find(name))
        .ok()
        .flatten()
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
