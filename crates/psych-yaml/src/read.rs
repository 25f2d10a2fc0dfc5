//! Events to values.
//!
//! The reader is a loop over events with its own stack of open collections, so a deep document does not use the call
//! stack. Each anchored value carries its depth and size, so the limits of an alias are checked before it is expanded.

mod collection;
mod events;
mod frame;
mod merge;
mod resolve;
mod simple;

use std::collections::HashMap;

use crate::error::{Limit, Problem, ReadError};
use crate::libyaml::{Event, EventKind};
use crate::tag::{self, Refusal, ScalarTag};
use crate::{Build, Limits, Mark, Scalar, Source, base64};
use events::Events;
use frame::{Element, Frame, KeyWord, Node, OpenCollection, Origin};
use resolve::{float, limit, plain, refused};

/// Reads the first document of a stream; `None` if the stream is empty.
///
/// As in Ruby, the rest of the stream is ignored and may be invalid.
///
/// # Errors
///
/// If the document is not YAML, contains values that Puppet refuses, or exceeds a limit. A syntax error is reported
/// before an invalid value that precedes it, because Ruby parses the whole document before it looks at values.
pub fn read<B: Build>(
    bytes: &[u8],
    limits: &Limits,
    builder: &mut B,
) -> Result<Option<B::Value>, ReadError> {
    let mut reader = Reader::new(limits, builder);
    // Most data needs no libyaml. It decides on everything that the simple reader does not support.
    let Err(stopped) = simple::read(bytes, |event| reader.step(event)) else {
        return Ok(reader.root);
    };
    let mut events = Events::new(bytes)?;
    events.skip(stopped.events)?;
    if let Some(error) = stopped.error {
        return Err(events.syntax_error_after(error));
    }
    reader.finish(events)
}

/// Like [`read`], but without the simple reader, which fuzzing compares with it.
///
/// # Errors
///
/// As [`read`].
#[cfg(feature = "fuzzing")]
pub fn read_with_libyaml<B: Build>(
    bytes: &[u8],
    limits: &Limits,
    builder: &mut B,
) -> Result<Option<B::Value>, ReadError> {
    Reader::new(limits, builder).finish(Events::new(bytes)?)
}

enum Anchor<V> {
    /// A collection that is still open, with its number and its index in the stack.
    Open {
        number: usize,
        index: usize,
    },
    Done(Node<V>),
}

struct Reader<'r, B: Build> {
    builder: &'r mut B,
    limits: &'r Limits,
    open: Vec<OpenCollection<B>>,
    anchors: HashMap<Box<str>, Anchor<B::Value>>,
    /// The number of collections opened so far.
    opened: usize,
    nodes: usize,
    expanded: usize,
    root: Option<B::Value>,
}

impl<'r, B: Build> Reader<'r, B> {
    fn new(limits: &'r Limits, builder: &'r mut B) -> Self {
        Reader {
            builder,
            limits,
            open: Vec::new(),
            anchors: HashMap::new(),
            opened: 0,
            nodes: 0,
            expanded: 0,
            root: None,
        }
    }

    /// Reads the remaining events of the document.
    fn finish(mut self, mut events: Events<'_>) -> Result<Option<B::Value>, ReadError> {
        loop {
            let event = events.next()?;
            match event.kind {
                EventKind::StreamStart | EventKind::DocumentStart => {}
                EventKind::StreamEnd | EventKind::DocumentEnd => return Ok(self.root),
                _ => {
                    if let Err(error) = self.step(event) {
                        return Err(events.syntax_error_after(error));
                    }
                }
            }
        }
    }

    fn step(&mut self, event: Event<'_>) -> Result<(), ReadError> {
        let Event { kind, mark } = event;
        match kind {
            EventKind::SequenceEnd | EventKind::MappingEnd => return self.end(),
            EventKind::SequenceStart { .. } | EventKind::MappingStart { .. } => {
                self.check_depth(1, mark)?;
            }
            _ => {}
        }
        self.count(mark)?;
        match kind {
            EventKind::SequenceStart { .. } | EventKind::MappingStart { .. }
                if self.in_ordered_mapping() =>
            {
                self.start(Frame::pair(), None, mark);
                Ok(())
            }
            EventKind::Scalar {
                anchor,
                tag,
                text,
                style,
                verbatim,
            } => {
                let source = Source {
                    text,
                    style,
                    tag,
                    mark,
                };
                let node = self.scalar(source, verbatim)?;
                if let Some(name) = anchor {
                    self.anchors
                        .insert(name.into(), Anchor::Done(node.anchored()));
                }
                self.deliver(node, mark)
            }
            EventKind::Alias { name } => self.alias(name, mark),
            EventKind::SequenceStart { anchor, tag, .. } => self.start_sequence(anchor, tag, mark),
            EventKind::MappingStart { anchor, tag, .. } => self.start_mapping(anchor, tag, mark),
            _ => Ok(()),
        }
    }

