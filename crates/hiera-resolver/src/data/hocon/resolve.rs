//! Substitutions: a tree with references → one without.
//!
//! The steps are those of the library, one by one, since what it can and cannot resolve follows from them.
//! It keeps no results, so that substitutions that multiply take exponential time; here they run into a limit.

use std::rc::Rc;

use super::merge::{join, with_fallback};
use super::node::{Fields, Kind, Node};
use super::path;
use super::source::{Source, find};
use super::token::Text;
use super::{Failure, HoconProblem, fail};

/// How many references and containers may be nested around one value.
const MAX_NESTING: usize = 400;

/// Copied fields, and what a step counts among them. Ruby needs minutes for a thousandth of it.
const MAX_WORK: usize = 20_000_000;
const STEP: usize = 10;

/// Resolves all references in a document.
pub(super) fn resolve(root: &Rc<Node>) -> Result<Rc<Node>, Failure> {
    let mut resolver = Resolver {
        active: Vec::new(),
        nesting: 0,
        work: 0,
    };
    match resolver.resolve(root, &Source::new(root.clone()), None) {
        Ok(Some(resolved)) => Ok(resolved),
        Err(Stop::Failed(failure)) => Err(failure),
        Ok(None) | Err(Stop::Cycle) => fail(root.at, HoconProblem::Unresolvable),
    }
}

/// Why a node has no value.
enum Stop {
    /// It is being resolved already. The reference that led here turns this into its own failure.
    Cycle,
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure)
    }
}

/// `None` is an optional reference without a value.
type Resolved = Result<Option<Rc<Node>>, Stop>;

struct Resolver {
    /// The references that led to the current node.
    active: Vec<Rc<Node>>,
    nesting: usize,
    work: usize,
}

impl Resolver {
    /// Resolves a node. With `only`, just what has to be resolved to reach that path in it.
    fn resolve(&mut self, node: &Rc<Node>, source: &Source, only: Option<&[Text]>) -> Resolved {
        if node.is_resolved() {
            return Ok(Some(node.clone()));
        }
        if self.active.iter().any(|active| Rc::ptr_eq(active, node)) {
            return Err(self.cycle(node));
        }
        self.work += STEP;
        if self.work > MAX_WORK {
            return Err(failed(node, HoconProblem::TooMuchWork));
        }
        if self.nesting >= MAX_NESTING {
            return Err(failed(node, HoconProblem::TooManyLinks));
        }
        self.nesting += 1;
        let resolved = match &node.kind {
            Kind::Object { .. } => self.object(node, source, only),
            Kind::List { items, .. } => match only {
                Some(_) => Ok(Some(node.clone())),
                None => self.list(node, items, source),
            },
            Kind::Reference { path, optional } => {
                self.reference(node, path, *optional, source, only)
            }
            Kind::Concatenation(pieces) => self.concatenation(node, pieces, source),
            Kind::Merge { stack, is_object } => {
                let merged = self.merge(node, stack, source, only);
                match merged {
                    Ok(value) if *is_object && !value.as_ref().is_some_and(|v| v.is_object()) => {
                        Err(failed(node, HoconProblem::Unresolvable))
                    }
                    other => other,
                }
            }
            _ => Ok(Some(node.clone())),
        };
        self.nesting -= 1;
        match resolved {
            Ok(Some(value)) if only.is_none() && !value.is_resolved() => {
                Err(failed(node, HoconProblem::Unresolvable))
            }
            other => other,
        }
    }

    /// Ruby renders the paths of a cycle, even of one that is then ignored, and fails on some characters.
    fn cycle(&self, node: &Rc<Node>) -> Stop {
        let is_writable = |active: &Rc<Node>| match &active.kind {
            Kind::Reference { path, .. } => path.iter().all(path::is_writable),
            _ => true,
        };
        if self.active.iter().all(is_writable) {
            Stop::Cycle
        } else {
            failed(node, HoconProblem::Unresolvable)
        }
    }

    fn object(&mut self, node: &Rc<Node>, source: &Source, only: Option<&[Text]>) -> Resolved {
        let Kind::Object {
            fields,
            ignores_fallbacks,
            ..
        } = &node.kind
        else {
            return Ok(Some(node.clone()));
        };
        let source = source.inside(node);
        let changed = match only {
            // The last part of the path is left as it is.
            Some([_] | []) => return Ok(Some(node.clone())),
            Some([first, rest @ ..]) => {
                let Some(value) = fields.get(first) else {
                    return Ok(Some(node.clone()));
                };
                match self.resolve(value, &source, Some(rest))? {
                    Some(resolved) if Rc::ptr_eq(&resolved, value) => {
                        return Ok(Some(node.clone()));
                    }
                    changed => {
                        self.work += fields.len();
                        let mut fields = fields.clone();
                        match changed {
                            Some(resolved) => {
                                fields.insert(first.clone(), resolved);
                            }
                            None => {
                                fields.shift_remove(first);
                            }
                        }
                        fields
                    }
                }
            }
            None => {
                self.work += fields.len();
                let mut changed = Fields::default();
                for (key, value) in fields {
                    if let Some(resolved) = self.resolve(value, &source, None)? {
                        changed.insert(key.clone(), resolved);
                    }
                }
                changed
            }
        };
        Ok(Some(Node::object(node.at, changed, *ignores_fallbacks)))
    }

