//! Ruby's checks of a whole pattern: look-behinds must have a fixed length, recursion must end.

use super::RegexProblem;
use super::ast::{Assertion, Node};

const LOOK_BEHIND: RegexProblem = RegexProblem::Refused("invalid pattern in look-behind");
const ENDLESS: RegexProblem = RegexProblem::Refused("never ending recursion");

/// The groups of a pattern by number; 0 is the whole pattern.
pub(super) struct Groups<'a>(Vec<&'a Node>);

impl<'a> Groups<'a> {
    pub(super) fn new(root: &'a Node, count: usize) -> Self {
        let mut groups = vec![root; count + 1];
        collect(root, &mut groups);
        Groups(groups)
    }

    /// The content of a group.
    pub(super) fn body(&self, number: usize) -> Option<&'a Node> {
        self.0.get(number).copied()
    }
}

fn collect<'a>(node: &'a Node, groups: &mut Vec<&'a Node>) {
    if let Node::Group(number, body) = node
        && let Some(slot) = groups.get_mut(*number)
    {
        *slot = body;
    }
    for child in node.children() {
        collect(child, groups);
    }
}

/// Checks a whole pattern.
pub(super) fn check(root: &Node, groups: &Groups<'_>) -> Result<(), RegexProblem> {
    check_recursion(groups)?;
    check_look_behinds(root, groups)
}

fn check_look_behinds(node: &Node, groups: &Groups<'_>) -> Result<(), RegexProblem> {
    if let Node::Look(look, inner) = node
        && look.is_behind
    {
        check_allowed(inner, look.is_negated)?;
        match inner.as_ref() {
            Node::Alternate(branches) => {
                for branch in branches {
                    length(branch, groups, 0).ok_or(LOOK_BEHIND)?;
                }
            }
            other => {
                length(other, groups, 0).ok_or(LOOK_BEHIND)?;
            }
        }
    }
    let mut children = node.children().into_iter();
    children.try_for_each(|child| check_look_behinds(child, groups))
}

/// Refuses parts that are not allowed in a look-behind.
fn check_allowed(node: &Node, is_negated: bool) -> Result<(), RegexProblem> {
    let is_allowed = match node {
        Node::Group(..) => !is_negated,
        Node::Assertion(Assertion::TextEnd | Assertion::LastLineEnd)
        | Node::Backreference(_)
        | Node::Atomic(_)
        | Node::Condition(..)
        | Node::Absent(_) => false,
        Node::Look(look, _) => look.is_behind,
        _ => true,
    };
    if !is_allowed {
        return Err(LOOK_BEHIND);
    }
    let mut children = node.children().into_iter();
    children.try_for_each(|child| check_allowed(child, is_negated))
}

/// The number of characters that a part matches, if it is fixed.
pub(super) fn length(node: &Node, groups: &Groups<'_>, calls: usize) -> Option<usize> {
    match node {
        Node::Empty | Node::Assertion(_) | Node::Look(..) => Some(0),
        Node::Set(_) => Some(1),
        Node::Concat(nodes) => nodes.iter().try_fold(0usize, |sum, node| {
            sum.checked_add(length(node, groups, calls)?)
        }),
        Node::Alternate(branches) => {
            let mut lengths = branches.iter().map(|branch| length(branch, groups, calls));
            let first = lengths.next()??;
            lengths.all(|length| length == Some(first)).then_some(first)
        }
        Node::Repeat(repeat) if repeat.max == Some(repeat.min) => {
            length(&repeat.node, groups, calls)?.checked_mul(repeat.min as usize)
        }
        Node::Group(_, inner) | Node::Options(inner) | Node::Atomic(inner) => {
            length(inner, groups, calls)
        }
        Node::Call(group) => {
            // More nested calls than groups are a recursion.
            let body = groups.body(*group).filter(|_| calls <= groups.0.len())?;
            if calls_group(body, *group) {
                return None;
            }
            length(body, groups, calls + 1)
        }
        _ => None,
    }
}

fn calls_group(node: &Node, group: usize) -> bool {
    matches!(node, Node::Call(called) if *called == group)
        || node
            .children()
            .into_iter()
            .any(|child| calls_group(child, group))
}

