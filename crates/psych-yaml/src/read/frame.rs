//! What is known of a finished value, and what is kept of a collection that is still open.

use crate::{Build, Mark};

/// A finished value.
#[derive(Clone)]
pub(super) struct Node<V> {
    pub(super) value: V,
    /// How deep it is nested: 0 for a scalar.
    pub(super) depth: usize,
    /// How many values it consists of, itself and aliases expanded.
    pub(super) size: usize,
    pub(super) word: Word,
    /// Whether `!!str` stands on it.
    pub(super) str_tag: bool,
    pub(super) origin: Origin<V>,
}

impl<V: Clone> Node<V> {
    /// What an alias to it stands for.
    pub(super) fn anchored(&self) -> Self {
        Node {
            value: self.value.clone(),
            str_tag: false,
            origin: Origin::Alias,
            ..*self
        }
    }
}

impl<V> Node<V> {
    /// Whether it is, as a key, the merge key.
    pub(super) fn merges(&self) -> bool {
        self.word == Word::Arrows && !self.str_tag
    }
}

/// The texts with a meaning as keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// `<<`
    Arrows,
    /// `str`
    Str,
    Other,
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        match text {
            "<<" => Word::Arrows,
            "str" => Word::Str,
            _ => Word::Other,
        }
    }
}

/// How a value is written, which decides what a merge key makes of it.
#[derive(Clone)]
pub(super) enum Origin<V> {
    Scalar,
    Alias,
    Mapping,
    /// With its elements, if it is the value of a merge key.
    Sequence(Option<Vec<Element<V>>>),
}

/// An element of a sequence that may be merged.
#[derive(Clone)]
pub(super) enum Element<V> {
    Value(V),
    /// A mapping that contains the sequence, with its entries at that time.
    Open {
        entries: Vec<(V, V)>,
        name: String,
        mark: Mark,
    },
}

/// A collection that has not ended.
pub(super) struct Open<B: Build> {
    pub(super) frame: Frame<B>,
    /// Tells it from others that had the same anchor.
    pub(super) number: usize,
    pub(super) anchor: Option<Box<str>>,
    pub(super) mark: Mark,
    /// The depth of the deepest value in it.
    pub(super) depth: usize,
    pub(super) size: usize,
}

impl<B: Build> Open<B> {
    /// Takes note of a value in it.
    pub(super) fn grow(&mut self, depth: usize, size: usize) {
        self.depth = self.depth.max(depth);
        self.size = self.size.saturating_add(size);
    }
}

pub(super) enum Frame<B: Build> {
    Sequence {
        sequence: B::Sequence,
        /// A copy of the elements, if the sequence is the value of a merge key.
        merged: Option<Vec<Element<B::Value>>>,
    },
    Mapping {
        mapping: B::Mapping,
        /// The key whose value comes next.
        key: Option<Node<B::Value>>,
    },
    /// A sequence tagged `!!omap`.
    OrderedMapping { mapping: B::Mapping, empty: bool },
    /// An element of it.
    Pair {
        first: Option<B::Value>,
        last: Option<B::Value>,
    },
    /// A mapping tagged `!!str`: the value of its key `str`.
    String {
        anchor: Option<Box<str>>,
        key: Option<Word>,
        text: Option<Node<B::Value>>,
        has_others: bool,
        str_tag: bool,
    },
}

impl<B: Build> Frame<B> {
    pub(super) fn pair() -> Self {
        Frame::Pair {
            first: None,
            last: None,
        }
    }
}
