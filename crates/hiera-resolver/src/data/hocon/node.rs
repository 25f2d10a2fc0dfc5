//! The tree between tokens and values: what a field was set to, substitutions included.
//!
//! Nodes are never changed. Which node is which matters: a cycle is found and a merge stack replaced by
//! identity, so a node is always passed on as the same `Rc`.

use std::rc::Rc;

use indexmap::IndexMap;
use puppet_values::Value;

use super::token::Text;

pub(super) type Fields = IndexMap<Text, Rc<Node>, foldhash::fast::RandomState>;

/// A path in a reference.
pub(super) type Path = Rc<[Text]>;

#[derive(Debug)]
pub(super) struct Node {
    /// The byte of the document where it was set.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number {
        value: Value,
        written: Text,
    },
    Text {
        text: Text,
        quoted: bool,
    },
    List {
        items: Vec<Rc<Node>>,
        resolved: bool,
    },
    Object {
        fields: Fields,
        resolved: bool,
        /// It is above a value that is not an object, so it is not merged with what is further below.
        ignores_fallbacks: bool,
    },
    /// `${path}` or `${?path}`.
    Reference {
        path: Path,
        optional: bool,
    },
    /// Adjacent values, at least one of them a reference.
    Concatenation(Vec<Rc<Node>>),
    /// Values over each other, the newest first, that can only be merged once references are resolved.
    Merge {
        stack: Vec<Rc<Node>>,
        /// Whatever the references turn out to be, the result is an object.
        is_object: bool,
    },
}

impl Node {
    pub(super) fn new(at: usize, kind: Kind) -> Rc<Node> {
        Rc::new(Node { at, kind })
    }

    pub(super) fn list(at: usize, items: Vec<Rc<Node>>) -> Rc<Node> {
        let resolved = items.iter().all(|item| item.is_resolved());
        Node::new(at, Kind::List { items, resolved })
    }

    pub(super) fn object(at: usize, fields: Fields, ignores_fallbacks: bool) -> Rc<Node> {
        let resolved = fields.values().all(|value| value.is_resolved());
        Node::new(
            at,
            Kind::Object {
                fields,
                resolved,
                ignores_fallbacks,
            },
        )
    }

    pub(super) fn is_resolved(&self) -> bool {
        match &self.kind {
            Kind::List { resolved, .. } | Kind::Object { resolved, .. } => *resolved,
            Kind::Reference { .. } | Kind::Concatenation(_) | Kind::Merge { .. } => false,
            _ => true,
        }
    }

    /// An object, or a merge that will become one.
    pub(super) fn is_object(&self) -> bool {
        matches!(
            self.kind,
            Kind::Object { .. }
                | Kind::Merge {
                    is_object: true,
                    ..
                }
        )
    }

    /// Cannot be merged before references are resolved.
    pub(super) fn is_unmergeable(&self) -> bool {
        matches!(
            self.kind,
            Kind::Reference { .. } | Kind::Concatenation(_) | Kind::Merge { .. }
        )
    }

    /// What is below it in a merge does not matter.
    pub(super) fn ignores_fallbacks(&self) -> bool {
        match &self.kind {
            Kind::Object {
                ignores_fallbacks, ..
            } => *ignores_fallbacks,
            Kind::Merge { stack, .. } => stack.last().is_some_and(|last| last.ignores_fallbacks()),
            _ => self.is_resolved(),
        }
    }

    /// The text of a scalar beside other text.
    pub(super) fn as_text(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Null => Some(b"null"),
            Kind::Bool(true) => Some(b"true"),
            Kind::Bool(false) => Some(b"false"),
            Kind::Number { written: text, .. } | Kind::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}