/// Can a part match the empty string?
pub(super) fn can_be_empty(node: &Node, groups: &Groups<'_>, calls: usize) -> bool {
    let below = |node: &Node| can_be_empty(node, groups, calls);
    match node {
        Node::Set(_) => false,
        Node::Concat(nodes) => nodes.iter().all(below),
        Node::Alternate(branches) => branches.iter().any(below),
        Node::Repeat(repeat) => repeat.min == 0 || below(&repeat.node),
        Node::Group(_, inner) | Node::Options(inner) | Node::Atomic(inner) => below(inner),
        Node::Condition(_, yes, no) => below(yes) || below(no),
        Node::Backreference(reference) => reference.groups.iter().any(|group| {
            let body = groups.body(*group).filter(|_| calls <= groups.0.len());
            body.is_none_or(|body| can_be_empty(body, groups, calls + 1))
        }),
        Node::Call(group) => match groups.body(*group) {
            Some(body) if calls <= groups.0.len() => can_be_empty(body, groups, calls + 1),
            _ => true,
        },
        _ => true,
    }
}

fn check_recursion(groups: &Groups<'_>) -> Result<(), RegexProblem> {
    for number in 0..groups.0.len() {
        let mut search = RecursionSearch {
            groups,
            wanted: number,
            visited: vec![false; groups.0.len()],
            steps: 0,
        };
        let Some(body) = groups.body(number) else {
            continue;
        };
        if search.visit(body, true)? != Recursion::No {
            return Err(ENDLESS);
        }
    }
    Ok(())
}

/// Does a group call itself?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recursion {
    No,
    /// In every alternative.
    Always,
    /// Before it has matched a character.
    Immediate,
}

struct RecursionSearch<'a> {
    groups: &'a Groups<'a>,
    wanted: usize,
    /// The groups that are being visited.
    visited: Vec<bool>,
    steps: usize,
}

impl RecursionSearch<'_> {
    /// `is_head`: no character has been matched since the start of the wanted group.
    fn visit(&mut self, node: &Node, mut is_head: bool) -> Result<Recursion, RegexProblem> {
        self.steps += 1;
        if self.steps > 100_000 {
            return Err(RegexProblem::TooLarge);
        }
        match node {
            Node::Concat(nodes) => {
                let mut recursion = Recursion::No;
                for node in nodes {
                    match self.visit(node, is_head)? {
                        Recursion::Immediate => return Ok(Recursion::Immediate),
                        Recursion::Always => recursion = Recursion::Always,
                        Recursion::No => {}
                    }
                    is_head &= can_be_empty(node, self.groups, 0);
                }
                Ok(recursion)
            }
            Node::Alternate(_) | Node::Condition(..) => {
                let mut recursion = Recursion::Always;
                for branch in node.children() {
                    match self.visit(branch, is_head)? {
                        Recursion::Immediate => return Ok(Recursion::Immediate),
                        Recursion::Always => {}
                        Recursion::No => recursion = Recursion::No,
                    }
                }
                Ok(recursion)
            }
            Node::Repeat(repeat) => {
                let recursion = self.visit(&repeat.node, is_head)?;
                let is_avoidable = repeat.min == 0 && recursion == Recursion::Always;
                Ok(if is_avoidable {
                    Recursion::No
                } else {
                    recursion
                })
            }
            Node::Call(group) => self.enter(*group, is_head),
            Node::Group(group, _) => self.enter(*group, is_head),
            other => {
                let mut recursion = Recursion::No;
                for child in other.children() {
                    match self.visit(child, is_head)? {
                        Recursion::Immediate => return Ok(Recursion::Immediate),
                        Recursion::Always => recursion = Recursion::Always,
                        Recursion::No => {}
                    }
                }
                Ok(recursion)
            }
        }
    }

    fn enter(&mut self, group: usize, is_head: bool) -> Result<Recursion, RegexProblem> {
        if group == self.wanted {
            return Ok(if is_head {
                Recursion::Immediate
            } else {
                Recursion::Always
            });
        }
        let (Some(body), Some(visited)) = (self.groups.body(group), self.visited.get_mut(group))
        else {
            return Ok(Recursion::No);
        };
        if std::mem::replace(visited, true) {
            return Ok(Recursion::No);
        }
        let recursion = self.visit(body, is_head)?;
        if let Some(visited) = self.visited.get_mut(group) {
            *visited = false;
        }
        Ok(recursion)
    }
}
