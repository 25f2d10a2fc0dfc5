//! Fields that are set more than once, and adjacent values.

use std::rc::Rc;

use super::node::{Fields, Kind, Node};
use super::{Failure, HoconProblem, fail};

/// Puts a newer value over an older one.
pub(super) fn with_fallback(newer: &Rc<Node>, older: &Rc<Node>) -> Result<Rc<Node>, Failure> {
    if newer.ignores_fallbacks() {
        return Ok(newer.clone());
    }
    match (&newer.kind, &older.kind) {
        (_, Kind::Merge { stack, .. }) => Ok(stacked(newer, stack)),
        (
            Kind::Object { fields, .. },
            Kind::Object {
                fields: older_fields,
                ignores_fallbacks,
                ..
            },
        ) => merge_objects(newer, fields, older_fields, *ignores_fallbacks),
        // A value that is not an object hides everything below it, also from an object above it.
        (
            Kind::Object {
                fields,
                resolved: true,
                ..
            },
            _,
        ) if !older.is_unmergeable() => Ok(Node::object(newer.at, fields.clone(), true)),
        _ => Ok(stacked(newer, std::slice::from_ref(older))),
    }
}

/// A merge that has to wait for references.
fn stacked(newer: &Rc<Node>, older: &[Rc<Node>]) -> Rc<Node> {
    let mut stack = match &newer.kind {
        Kind::Merge { stack, .. } => stack.clone(),
        _ => vec![newer.clone()],
    };
    stack.extend_from_slice(older);
    Node::new(
        newer.at,
        Kind::Merge {
            stack,
            is_object: newer.is_object(),
        },
    )
}

/// Merges two objects: keys of the newer one first.
fn merge_objects(
    newer: &Rc<Node>,
    newer_fields: &Fields,
    older_fields: &Fields,
    ignores_fallbacks: bool,
) -> Result<Rc<Node>, Failure> {
    let mut merged = newer_fields.clone();
    let mut is_changed = false;
    for (key, older_value) in older_fields {
        let kept = match newer_fields.get(key) {
            None => older_value.clone(),
            Some(newer_value) => {
                let kept = with_fallback(newer_value, older_value)?;
                is_changed |= !is_equal(newer_value, &kept)?;
                merged.insert(key.clone(), kept);
                continue;
            }
        };
        is_changed = true;
        merged.insert(key.clone(), kept);
    }
    if !is_changed && ignores_fallbacks == newer.ignores_fallbacks() {
        return Ok(newer.clone());
    }
    let fields = if is_changed {
        merged
    } else {
        newer_fields.clone()
    };
    Ok(Node::object(newer.at, fields, ignores_fallbacks))
}

/// Ruby's `==`. It fails if it would have to look into a merge that is not resolved.
fn is_equal(left: &Rc<Node>, right: &Rc<Node>) -> Result<bool, Failure> {
    if Rc::ptr_eq(left, right) {
        return Ok(true);
    }
    match (&left.kind, &right.kind) {
        (Kind::Object { .. }, Kind::Merge { is_object, .. }) if *is_object => {
            fail(left.at, HoconProblem::Unresolvable)
        }
        (Kind::Object { fields, .. }, Kind::Object { fields: others, .. }) => {
            if fields.len() != others.len() || !fields.keys().all(|key| others.contains_key(key)) {
                return Ok(false);
            }
            for (key, value) in fields {
                if let Some(other) = others.get(key)
                    && !is_equal(value, other)?
                {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Kind::List { items, .. }, Kind::List { items: others, .. })
        | (Kind::Concatenation(items), Kind::Concatenation(others)) => are_equal(items, others),
        (
            Kind::Merge { stack, is_object },
            Kind::Merge {
                stack: others,
                is_object: other,
            },
        ) => Ok(is_object == other && are_equal(stack, others)?),
        (
            Kind::Reference { path, optional },
            Kind::Reference {
                path: other_path,
                optional: other,
            },
        ) => Ok(path == other_path && optional == other),
        (Kind::Number { value, .. }, Kind::Number { value: other, .. }) => Ok(value == other),
        (Kind::Text { text, .. }, Kind::Text { text: other, .. }) => Ok(text == other),
        (Kind::Bool(value), Kind::Bool(other)) => Ok(value == other),
        (Kind::Null, Kind::Null) => Ok(true),
        (
            Kind::Null | Kind::Bool(_) | Kind::Text { .. },
            Kind::Reference { .. } | Kind::Concatenation(_) | Kind::Merge { .. },
        ) => fail(left.at, HoconProblem::Unresolvable),
        _ => Ok(false),
    }
}

fn are_equal(left: &[Rc<Node>], right: &[Rc<Node>]) -> Result<bool, Failure> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (left, right) in left.iter().zip(right) {
        if !is_equal(left, right)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Joins adjacent values as far as that is possible before references are resolved.
pub(super) fn join(pieces: Vec<Rc<Node>>) -> Result<Vec<Rc<Node>>, Failure> {
    let mut joined: Vec<Rc<Node>> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if let Kind::Concatenation(inner) = &piece.kind {
            for piece in inner {
                push_joined(&mut joined, piece.clone())?;
            }
        } else {
            push_joined(&mut joined, piece)?;
        }
    }
    Ok(joined)
}

/// Joins adjacent values into one.
pub(super) fn concatenate(at: usize, pieces: Vec<Rc<Node>>) -> Result<Rc<Node>, Failure> {
    let mut joined = join(pieces)?;
    match (joined.pop(), joined.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            joined.extend(last);
            Ok(Node::new(at, Kind::Concatenation(joined)))
        }
    }
}

fn push_joined(joined: &mut Vec<Rc<Node>>, right: Rc<Node>) -> Result<(), Failure> {
    let Some(left) = joined.last_mut() else {
        joined.push(right);
        return Ok(());
    };
    let is_collection = |node: &Node| matches!(node.kind, Kind::Object { .. } | Kind::List { .. });
    let both = match (&left.kind, &right.kind) {
        (Kind::Object { .. }, Kind::Object { .. }) => with_fallback(&right, left)?,
        (Kind::List { items, .. }, Kind::List { items: others, .. }) => {
            Node::list(left.at, items.iter().chain(others).cloned().collect())
        }
        // Meant for white space, but any unquoted text behind a collection is dropped.
        (_, Kind::Text { quoted: false, .. }) if is_collection(left) => return Ok(()),
        _ if left.is_unmergeable() || right.is_unmergeable() => {
            joined.push(right);
            return Ok(());
        }
        _ => match (left.as_text(), right.as_text()) {
            (Some(start), Some(end)) => Node::new(
                left.at,
                Kind::Text {
                    text: [start, end].concat().into(),
                    quoted: true,
                },
            ),
            (Some(_), None) | (None, Some(_)) => {
                return fail(right.at, HoconProblem::Join("text"));
            }
            (None, None) => {
                return fail(right.at, HoconProblem::Join("one of the other kind"));
            }
        },
    };
    *left = both;
    Ok(())
}
