//! A request's facts and variables as a [`Scope`], taken out of its JSON when they are asked for.
//!
//! A node sends thousands of facts and a lookup needs a handful: building values of all of them would cost
//! more than everything else together. What is kept of an object is where its members lie.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use hiera_resolver::key::{DigError, Segment, dig};
use hiera_resolver::scope::{bare_name, built_in};
use hiera_resolver::{Hash, Scope, Value, json};

use super::scan::{Scan, Scanner, plain_text};

/// A JSON object of which only the names have been read.
#[derive(Debug, Default)]
pub(crate) struct RawObject<'a> {
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> RawObject<'a> {
    /// Takes an object.
    pub(crate) fn scan(scanner: &mut Scanner<'a>) -> Scan<Self> {
        let mut members = Vec::with_capacity(64);
        scanner.object(|scanner, name| {
            members.push((name, scanner.value()?));
            Ok(())
        })?;
        Ok(RawObject { members })
    }

    /// The member of this name. The last of several counts.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.members
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Is this member a text? `None` where there is no such member.
    pub(crate) fn is_text(&self, name: &str) -> Option<bool> {
        Some(self.get(name)?.starts_with('"'))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_ref())
    }

    /// The whole object as a value.
    pub(crate) fn to_hash(&self, read: impl Fn(&str) -> Value) -> Hash {
        self.members
            .iter()
            .map(|(name, value)| (Value::str(name), read(value)))
            .collect()
    }
}

/// Makes a value of its text.
type Read = fn(&str) -> Value;

/// The variables of a request.
#[derive(Debug)]
pub(crate) struct RequestScope<'a> {
    environment: &'a str,
    facts: &'a RawObject<'a>,
    trusted: &'a RawObject<'a>,
    variables: &'a RawObject<'a>,
    /// The node's name, where `trusted` does not have it.
    node: Option<&'a str>,
    /// Objects inside of others that were looked into, and values that were made, by where they start in the body:
    /// data may ask for the same again and again.
    objects: RefCell<Vec<(usize, Rc<RawObject<'a>>)>>,
    values: RefCell<Vec<(usize, Value)>>,
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
            objects: RefCell::default(),
            values: RefCell::default(),
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

    /// Follows segments through the text of objects: what lies there, and the segments that are left. `None`: there
    /// is nothing.
    fn follow<'s>(
        &self,
        object: &RawObject<'a>,
        first: &str,
        mut segments: &'s [Segment],
    ) -> Option<(&'a str, &'s [Segment])> {
        let mut raw = object.get(first)?;
        while let Some((Segment::Key(member), behind)) = segments.split_first()
            && raw.starts_with('{')
        {
            raw = self.object_at(raw).get(member)?;
            segments = behind;
        }
        Some((raw, segments))
    }

    fn object_at(&self, raw: &'a str) -> Rc<RawObject<'a>> {
        let mut objects = self.objects.borrow_mut();
        let start = raw.as_ptr().addr();
        if let Some((_, object)) = objects.iter().find(|(known, _)| *known == start) {
            return object.clone();
        }
        // It has been read as JSON before, so it can be read again.
        let object = RawObject::scan(&mut Scanner::new(raw, usize::MAX)).unwrap_or_default();
        let object = Rc::new(object);
        objects.push((start, object.clone()));
        object
    }

    /// Makes a value, once.
    fn value_at(&self, raw: &'a str, read: Read) -> Value {
        if !raw.starts_with(['{', '[']) {
            return read(raw);
        }
        let start = raw.as_ptr().addr();
        if let Some((_, value)) = self
            .values
            .borrow()
            .iter()
            .find(|(known, _)| *known == start)
        {
            return value.clone();
        }
        let value = read(raw);
        self.values.borrow_mut().push((start, value.clone()));
        value
    }

    /// The object that a variable's first segment lies in, where it is still text, and how its values are read.
    fn object_of(&self, name: &str, first: &str) -> Option<(&'a RawObject<'a>, Read)> {
        match bare_name(name) {
            "facts" => Some((self.facts, read_fact)),
            "trusted" if self.node.is_none() || first != "certname" => Some((self.trusted, read)),
            _ => None,
        }
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
                if let Some(raw) = self.variables.get(bare) {
                    return Some(self.value_at(raw, read));
                }
                match self.facts.get(bare) {
                    Some(raw) => Some(self.value_at(raw, read_fact)),
                    None => built_in(bare),
                }
            }
        }
    }

    fn is_set(&self, name: &str) -> bool {
        match bare_name(name) {
            "facts" | "trusted" | "server_facts" | "environment" => true,
            bare => {
                self.variables.contains(bare)
                    || self.facts.contains(bare)
                    || built_in(bare).is_some()
            }
        }
    }

    fn dig(&self, name: &str, segments: &[Segment], key: &str) -> Result<Option<Value>, DigError> {
        if let Some((Segment::Key(first), rest)) = segments.split_first()
            && let Some((object, read)) = self.object_of(name, first)
        {
            return match self.follow(object, first, rest) {
                Some((raw, left)) => Ok(dig(&self.value_at(raw, read), left, key)?.cloned()),
                None => Ok(None),
            };
        }
        match self.variable(name) {
            None => Ok(None),
            Some(value) => Ok(dig(&value, segments, key)?.cloned()),
        }
    }

    fn text(&self, name: &str, segments: &[Segment]) -> Option<&str> {
        let name = bare_name(name);
        let raw = match segments.split_first() {
            None => match name {
                "facts" | "trusted" | "server_facts" => return None,
                "environment" => return Some(self.environment),
                _ => self.variables.get(name).or_else(|| self.facts.get(name))?,
            },
            Some((Segment::Key(first), [])) if name == "trusted" && first.text() == "certname" => {
                match self.node {
                    Some(node) => return Some(node),
                    None => self.trusted.get(first)?,
                }
            }
            Some((Segment::Key(first), rest)) => {
                let (object, _) = self.object_of(name, first)?;
                match self.follow(object, first, rest)? {
                    (raw, []) => raw,
                    _ => return None,
                }
            }
            Some(_) => return None,
        };
        plain_text(raw)
    }
}

/// A value of a request. It has been read as JSON before, so it can be read again.
pub(crate) fn read(raw: &str) -> Value {
    json::parse(raw.as_bytes(), &mut |text| Value::str(text)).unwrap_or_default()
}

/// Puppet: a fact that is null is an empty text, at any depth.
fn read_fact(raw: &str) -> Value {
    let value = read(raw);
    // Looking for the word is far cheaper than making every value anew.
    if memchr::memmem::find(raw.as_bytes(), b"null").is_some() {
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
