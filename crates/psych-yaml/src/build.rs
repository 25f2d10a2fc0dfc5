//! The interface between the reader and the caller's value type.
//!
//! A caller implements [`Build`] for its own values. The reader calls it bottom-up, scalars first, so there is no
//! intermediate tree.

use crate::Scalar;

/// A position in a document. Lines and columns start at 1; columns count characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Limits on the size of a document.
///
/// In addition, flow collections (`[`, `{`) can be nested at most 256 levels deep, because the scanner takes quadratic
/// time there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum nesting of collections. An alias counts with the depth of its value.
    pub depth: usize,
    /// The maximum number of scalars, collections and aliases in the document.
    pub nodes: usize,
    /// The maximum number of scalars and collections after aliases are expanded.
    pub expanded_nodes: usize,
}

impl Default for Limits {
    /// Depth 500, five million nodes, ten million expanded nodes: enough for about a hundred megabytes of YAML.
    fn default() -> Self {
        Limits {
            depth: 500,
            nodes: 5_000_000,
            expanded_nodes: 10_000_000,
        }
    }
}

/// The style of a scalar.
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

/// A scalar as it is written in the document. Escapes and line folds are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// The style.
    pub style: Style,
    /// The full tag, such as `tag:yaml.org,2002:str` for `!!str`; `None` for `!` alone.
    pub tag: Option<&'a str>,
    /// Where the scalar starts, including its anchor and tag.
    pub mark: Mark,
}

/// Builds the caller's values from the parts of a document.
///
/// Values arrive in document order. The content of a collection arrives between its start ([`sequence`], [`mapping`])
/// and its end ([`finish_sequence`], [`finish_mapping`]). Collections nest, so several can be open at a time. An alias
/// is a clone of its value.
///
/// [`sequence`]: Build::sequence
/// [`mapping`]: Build::mapping
/// [`finish_sequence`]: Build::finish_sequence
/// [`finish_mapping`]: Build::finish_mapping
pub trait Build {
    /// A finished value. It is cloned for anchors and aliases, so cloning a large value should be cheap.
    type Value: Clone;
    /// A sequence under construction.
    type Sequence;
    /// A mapping under construction.
    type Mapping;

    /// Builds a scalar.
    fn scalar(&mut self, scalar: Scalar<'_>, source: Source<'_>) -> Self::Value;

    /// Starts a sequence.
    fn sequence(&mut self) -> Self::Sequence;
    /// Appends to a sequence.
    fn push(&mut self, sequence: &mut Self::Sequence, value: Self::Value);
    /// Finishes a sequence that started at `mark`.
    fn finish_sequence(&mut self, sequence: Self::Sequence, mark: Mark) -> Self::Value;

    /// Starts a mapping.
    fn mapping(&mut self) -> Self::Mapping;
    /// Sets a key. An existing key keeps its position and gets the new value.
    ///
    /// Ruby compares keys by type: `1`, `1.0` and `"1"` are different keys.
    fn insert(&mut self, mapping: &mut Self::Mapping, key: Self::Value, value: Self::Value);
    /// Finishes a mapping that started at `mark`.
    fn finish_mapping(&mut self, mapping: Self::Mapping, mark: Mark) -> Self::Value;

    /// The entries of a mapping in order, for a merge key (`<<`); `None` if the value is not a mapping.
    fn entries(&self, value: &Self::Value) -> Option<Vec<(Self::Value, Self::Value)>>;
    /// The entries so far of a mapping under construction, in order.
    ///
    /// A merge key can refer to a mapping that contains it (`a: &a {b: 1, c: {<<: *a}}`). Ruby then merges the entries
    /// before it.
    fn open_entries(&self, mapping: &Self::Mapping) -> Vec<(Self::Value, Self::Value)>;
}
