//! [`JsonScope`]: the variables of a [`JsonNode`] during one run.

use std::cell::RefCell;
use std::rc::Rc;

use hiera_resolver::key::{DigError, Segment, dig};
use hiera_resolver::scope::fact_value;
use hiera_resolver::scope::{TopScopeName, built_in};
use hiera_resolver::{Scope, Value};

use super::JsonNode;
use crate::http::lookup::json_scanner::{JsonScanner, unescaped_text};
use crate::http::lookup::raw_object::{RawObject, parse_scanned};

/// Makes a value of its text.
type Parse = fn(&str) -> Value;

/// Parses variables when they are asked for.
#[derive(Debug)]
pub(super) struct JsonScope<'a> {
    environment: &'a str,
    node: &'a JsonNode<'a>,
    /// Nested objects that were scanned, and values that were made, by the address of their text: data may ask for the
    /// same again and again.
    objects: RefCell<Vec<(usize, Rc<RawObject<'a>>)>>,
    values: RefCell<Vec<(usize, Value)>>,
}

impl<'a> JsonScope<'a> {
    pub(super) fn new(environment: &'a str, node: &'a JsonNode<'a>) -> Self {
        JsonScope {
            environment,
            node,
            objects: RefCell::default(),
            values: RefCell::default(),
        }
    }

    fn trusted(&self) -> Value {
        let mut trusted = self.node.trusted.to_hash(parse_scanned);
        if let Some(name) = &self.node.name {
            trusted.insert("certname".into(), Value::str(name));
        }
        Value::hash(trusted)
    }

    fn server_facts(&self) -> Value {
        let environment = ("environment".into(), Value::str(self.environment));
        Value::hash([environment].into_iter().collect())
    }

    /// Follows segments through the text of objects. Returns the text found and the segments that are left; `None` if
    /// there is no such member.
    fn follow<'s>(
        &self,
        object: &RawObject<'a>,
        first: &str,
        mut segments: &'s [Segment],
    ) -> Option<(&'a str, &'s [Segment])> {
        let mut raw = object.get(first)?;
        while let Some((Segment::Key(member), rest)) = segments.split_first()
            && raw.starts_with('{')
        {
            raw = self.object_at(raw).get(member)?;
            segments = rest;
        }
        Some((raw, segments))
    }

    fn object_at(&self, raw: &'a str) -> Rc<RawObject<'a>> {
        let mut objects = self.objects.borrow_mut();
        let address = raw.as_ptr().addr();
        if let Some((_, object)) = objects.iter().find(|(known, _)| *known == address) {
            return object.clone();
        }
        // It was scanned with the whole body, so scanning it again does not fail.
        let object = RawObject::scan(&mut JsonScanner::new(raw, usize::MAX)).unwrap_or_default();
        let object = Rc::new(object);
        objects.push((address, object.clone()));
        object
    }

    /// Makes a value, once.
    fn value_at(&self, raw: &'a str, parse: Parse) -> Value {
        if !raw.starts_with(['{', '[']) {
            return parse(raw);
        }
        let address = raw.as_ptr().addr();
        if let Some((_, value)) = self
            .values
            .borrow()
            .iter()
            .find(|(known, _)| *known == address)
        {
            return value.clone();
        }
        let value = parse(raw);
        self.values.borrow_mut().push((address, value.clone()));
        value
    }

    /// The node's name, if it takes the role of the `trusted.certname` that is asked for.
    fn certname(&self, name: TopScopeName<'_>, segments: &[Segment]) -> Option<&str> {
        match (name, segments) {
            (TopScopeName::Trusted, [Segment::Key(member)]) if member.text() == "certname" => {
                self.node.name.as_deref()
            }
            _ => None,
        }
    }

    /// The object that has a variable's first segment, if it is still text, and how its values are parsed.
    #[inline]
    fn object_of(&self, name: TopScopeName<'_>, first: &str) -> Option<(&'a RawObject<'a>, Parse)> {
        match name {
            TopScopeName::Facts => Some((&self.node.facts, parse_fact)),
            TopScopeName::Trusted if self.node.name.is_none() || first != "certname" => {
                Some((&self.node.trusted, parse_scanned))
            }
            _ => None,
        }
    }
}

impl Scope for JsonScope<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        match TopScopeName::parse(name) {
            TopScopeName::Facts => Some(Value::hash(self.node.facts.to_hash(parse_fact))),
            TopScopeName::Trusted => Some(self.trusted()),
            TopScopeName::ServerFacts => Some(self.server_facts()),
            TopScopeName::Environment => Some(Value::str(self.environment)),
            TopScopeName::Other(name) => {
                if let Some(raw) = self.node.variables.get(name) {
                    return Some(self.value_at(raw, parse_scanned));
                }
                match self.node.facts.get(name) {
                    Some(raw) => Some(self.value_at(raw, parse_fact)),
                    None => built_in(name),
                }
            }
        }
    }

    fn is_set(&self, name: &str) -> bool {
        match TopScopeName::parse(name) {
            TopScopeName::Other(name) => {
                self.node.variables.contains(name)
                    || self.node.facts.contains(name)
                    || built_in(name).is_some()
            }
            _ => true,
        }
    }

    fn dig(&self, name: &str, segments: &[Segment], key: &str) -> Result<Option<Value>, DigError> {
        if let Some((Segment::Key(first), rest)) = segments.split_first()
            && let Some((object, parse)) = self.object_of(TopScopeName::parse(name), first)
        {
            return match self.follow(object, first, rest) {
                Some((raw, left)) => Ok(dig(&self.value_at(raw, parse), left, key)?.cloned()),
                None => Ok(None),
            };
        }
        match self.variable(name) {
            None => Ok(None),
            Some(value) => Ok(dig(&value, segments, key)?.cloned()),
        }
    }

    fn text(&self, name: &str, segments: &[Segment]) -> Option<&str> {
        let name = TopScopeName::parse(name);
        let raw = match (name, segments) {
            (TopScopeName::Environment, []) => return Some(self.environment),
            (TopScopeName::Other(name), []) => {
                let variable = self.node.variables.get(name);
                variable.or_else(|| self.node.facts.get(name))?
            }
            (_, [Segment::Key(first), rest @ ..]) => match self.object_of(name, first) {
                Some((object, _)) => match self.follow(object, first, rest)? {
                    (raw, []) => raw,
                    _ => return None,
                },
                None => return self.certname(name, segments),
            },
            _ => return None,
        };
        unescaped_text(raw)
    }
}

/// Parses a fact by the rules of facts.
fn parse_fact(raw: &str) -> Value {
    let value = parse_scanned(raw);
    // Searching for the word is far cheaper than rebuilding every value.
    match memchr::memmem::find(raw.as_bytes(), b"null") {
        Some(_) => fact_value(value),
        None => value,
    }
}
