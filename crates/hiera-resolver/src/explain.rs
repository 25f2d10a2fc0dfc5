//! Explanations: what a lookup did, recorded as a tree while it runs and shown afterwards.
//!
//! The tree has the nodes of Puppet's own, since its text and its JSON are what people know. The lookup opens a node,
//! reports its result and closes it; `explain/text.rs` and `explain/json.rs` render the tree. `explain/words.rs` has
//! Puppet's texts for failures, headings and remarks.

mod json;
mod node;
mod puppet_error;
mod text;
pub(crate) mod words;

use arcstr::ArcStr;
use puppet_values::Value;

pub(crate) use self::node::{Event, NodeKind};
pub(crate) use self::puppet_error::PuppetError;
pub(crate) use self::text::REDACTED;

/// A recorded explanation.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    nodes: Vec<Node>,
    top: Vec<usize>,
    /// The nodes that are open, outermost first.
    open: Vec<usize>,
    texts: Vec<String>,
    has_reason: bool,
}

#[derive(Clone, Debug)]
struct Node {
    kind: NodeKind,
    branches: Vec<usize>,
    key: Option<ArcStr>,
    event: Option<Event>,
    texts: Vec<String>,
}

impl Explanation {
    /// Opens a node below the one that is open.
    pub(crate) fn open(&mut self, kind: NodeKind, key: Option<ArcStr>) {
        let index = self.nodes.len();
        self.nodes.push(Node {
            kind,
            branches: Vec::new(),
            key,
            event: None,
            texts: Vec::new(),
        });
        match self.current() {
            Some(node) => node.branches.push(index),
            None => self.top.push(index),
        }
        self.open.push(index);
    }

    /// Closes the node that is open.
    pub(crate) fn close(&mut self) {
        self.open.pop();
    }

    /// Sets the result of the open node.
    pub(crate) fn report(&mut self, key: Option<ArcStr>, event: Event) {
        if let Some(node) = self.current() {
            if key.is_some() {
                node.key = key;
            }
            node.event = Some(event);
        }
    }

    /// Replaces a value that was changed after it was reported.
    pub(crate) fn replace(&mut self, old: &Value, new: &Value) {
        let events = self.nodes.iter_mut().filter_map(|node| node.event.as_mut());
        for value in events
            .filter_map(Event::value_mut)
            .filter(|value| value.is_same_object(old))
        {
            *value = new.clone();
        }
    }

    /// Changes all values in it.
    pub(crate) fn change_values(&mut self, mut change: impl FnMut(&mut Value)) {
        for node in &mut self.nodes {
            if let Some(value) = node.event.as_mut().and_then(Event::value_mut) {
                change(value);
            }
            if let NodeKind::Merge {
                options: Some(options),
                ..
            } = &mut node.kind
            {
                let mut value = Value::hash(std::mem::take(options));
                change(&mut value);
                *options = value.as_hash().cloned().unwrap_or_default();
            }
        }
    }

    /// Changes all remarks.
    pub(crate) fn change_remarks(&mut self, change: impl FnMut(&mut String)) {
        let texts = self.nodes.iter_mut().flat_map(|node| &mut node.texts);
        texts.chain(&mut self.texts).for_each(change);
    }

    /// Adds a remark to the open node.
    pub(crate) fn remark(&mut self, text: String) {
        match self.current() {
            Some(node) => node.texts.push(text),
            None => self.texts.push(text),
        }
    }

    /// Ends it with why there is no value.
    pub(crate) fn end_with(&mut self, reason: String) {
        self.texts.push(reason);
        self.has_reason = true;
    }

    /// Does it say why there is no value? Puppet's explanation does not for every error.
    pub fn has_reason(&self) -> bool {
        self.has_reason
    }

    fn current(&mut self) -> Option<&mut Node> {
        let index = *self.open.last()?;
        self.nodes.get_mut(index)
    }

    fn node(&self, index: usize) -> Option<&Node> {
        self.nodes.get(index)
    }

    fn branches<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Node> {
        node.branches.iter().filter_map(|index| self.node(*index))
    }
}
