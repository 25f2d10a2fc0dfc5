//! [`Node`] → a pattern of the regex crate, which matches in linear time, for those it can express.

use std::fmt::Write;

use super::ast::{Assertion, Node};

/// The pattern in the syntax of the regex crate; nothing where it takes backtracking.
///
/// Only whether a text matches is the same, not what part of it.
pub(super) fn translate(node: &Node) -> Option<String> {
    let mut out = String::new();
    write_node(node, &mut out)?;
    Some(out)
}

/// Does `^` occur? In the regex crate it also matches after a line break at the very end.
pub(super) fn has_line_start(node: &Node) -> bool {
    matches!(node, Node::Assertion(Assertion::LineStart))
        || node.children().into_iter().any(has_line_start)
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
            Assertion::TextEnd => r"\z",
            _ => return None,
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
