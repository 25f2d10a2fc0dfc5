//! The merge key `<<`.

use super::Reader;
use super::frame::{Element, Frame, Node, OpenCollection, Origin};
use crate::error::{Problem, ReadError};
use crate::{Build, Mark};

impl<B: Build> Reader<'_, B> {
    /// An alias to a collection that contains it. A merge key takes the entries so far; anything else would be infinite.
    ///
    /// Puppet: Ruby builds such a value and runs out of stack when it walks through it, so other errors come first.
    pub(super) fn alias_to_open(
        &mut self,
        name: &str,
        index: usize,
        mark: Mark,
    ) -> Result<(), ReadError> {
        let recursive = || {
            let name = name.to_owned();
            Err(ReadError::new(Problem::RecursiveAlias { name }, mark))
        };
        let Some((entries, depth, size)) = self.open.get(index).and_then(|target| {
            let entries = match &target.frame {
                Frame::Mapping { mapping, .. } | Frame::OrderedMapping { mapping, .. } => {
                    self.builder.open_entries(mapping)
                }
                _ => return None,
            };
            Some((entries, target.depth, target.size))
        }) else {
            return recursive();
        };
        self.count_expanded(size, mark)?;
        self.check_depth(depth, mark)?;
        let Some(top) = self.open.last_mut() else {
            return recursive();
        };
        match &mut top.frame {
            Frame::Mapping { mapping, key } if key.as_ref().is_some_and(Node::is_merge_key) => {
                *key = None;
                for (key, value) in entries {
                    self.builder.insert(mapping, key, value);
                }
            }
            Frame::Sequence {
                merged: Some(merged),
                ..
            } => {
                let name = name.to_owned();
                merged.push(Element::Open {
                    entries,
                    name,
                    mark,
                });
            }
            _ => return recursive(),
        }
        top.grow(depth, size);
        Ok(())
    }

    /// Merges a value into the innermost mapping, or stores it under `<<` if it cannot be merged.
    pub(super) fn merge(
        &mut self,
        key: Node<B::Value>,
        node: Node<B::Value>,
        mark: Mark,
    ) -> Result<(), ReadError> {
        self.count_expanded(node.size, mark)?;
        let merged = match &node.origin {
            Origin::Scalar => None,
            Origin::Alias | Origin::Mapping => self
                .builder
                .entries(&node.value)
                .map(|entries| vec![entries]),
            // The first element wins, so it is inserted last.
            Origin::Sequence(elements) => elements.as_ref().and_then(|elements| {
                let entries = |element: &Element<B::Value>| match element {
                    Element::Value(value) => self.builder.entries(value),
                    Element::Open { entries, .. } => Some(entries.clone()),
                };
                elements.iter().rev().map(entries).collect()
            }),
        };
        let Some(OpenCollection {
            frame: Frame::Mapping { mapping, .. },
            ..
        }) = self.open.last_mut()
        else {
            return Ok(());
        };
        if let Some(merged) = merged {
            for (key, value) in merged.into_iter().flatten() {
                self.builder.insert(mapping, key, value);
            }
            return Ok(());
        }
        if let Origin::Sequence(Some(elements)) = node.origin {
            for element in elements {
                if let Element::Open { name, mark, .. } = element {
                    return Err(ReadError::new(Problem::RecursiveAlias { name }, mark));
                }
            }
        }
        self.builder.insert(mapping, key.value, node.value);
        Ok(())
    }
}