    fn list(&mut self, node: &Rc<Node>, items: &[Rc<Node>], source: &Source) -> Resolved {
        let source = source.inside(node);
        self.work += items.len();
        let mut resolved = Vec::with_capacity(items.len());
        for item in items {
            resolved.extend(self.resolve(item, &source, None)?);
        }
        Ok(Some(Node::list(node.at, resolved)))
    }

    fn reference(
        &mut self,
        node: &Rc<Node>,
        path: &[Text],
        optional: bool,
        source: &Source,
        only: Option<&[Text]>,
    ) -> Resolved {
        self.active.push(node.clone());
        let resolved = self.look_up(node, path, source, only);
        self.active.pop();
        match resolved {
            Ok(None) | Err(Stop::Cycle) if optional => Ok(None),
            Ok(None) => Err(failed(node, HoconProblem::Undefined(path::render(path)))),
            Err(Stop::Cycle) => Err(failed(node, HoconProblem::Cycle(path::render(path)))),
            other => other,
        }
    }

    fn look_up(
        &mut self,
        node: &Rc<Node>,
        path: &[Text],
        source: &Source,
        only: Option<&[Text]>,
    ) -> Resolved {
        let root = self.resolve(&source.root, &Source::new(source.root.clone()), Some(path))?;
        let Some(root) = root.filter(|root| root.is_object()) else {
            return Err(failed(node, HoconProblem::Unresolvable));
        };
        let (value, parents) = find(root, path)?;
        let Some(value) = value else {
            return Ok(None);
        };
        let source = Source {
            root: parents.root().clone(),
            parents: Some(parents),
        };
        self.resolve(&value, &source, only)
    }

    fn concatenation(&mut self, node: &Rc<Node>, pieces: &[Rc<Node>], source: &Source) -> Resolved {
        let mut resolved = Vec::with_capacity(pieces.len());
        for piece in pieces {
            resolved.extend(self.resolve(piece, source, None)?);
        }
        self.work += resolved.iter().map(|piece| size(piece)).sum::<usize>();
        let mut joined = join(resolved)?;
        let value = joined.pop();
        if joined.is_empty() {
            Ok(value)
        } else {
            Err(failed(node, HoconProblem::Unresolvable))
        }
    }

    fn merge(
        &mut self,
        node: &Rc<Node>,
        stack: &[Rc<Node>],
        source: &Source,
        only: Option<&[Text]>,
    ) -> Resolved {
        let mut merged: Option<Rc<Node>> = None;
        let mut below = stack;
        while let Some((layer, rest)) = below.split_first() {
            below = rest;
            let layer_source = match &layer.kind {
                Kind::Merge { .. } => return Err(failed(node, HoconProblem::Unresolvable)),
                // What it refers to must not be itself, only what is below it.
                Kind::Reference { .. } | Kind::Concatenation(_) => {
                    self.work += rest.len() * rest.len();
                    let remainder = remainder(rest)?;
                    source.replacing(node, remainder.as_ref(), &mut self.work)?
                }
                _ => source.inside(node),
            };
            if let Some(resolved) = self.resolve(layer, &layer_source, only)? {
                merged = Some(match merged {
                    Some(above) => {
                        self.work += size(&above) + size(&resolved);
                        with_fallback(&above, &resolved)?
                    }
                    None => resolved,
                });
            }
        }
        Ok(merged)
    }
}

/// The layers of a stack as one value.
fn remainder(layers: &[Rc<Node>]) -> Result<Option<Rc<Node>>, Failure> {
    let Some((first, rest)) = layers.split_first() else {
        return Ok(None);
    };
    let mut merged = first.clone();
    for layer in rest {
        merged = with_fallback(&merged, layer)?;
    }
    Ok(Some(merged))
}

/// The cost of copying a value.
fn size(node: &Node) -> usize {
    match &node.kind {
        Kind::Object { fields, .. } => fields.len(),
        Kind::List { items, .. } => items.len(),
        Kind::Text { text, .. } => text.len() / 8,
        _ => 1,
    }
}

fn failed(node: &Node, problem: HoconProblem) -> Stop {
    Stop::Failed(Failure {
        at: node.at,
        problem,
    })
}
