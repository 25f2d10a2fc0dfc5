//! A regular expression as a tree, after Ruby's syntax has been dealt with.

use regex_syntax::hir::ClassUnicode;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Matches nothing, anywhere.
    Empty,
    /// One character out of a set. Its case is already part of the set.
    Set(ClassUnicode),
    /// A place in the text.
    Assertion(Assertion),
    /// One after the other.
    Concat(Vec<Node>),
    /// One or the other, the first preferred.
    Alternate(Vec<Node>),
    /// Several times.
    Repeat(Box<Repeat>),
    /// A capture group by its number.
    Group(usize, Box<Node>),
    /// Options for a part of the pattern. They are gone by now, but a look-behind minds the place.
    Options(Box<Node>),
    /// `(?>...)`: once matched, never tried in another way.
    Atomic(Box<Node>),
    /// Look-ahead and look-behind.
    Look(Look, Box<Node>),
    /// What one of the groups matched, the last that is set.
    Backreference(Backreference),
    /// `\g<n>`: the pattern of another group, 0 for the whole.
    Call(usize),
    /// `(?(1)...|...)`.
    Condition(usize, Box<Node>, Box<Node>),
    /// `(?~...)`: any text in which the part does not match.
    Absent(Box<Node>),
}

/// A place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    /// `^`: after a line break that is not the last character, or at the start of the text.
    LineStart,
    /// `$`: before a line break, or at the end.
    LineEnd,
    /// `\A`, and `\G` too, since a search always starts at the front.
    TextStart,
    /// `\z`.
    TextEnd,
    /// `\Z`: at the end, or before a line break there.
    LastLineEnd,
    /// `\b` or `\B`.
    WordBoundary { is_negated: bool, is_ascii: bool },
}

/// A repeated part.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub(super) node: Node,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) is_greedy: bool,
}

/// The direction of a look, and whether the part must not match there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) is_behind: bool,
    pub(super) is_negated: bool,
}

/// A reference to what a group matched.
#[derive(Clone, Debug)]
pub(super) struct Backreference {
    /// Several when the name is given to more than one group.
    pub(super) groups: Vec<usize>,
    pub(super) ignores_case: bool,
}

impl Node {
    /// The parts directly below.
    pub(super) fn children(&self) -> Vec<&Node> {
        match self {
            Node::Empty
            | Node::Set(_)
            | Node::Assertion(_)
            | Node::Backreference(_)
            | Node::Call(_) => Vec::new(),
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().collect(),
            Node::Repeat(repeat) => vec![&repeat.node],
            Node::Group(_, node)
            | Node::Options(node)
            | Node::Atomic(node)
            | Node::Look(_, node)
            | Node::Absent(node) => vec![node],
            Node::Condition(_, yes, no) => vec![yes, no],
        }
    }

    /// The parts directly below, to be changed.
    pub(super) fn children_mut(&mut self) -> Vec<&mut Node> {
        match self {
            Node::Empty
            | Node::Set(_)
            | Node::Assertion(_)
            | Node::Backreference(_)
            | Node::Call(_) => Vec::new(),
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter_mut().collect(),
            Node::Repeat(repeat) => vec![&mut repeat.node],
            Node::Group(_, node)
            | Node::Options(node)
            | Node::Atomic(node)
            | Node::Look(_, node)
            | Node::Absent(node) => vec![node],
            Node::Condition(_, yes, no) => vec![yes, no],
        }
    }
}
