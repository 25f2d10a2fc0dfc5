//! A regular expression as a tree, independent of the syntax.

use regex_syntax::hir::ClassUnicode;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Matches the empty string.
    Empty,
    /// One character of a set. With `i`, the set contains all cases.
    Set(ClassUnicode),
    /// A condition on the position.
    Assertion(Assertion),
    /// A sequence.
    Concat(Vec<Node>),
    /// Alternatives, in order of preference.
    Alternate(Vec<Node>),
    /// A repetition.
    Repeat(Box<Repeat>),
    /// A capture group with its number.
    Group(usize, Box<Node>),
    /// A part with its own options. They are already applied, but the rules for look-behinds distinguish it.
    Options(Box<Node>),
    /// `(?>...)`: no backtracking into it once it has matched.
    Atomic(Box<Node>),
    /// Look-ahead and look-behind.
    Look(Look, Box<Node>),
    /// The string that a group matched. If there are several groups, the last that is set.
    Backreference(Backreference),
    /// `\g<n>`: the pattern of a group, or the whole pattern for 0.
    Call(usize),
    /// `(?(1)...|...)`.
    Condition(usize, Box<Node>, Box<Node>),
    /// `(?~...)`: any string that does not contain a match of the part.
    Absent(Box<Node>),
}

/// A condition on the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    /// `^`: at the start, or after a line break that is not the last character.
    LineStart,
    /// `$`: at the end, or before a line break.
    LineEnd,
    /// `\A`, and also `\G`, since a search always starts at the beginning.
    TextStart,
    /// `\z`.
    TextEnd,
    /// `\Z`: at the end, or before a line break at the end.
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

/// The direction of a look-around, and whether the part must not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) is_behind: bool,
    pub(super) is_negated: bool,
}

/// A reference to the match of a group.
#[derive(Clone, Debug)]
pub(super) struct Backreference {
    /// Several if the groups have the same name.
    pub(super) groups: Vec<usize>,
    pub(super) ignores_case: bool,
}

impl Node {
    /// The direct parts.
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

    /// The direct parts, mutable.
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