    /// Counts a scalar, collection or alias of the document.
    fn count(&mut self, mark: Mark) -> Result<(), ReadError> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            return Err(limit(Limit::Nodes(self.limits.nodes), mark));
        }
        self.count_expanded(1, mark)
    }

    /// Counts the values of an expanded alias.
    fn count_expanded(&mut self, size: usize, mark: Mark) -> Result<(), ReadError> {
        self.expanded = self.expanded.saturating_add(size);
        if self.expanded > self.limits.expanded_nodes {
            return Err(limit(
                Limit::ExpandedNodes(self.limits.expanded_nodes),
                mark,
            ));
        }
        Ok(())
    }

    /// Checks that a value of this depth is allowed here.
    fn check_depth(&self, depth: usize, mark: Mark) -> Result<(), ReadError> {
        if self.open.len().saturating_add(depth) > self.limits.depth {
            return Err(limit(Limit::Depth(self.limits.depth), mark));
        }
        Ok(())
    }

    fn scalar(&mut self, source: Source<'_>, verbatim: bool) -> Result<Node<B::Value>, ReadError> {
        let Source {
            text, tag, mark, ..
        } = source;
        let action = match tag {
            _ if verbatim => ScalarTag::String,
            None => ScalarTag::Resolve,
            Some(tag) => tag::scalar(tag, text),
        };
        let decoded;
        let scalar = match action {
            ScalarTag::Resolve => plain(text, mark)?,
            ScalarTag::String => Scalar::String(text),
            ScalarTag::Binary => {
                decoded = base64::decode(text.as_bytes());
                std::str::from_utf8(&decoded).map_or(Scalar::Bytes(&decoded), Scalar::String)
            }
            ScalarTag::Float => Scalar::Float(float(plain(text, mark)?, mark)?),
            ScalarTag::Symbol => Scalar::Symbol(text),
            ScalarTag::Null => Scalar::Null,
            ScalarTag::Refused(refusal) => return Err(refused(refusal, tag, mark)),
        };
        let word = match scalar {
            Scalar::String(text) => text.into(),
            _ => KeyWord::Other,
        };
        Ok(Node {
            value: self.builder.scalar(scalar, source),
            depth: 0,
            size: 1,
            word,
            str_tag: tag == Some(tag::STR),
            origin: Origin::Scalar,
        })
    }

    fn alias(&mut self, name: &str, mark: Mark) -> Result<(), ReadError> {
        let (depth, size) = match self.anchors.get(name) {
            None => {
                let name = name.to_owned();
                return Err(ReadError::new(Problem::UnknownAlias { name }, mark));
            }
            Some(&Anchor::Open { index, .. }) => return self.alias_to_open(name, index, mark),
            Some(Anchor::Done(node)) => (node.depth, node.size),
        };
        // Before the value is cloned, which takes time in proportion to its size.
        self.check_depth(depth, mark)?;
        self.count_expanded(size, mark)?;
        match self.anchors.get(name) {
            Some(Anchor::Done(node)) => self.deliver(node.clone(), mark),
            _ => Ok(()),
        }
    }

    /// Adds a finished value to the innermost open collection.
    fn deliver(&mut self, node: Node<B::Value>, mark: Mark) -> Result<(), ReadError> {
        let Some(top) = self.open.last_mut() else {
            self.root = Some(node.value);
            return Ok(());
        };
        top.grow(node.depth, node.size);
        match &mut top.frame {
            Frame::Sequence { sequence, merged } => {
                if let Some(merged) = merged {
                    merged.push(Element::Value(node.value.clone()));
                }
                self.builder.push(sequence, node.value);
            }
            Frame::OrderedMapping { .. } => {
                let tag = Some("tag:yaml.org,2002:omap");
                return Err(refused(Refusal::Misplaced, tag, mark));
            }
            Frame::Pair { first, last } => {
                if first.is_none() {
                    *first = Some(node.value);
                } else {
                    *last = Some(node.value);
                }
            }
            Frame::String {
                anchor,
                key,
                text,
                has_others,
                ..
            } => match key.take() {
                None => *key = Some(node.word),
                Some(KeyWord::Str) => {
                    if let Some(name) = anchor {
                        self.anchors
                            .insert(name.clone(), Anchor::Done(node.anchored()));
                    }
                    *text = Some(node);
                }
                Some(_) => *has_others = true,
            },
            Frame::Mapping { mapping, key } => match key.take() {
                None => *key = Some(node),
                Some(key) if key.is_merge_key() => return self.merge(key, node, mark),
                Some(key) => self.builder.insert(mapping, key.value, node.value),
            },
        }
        Ok(())
    }
}
