//! What a reader hands over and what it asks of its caller.
//!
//! [`Build`] is implemented by whoever wants values: the reader calls it bottom-up, scalars first, so that no tree
//! stands between the text and the caller's own type.

use crate::Scalar;

/// A place in a text. Both numbers start at 1; columns count characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The line.
    pub line: u32,
    /// The character of that line.
    pub column: u32,
}

/// How far a document may go before it is refused.
///
/// Collections in flow style (`[`, `{`) may in addition be nested no deeper than 256, since the scanner takes
/// quadratic time there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How deep collections may be nested. What an alias stands for counts with its own depth.
    pub depth: usize,
    /// How many scalars, collections and aliases a document may be written with.
    pub nodes: usize,
    /// How many there may be once every alias is replaced by what it stands for.
    pub expanded_nodes: usize,
}

impl Default for Limits {
    /// Depth 500, five million nodes, ten million expanded ones: some hundred megabytes of text.
    fn default() -> Self {
        Limits {
            depth: 500,
            nodes: 5_000_000,
            expanded_nodes: 10_000_000,
        }
    }
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'...'`
    SingleQuoted,
    /// `"..."`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// A scalar as it stands in the file: escapes and line folds are undone, nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// How it is written.
    pub style: Style,
    /// Its tag in full, such as `tag:yaml.org,2002:str` for `!!str`; none for `!` alone.
    pub tag: Option<&'a str>,
    /// Where it begins, its anchor and tag included.
    pub mark: Mark,
}

/// What the caller makes of each part of a document.
///
/// Values arrive in the order of the text, and a collection's content arrives between its opening ([`sequence`],
/// [`mapping`]) and its end ([`finish_sequence`], [`finish_mapping`]). Collections nest, so several can be open. An
/// alias is a clone of the value it stands for.
///
/// [`sequence`]: Build::sequence
/// [`mapping`]: Build::mapping
/// [`finish_sequence`]: Build::finish_sequence
/// [`finish_mapping`]: Build::finish_mapping
pub trait Build {
    /// A finished value. Cloning happens for anchors and aliases, and should be cheap for large values.
    type Value: Clone;
    /// A sequence being filled.
    type Sequence;
    /// A mapping being filled.
    type Mapping;

    /// Makes a value of a scalar.
    fn scalar(&mut self, scalar: Scalar<'_>, source: Source<'_>) -> Self::Value;

    /// Opens a sequence.
    fn sequence(&mut self) -> Self::Sequence;
    /// Appends to a sequence.
    fn push(&mut self, sequence: &mut Self::Sequence, value: Self::Value);
    /// Closes a sequence that began at `mark`.
    fn finish_sequence(&mut self, sequence: Self::Sequence, mark: Mark) -> Self::Value;

    /// Opens a mapping.
    fn mapping(&mut self) -> Self::Mapping;
    /// Sets a key: one that is there already keeps its place and takes the new value.
    ///
    /// Ruby compares keys by kind, so that `1`, `1.0` and `"1"` are three of them.
    fn insert(&mut self, mapping: &mut Self::Mapping, key: Self::Value, value: Self::Value);
    /// Closes a mapping that began at `mark`.
    fn finish_mapping(&mut self, mapping: Self::Mapping, mark: Mark) -> Self::Value;

    /// The entries of a value that is a mapping, in order, and `None` for any other value: what a merge key (`<<`)
    /// takes over.
    fn entries(&self, value: &Self::Value) -> Option<Vec<(Self::Value, Self::Value)>>;
    /// The entries so far of a mapping that is still open, in order.
    ///
    /// A merge key may refer to the mapping around it (`a: &a {b: 1, c: {<<: *a}}`); Ruby then takes what stands
    /// before.
    fn open_entries(&self, mapping: &Self::Mapping) -> Vec<(Self::Value, Self::Value)>;
}
