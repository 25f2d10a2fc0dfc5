//! Explanations: what a lookup did, recorded as a tree while it runs and shown afterwards.
//!
//! The tree has the nodes of Puppet's own, since both its text and its JSON are what people know. The lookup
//! opens a node, reports what came of it and closes it; rendering is apart (`explain/text.rs`, `explain/json.rs`).

mod json;
mod text;

use arcstr::ArcStr;

use crate::Value;
use crate::hash::Hash;

pub use text::REDACTED;

/// A recorded explanation.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    nodes: Vec<Node>,
    top: Vec<usize>,
    /// The nodes that are open, outermost first.
    open: Vec<usize>,
    texts: Vec<String>,
    tells_end: bool,
}

#[derive(Clone, Debug)]
struct Node {
    kind: NodeKind,
    branches: Vec<usize>,
    key: Option<ArcStr>,
    event: Option<Event>,
    texts: Vec<String>,
}

/// What a node stands for.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// The search for a key: `Searching for "key"`.
    Search,
    /// A layer, or a level of its hierarchy.
    Provider {
        /// Its name.
        name: String,
        /// The `hiera.yaml` of a layer.
        config_path: Option<ArcStr>,
        /// The module, where it is a module's layer.
        module: Option<ArcStr>,
    },
    /// A file.
    Path {
        /// As it stands in `hiera.yaml`.
        original: ArcStr,
        /// What that came to.
        path: String,
    },
    /// A URI.
    Uri {
        /// As it stands in `hiera.yaml`.
        original: ArcStr,
        /// What that came to.
        uri: String,
    },
    /// A merge.
    Merge {
        /// The strategy.
        strategy: String,
        /// Its options.
        options: Option<Hash>,
    },
    /// A text with tokens.
    Interpolation {
        /// The text.
        expression: ArcStr,
    },
    /// A scope of variables, or a heading.
    Scope {
        /// Its name.
        name: String,
    },
    /// The way along the segments of a key.
    SubKey {
        /// The segments, joined by dots.
        segments: String,
    },
    /// One segment.
    Segment,
    /// A module that is not there, or has no data.
    Module {
        /// Its name.
        name: ArcStr,
    },
    /// A key that cannot be looked up.
    InvalidKey,
    /// Where the merge strategy came from.
    MergeSource,
}

/// What came of a node.
#[derive(Clone, Debug)]
pub enum Event {
    /// A value.
    Found(Value),
    /// A value, out of `override`.
    FoundInOverrides(Value),
    /// A value, out of `default_values`.
    FoundInDefaults(Value),
    /// What a merge came to.
    Result(Value),
    /// No such key.
    NotFound,
    /// No such file.
    LocationNotFound,
    /// No such module.
    ModuleNotFound,
    /// A module without data.
    ModuleProviderNotFound,
}

impl Event {
    /// The same without its value.
    pub(crate) fn redacted(self) -> Self {
        let mut event = self;
        if let Some(value) = event.value_mut() {
            *value = Event::secret();
        }
        event
    }

    /// What stands in the place of a value that is not shown.
    pub(crate) fn secret() -> Value {
        Value::Sensitive(std::sync::Arc::new(Value::Null))
    }

    /// About how many bytes it takes to tell it.
    pub(crate) fn weight(&self) -> usize {
        32 + 16
            * self
                .value()
                .map_or(0, |value| value.traits().weight as usize)
    }

    fn value_mut(&mut self) -> Option<&mut Value> {
        match self {
            Event::Found(value)
            | Event::FoundInOverrides(value)
            | Event::FoundInDefaults(value)
            | Event::Result(value) => Some(value),
            _ => None,
        }
    }

    fn value(&self) -> Option<&Value> {
        match self {
            Event::Found(value)
            | Event::FoundInOverrides(value)
            | Event::FoundInDefaults(value)
            | Event::Result(value) => Some(value),
            _ => None,
        }
    }
}

impl Explanation {
    /// Opens a node below the one that is open.
    pub fn open(&mut self, kind: NodeKind, key: Option<ArcStr>) {
        let place = self.nodes.len();
        self.nodes.push(Node {
            kind,
            branches: Vec::new(),
            key,
            event: None,
            texts: Vec::new(),
        });
        match self.current() {
            Some(node) => node.branches.push(place),
            None => self.top.push(place),
        }
        self.open.push(place);
    }

    /// Closes the node that is open.
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Says what came of the open node.
    pub fn report(&mut self, key: Option<ArcStr>, event: Event) {
        if let Some(node) = self.current() {
            if key.is_some() {
                node.key = key;
            }
            node.event = Some(event);
        }
    }

    /// Shows another value in the place of one that was changed after it was told.
    pub(crate) fn replace(&mut self, old: &Value, new: &Value) {
        let events = self.nodes.iter_mut().filter_map(|node| node.event.as_mut());
        for value in events
            .filter_map(Event::value_mut)
            .filter(|value| value.is_same_object(old))
        {
            *value = new.clone();
        }
    }

    /// Changes all values that are told.
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
    pub fn remark(&mut self, text: String) {
        match self.current() {
            Some(node) => node.texts.push(text),
            None => self.texts.push(text),
        }
    }

    /// Ends it with why there is no value. `None`: Puppet's explanation does not say.
    pub fn tell_end(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.texts.push(text);
            self.tells_end = true;
        }
    }

    /// Does it say why there is no value?
    pub fn tells_end(&self) -> bool {
        self.tells_end
    }

    fn current(&mut self) -> Option<&mut Node> {
        let place = *self.open.last()?;
        self.nodes.get_mut(place)
    }

    fn node(&self, place: usize) -> Option<&Node> {
        self.nodes.get(place)
    }

    fn branches<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Node> {
        node.branches.iter().filter_map(|place| self.node(*place))
    }
}
