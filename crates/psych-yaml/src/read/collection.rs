//! The starts and ends of collections.

use super::frame::{Frame, KeyWord, Node, OpenCollection, Origin};
use super::resolve::refused;
use super::{Anchor, Reader};
use crate::error::ReadError;
use crate::tag::{self, MappingTag, Refusal, SequenceTag};
use crate::{Build, Mark, Scalar, Source, Style};

impl<B: Build> Reader<'_, B> {
    pub(super) fn start_sequence(
        &mut self,
        anchor: Option<&str>,
        tag: Option<&str>,
        mark: Mark,
    ) -> Result<(), ReadError> {
        let frame = match tag.map_or(SequenceTag::Sequence, tag::sequence) {
            SequenceTag::Sequence => Frame::Sequence {
                sequence: self.builder.sequence(),
                merged: self.merge_expected().then(Vec::new),
            },
            SequenceTag::OrderedMapping => Frame::OrderedMapping {
                mapping: self.builder.mapping(),
                empty: true,
            },
            SequenceTag::Refused(refusal) => return Err(refused(refusal, tag, mark)),
        };
        self.start(frame, anchor, mark);
        Ok(())
    }

    pub(super) fn start_mapping(
        &mut self,
        anchor: Option<&str>,
        tag: Option<&str>,
        mark: Mark,
    ) -> Result<(), ReadError> {
        match tag.map_or(MappingTag::Mapping, tag::mapping) {
            MappingTag::Mapping => {
                let mapping = self.builder.mapping();
                self.start(Frame::Mapping { mapping, key: None }, anchor, mark);
            }
            MappingTag::String => {
                // The anchor is only defined once the string is found.
                let frame = Frame::String {
                    anchor: anchor.map(Into::into),
                    key: None,
                    text: None,
                    has_others: false,
                    str_tag: tag == Some(tag::STR),
                };
                self.start(frame, None, mark);
            }
            MappingTag::Refused(refusal) => return Err(refused(refusal, tag, mark)),
        }
        Ok(())
    }

    pub(super) fn in_ordered_mapping(&self) -> bool {
        matches!(self.open.last(), Some(top) if matches!(top.frame, Frame::OrderedMapping { .. }))
    }

    /// Whether the next value belongs to a merge key.
    fn merge_expected(&self) -> bool {
        matches!(
            self.open.last().map(|top| &top.frame),
            Some(Frame::Mapping { key: Some(key), .. }) if key.is_merge_key()
        )
    }

    pub(super) fn start(&mut self, frame: Frame<B>, anchor: Option<&str>, mark: Mark) {
        let number = self.opened;
        self.opened += 1;
        if let Some(name) = anchor {
            let index = self.open.len();
            self.anchors
                .insert(name.into(), Anchor::Open { number, index });
        }
        self.open.push(OpenCollection {
            frame,
            number,
            anchor: anchor.map(Into::into),
            mark,
            depth: 0,
            size: 1,
        });
    }

    pub(super) fn end(&mut self) -> Result<(), ReadError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let OpenCollection {
            number,
            anchor,
            mark,
            depth,
            size,
            frame,
        } = open;
        let finished = |value, origin| Node {
            value,
            depth: depth + 1,
            size,
            word: KeyWord::Other,
            str_tag: false,
            origin,
        };
        let node = match frame {
            Frame::Sequence { sequence, merged } => {
                let value = self.builder.finish_sequence(sequence, mark);
                finished(value, Origin::Sequence(merged))
            }
            Frame::OrderedMapping { mapping, empty } => {
                // As the value of a merge key, it consists of pairs, which are not mappings.
                let merged = empty.then(Vec::new);
                let value = self.builder.finish_mapping(mapping, mark);
                finished(value, Origin::Sequence(merged))
            }
            Frame::Mapping { mapping, .. } => {
                let value = self.builder.finish_mapping(mapping, mark);
                finished(value, Origin::Mapping)
            }
            Frame::Pair { first, last } => return self.end_pair(first, last, mark, (depth, size)),
            Frame::String {
                text,
                has_others,
                str_tag,
                ..
            } => match text {
                Some(text) => Node {
                    str_tag,
                    origin: Origin::Mapping,
                    ..text
                },
                None if has_others => {
                    let refusal = Refusal::Misplaced;
                    return Err(refused(refusal, Some(tag::STR), mark));
                }
                None => finished(self.null(mark), Origin::Mapping),
            },
        };
        if let Some(slot) = anchor.and_then(|name| self.anchors.get_mut(&name))
            && matches!(slot, Anchor::Open { number: opened, .. } if *opened == number)
        {
            *slot = Anchor::Done(node.anchored());
        }
        self.deliver(node, mark)
    }

    fn null(&mut self, mark: Mark) -> B::Value {
        let source = Source {
            text: "",
            style: Style::Plain,
            tag: Some(tag::STR),
            mark,
        };
        self.builder.scalar(Scalar::Null, source)
    }

    /// Ends an element of an ordered mapping: its first value is the key, its last one the value.
    ///
    /// Puppet: Psych ignores the values between; here they can define anchors, and must be valid.
    fn end_pair(
        &mut self,
        first: Option<B::Value>,
        last: Option<B::Value>,
        mark: Mark,
        (depth, size): (usize, usize),
    ) -> Result<(), ReadError> {
        let misplaced = || refused(Refusal::Misplaced, Some("tag:yaml.org,2002:omap"), mark);
        let key = first.ok_or_else(misplaced)?;
        let value = last.unwrap_or_else(|| key.clone());
        if let Some(top) = self.open.last_mut()
            && let Frame::OrderedMapping { mapping, empty } = &mut top.frame
        {
            self.builder.insert(mapping, key, value);
            *empty = false;
            top.grow(depth, size);
        }
        Ok(())
    }
}
