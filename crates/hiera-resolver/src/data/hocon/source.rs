//! Where references are looked up: a root, and the path from it to the node that is being resolved.
//!
//! A reference inside a merge stack must see only what is below it. So it gets another root in which the stack is cut; the
//! parents say what to rebuild.

use std::rc::Rc;

use super::node::{Fields, Kind, Node};
use super::token::Text;
use super::{Failure, HoconProblem, fail};

/// The containers around a node, innermost first.
pub(super) struct Parents {
    pub(super) node: Rc<Node>,
    outer: Option<Rc<Parents>>,
}

impl Parents {
    pub(super) fn new(node: Rc<Node>, outer: Option<Rc<Parents>>) -> Rc<Parents> {
        Rc::new(Parents { node, outer })
    }

    pub(super) fn root(&self) -> &Rc<Node> {
        let mut outermost = self;
        while let Some(outer) = &outermost.outer {
            outermost = outer;
        }
        &outermost.node
    }
}

#[derive(Clone)]
pub(super) struct Source {
    pub(super) root: Rc<Node>,
    /// `None` if the node is not known to be part of the root.
    pub(super) parents: Option<Rc<Parents>>,
}

impl Source {
    pub(super) fn new(root: Rc<Node>) -> Source {
        Source {
            root,
            parents: None,
        }
    }

    /// The source for what is inside `parent`.
    pub(super) fn inside(&self, parent: &Rc<Node>) -> Source {
        let parents = match &self.parents {
            Some(parents) => Some(Parents::new(parent.clone(), Some(parents.clone()))),
            None if Rc::ptr_eq(parent, &self.root) => Some(Parents::new(parent.clone(), None)),
            None => None,
        };
        Source {
            root: self.root.clone(),
            parents,
        }
    }

    /// The source in which `old`, a child of the innermost parent, is replaced or, with `None`, removed.
    pub(super) fn replacing(
        &self,
        old: &Rc<Node>,
        replacement: Option<&Rc<Node>>,
        work: &mut usize,
    ) -> Result<Source, Failure> {
        let Some(parents) = &self.parents else {
            return fail(old.at, HoconProblem::Unresolvable);
        };
        // A failure is reported for the merge that is to be replaced, whatever its cause.
        let at = old.at;
        let mut old = old;
        let mut replacement = replacement.cloned();
        let mut next = Some(parents);
        while let Some(parents) = next {
            replacement = Some(replace_child(&parents.node, old, replacement, work).ok_or(
                Failure {
                    at,
                    problem: HoconProblem::Unresolvable,
                },
            )?);
            old = &parents.node;
            next = parents.outer.as_ref();
        }
        match replacement {
            Some(root) => Ok(Source::new(root)),
            None => fail(at, HoconProblem::Unresolvable),
        }
    }
}

/// The value at a path, and the objects that contain it.
pub(super) fn find(
    root: Rc<Node>,
    path: &[Text],
) -> Result<(Option<Rc<Node>>, Rc<Parents>), Failure> {
    let mut parents = Parents::new(root, None);
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let value = peek(&parents.node, first)?;
        match value {
            Some(object) if !rest.is_empty() && object.is_object() => {
                parents = Parents::new(object, Some(parents));
            }
            value if rest.is_empty() => return Ok((value, parents)),
            _ => break,
        }
    }
    Ok((None, parents))
}

/// The value of a key in an unresolved object, if resolving cannot change it.
fn peek(node: &Node, key: &Text) -> Result<Option<Rc<Node>>, Failure> {
    match &node.kind {
        Kind::Object { fields, .. } => Ok(fields.get(key).cloned()),
        Kind::Merge { stack, .. } => {
            for layer in stack {
                if !layer.is_object() {
                    break;
                }
                if let Some(value) = peek(layer, key)?
                    && value.ignores_fallbacks()
                {
                    return Ok(Some(value));
                }
            }
            fail(node.at, HoconProblem::Unresolvable)
        }
        _ => fail(node.at, HoconProblem::Unresolvable),
    }
}

/// The same container with another child, if that is possible.
fn replace_child(
    parent: &Rc<Node>,
    old: &Rc<Node>,
    replacement: Option<Rc<Node>>,
    work: &mut usize,
) -> Option<Rc<Node>> {
    match &parent.kind {
        Kind::Object {
            fields,
            ignores_fallbacks,
            ..
        } => {
            *work += fields.len();
            let is_old = |value: &Rc<Node>| Rc::ptr_eq(value, old);
            let index = fields.values().position(is_old)?;
            let mut fields: Fields = fields.clone();
            match replacement {
                Some(replacement) => {
                    if let Some((_, value)) = fields.get_index_mut(index) {
                        *value = replacement;
                    }
                }
                None => {
                    fields.shift_remove_index(index);
                }
            }
            Some(Node::object(parent.at, fields, *ignores_fallbacks))
        }
        Kind::Merge {
            stack,
            is_object: true,
        } => {
            *work += stack.len();
            let mut stack = stack.clone();
            let slot = stack.iter_mut().find(|value| Rc::ptr_eq(value, old))?;
            if let Some(replacement) = replacement {
                *slot = replacement;
            }
            Some(Node::new(
                parent.at,
                Kind::Merge {
                    stack,
                    is_object: true,
                },
            ))
        }
        // Ruby calls a method here that these do not have.
        _ => None,
    }
}
