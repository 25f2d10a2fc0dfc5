//! [`Node`] to a pattern of the regex crate, which matches in linear time.

use std::fmt::Write;

use super::ast::{Assertion, Node};

/// The pattern in the syntax of the regex crate; `None` if it needs backtracking.
///
/// It matches the same strings, but not necessarily the same part of them.
pub(super) fn translate(node: &Node) -> Option<String> {
    let mut out = String::new();
    write_node(node, &mut out)?;
    Some(out)
}

/// The ranges of characters in a pattern, those that are repeated as often as they have to be written out.
pub(super) fn ranges(node: &Node) -> u64 {
    let own = match node {
        Node::Set(set) => set.ranges().len() as u64,
        _ => 1,
    };
    let inner = node.children().into_iter().map(ranges);
    let all = inner.fold(own, u64::saturating_add);
    match node {
        Node::Repeat(repeat) => {
            let times = repeat.max.unwrap_or(repeat.min).max(1);
            all.saturating_mul(u64::from(times))
        }
        _ => all,
    }
}

/// The input for which a translation is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Validity {
    /// Not for strings that end with a line break: in Ruby, `^` does not match after it, and `\Z` matches before it.
    pub(super) excludes_final_newline: bool,
    /// Only for ASCII, since other word characters differ.
    pub(super) is_for_ascii: bool,
}

impl Validity {
    pub(super) fn of(node: &Node) -> Self {
        let own = match node {
            Node::Assertion(Assertion::LineStart | Assertion::LastLineEnd) => Validity {
                excludes_final_newline: true,
                is_for_ascii: false,
            },
            Node::Assertion(Assertion::WordBoundary {
                is_ascii: false, ..
            }) => Validity {
                excludes_final_newline: false,
                is_for_ascii: true,
            },
            _ => Validity::default(),
        };
        node.children()
            .into_iter()
            .map(Validity::of)
            .fold(own, Validity::and)
    }

    pub(super) fn and(self, other: Validity) -> Self {
        Validity {
            excludes_final_newline: self.excludes_final_newline || other.excludes_final_newline,
            is_for_ascii: self.is_for_ascii || other.is_for_ascii,
        }
    }

    pub(super) fn holds_for(self, text: &str) -> bool {
        !(self.excludes_final_newline && text.ends_with('\n')
            || self.is_for_ascii && !text.is_ascii())
    }
}

fn write_node(node: &Node, out: &mut String) -> Option<()> {
    match node {
        Node::Empty => out.push_str("(?:)"),
        Node::Set(set) => {
            let mut ranges = set.ranges().iter();
            match (ranges.next(), ranges.next()) {
                (Some(only), None) if only.start() == only.end() => {
                    write_character(only.start(), out)
                }
                (None, _) => out.push_str(r"[^\x{0}-\x{10FFFF}]"),
                _ => {
                    out.push('[');
                    for range in set.ranges() {
                        write_character(range.start(), out);
                        if range.start() != range.end() {
                            out.push('-');
                            write_character(range.end(), out);
                        }
                    }
                    out.push(']');
                }
            }
        }
        Node::Assertion(assertion) => out.push_str(match assertion {
            Assertion::LineStart => "(?m:^)",
            Assertion::LineEnd => "(?m:$)",
            Assertion::TextStart => r"\A",
            Assertion::TextEnd | Assertion::LastLineEnd => r"\z",
            Assertion::WordBoundary {
                is_negated: false, ..
            } => r"(?-u:\b)",
            // The regex crate supports it for bytes only.
            Assertion::WordBoundary {
                is_negated: true, ..
            } => return None,
        }),
        Node::Concat(nodes) => {
            for node in nodes {
                write_node(node, out)?;
            }
        }
        Node::Alternate(branches) => {
            for (index, branch) in branches.iter().enumerate() {
                out.push_str(if index == 0 { "(?:" } else { "|" });
                write_node(branch, out)?;
            }
            out.push(')');
        }
        Node::Repeat(repeat) => {
            out.push_str("(?:");
            write_node(&repeat.node, out)?;
            write!(out, "){{{},", repeat.min).ok()?;
            match repeat.max {
                Some(max) => write!(out, "{max}}}").ok()?,
                None => out.push('}'),
            }
        }
        Node::Group(_, inner) | Node::Options(inner) => {
            out.push_str("(?:");
            write_node(inner, out)?;
            out.push(')');
        }
        Node::Atomic(_)
        | Node::Look(..)
        | Node::Backreference(_)
        | Node::Call(_)
        | Node::Condition(..)
        | Node::Absent(_) => return None,
    }
    Some(())
}

fn write_character(character: char, out: &mut String) {
    if character.is_ascii_alphanumeric() {
        out.push(character);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(character)));
    }
}
