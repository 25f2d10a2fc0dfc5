//! Finished values and open collections, as the reader keeps them.

use crate::{Build, Mark};

/// A finished value.
#[derive(Clone)]
pub(super) struct Node<V> {
    pub(super) value: V,
    /// The levels of nesting: 0 for a scalar.
    pub(super) depth: usize,
    /// The number of values in it, including itself, with aliases expanded.
    pub(super) size: usize,
    pub(super) word: KeyWord,
    /// Whether it is tagged `!!str`.
    pub(super) str_tag: bool,
    pub(super) origin: Origin<V>,
}

impl<V: Clone> Node<V> {
    /// The value of an alias to it.
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
    /// Whether it is a merge key, if it is used as a key.
    pub(super) fn is_merge_key(&self) -> bool {
        self.word == KeyWord::Merge && !self.str_tag
    }
}

/// Strings that are special as keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyWord {
    /// `<<`
    Merge,
    /// `str`
    Str,
    Other,
}

impl From<&str> for KeyWord {
    fn from(text: &str) -> Self {
        match text {
            "<<" => KeyWord::Merge,
            "str" => KeyWord::Str,
            _ => KeyWord::Other,
        }
    }
}

/// How a value is written, which decides how a merge key treats it.
#[derive(Clone)]
pub(super) enum Origin<V> {
    Scalar,
    Alias,
    Mapping,
    /// With the elements, if it is the value of a merge key.
    Sequence(Option<Vec<Element<V>>>),
}

/// An element of a sequence that is the value of a merge key.
#[derive(Clone)]
pub(super) enum Element<V> {
    Value(V),
    /// An alias to a mapping that contains the sequence, with the entries so far.
    Open {
        entries: Vec<(V, V)>,
        name: String,
        mark: Mark,
    },
}

/// A collection that has not ended.
pub(super) struct OpenCollection<B: Build> {
    pub(super) frame: Frame<B>,
    /// Distinguishes it from other collections with the same anchor.
    pub(super) number: usize,
    pub(super) anchor: Option<Box<str>>,
    pub(super) mark: Mark,
    /// The depth of the deepest value in it.
    pub(super) depth: usize,
    pub(super) size: usize,
}

impl<B: Build> OpenCollection<B> {
    /// Adds the depth and size of a value in it.
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
    /// An element of such a sequence.
    Pair {
        first: Option<B::Value>,
        last: Option<B::Value>,
    },
    /// A mapping tagged `!!str`: the value of its key `str`.
    String {
        anchor: Option<Box<str>>,
        key: Option<KeyWord>,
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
