//! Flow collections: `[a, 'b']`, `{a: 1, "b": []}`, also over several lines.

use super::scalar::{KEY_LENGTH, ScalarToken};
use super::{SimpleReader, Step, Stop};
use crate::error::ReadError;
use crate::libyaml::{Event, EventKind};
use crate::{Mark, Style};

/// The maximum nesting.
const DEPTH: usize = 16;

/// The maximum number of events that are kept until it is clear what follows a collection.
const KEPT_EVENTS: usize = 4096;

impl<'a, F> SimpleReader<'a, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    pub(super) fn flow_collection(&mut self) -> Step {
        self.flow.clear();
        self.flow_node(DEPTH)?;
        self.cursor.skip_spaces();
        // Before a `:`, the collection would be a key.
        if !self.cursor.is_at_line_end() {
            return Err(Stop::Unsupported);
        }
        self.cursor.next_content();
        let mut events = std::mem::take(&mut self.flow);
        let delivered = events.drain(..).try_for_each(|event| self.deliver(event));
        self.flow = events;
        delivered
    }

    fn flow_node(&mut self, depth: usize) -> Step {
        if depth == 0 || self.flow.len() > KEPT_EVENTS {
            return Err(Stop::Unsupported);
        }
        let mark = self.cursor.mark();
        let (anchor, tag, flow) = (None, None, true);
        match self.cursor.byte() {
            Some(b'[') => {
                self.add(EventKind::SequenceStart { anchor, tag, flow }, mark);
                self.flow_entries(b']', |reader| reader.flow_node(depth - 1))?;
                self.add(EventKind::SequenceEnd, mark);
            }
            Some(b'{') => {
                self.add(EventKind::MappingStart { anchor, tag, flow }, mark);
                self.flow_entries(b'}', |reader| {
                    reader.flow_key()?;
                    reader.flow_node(depth - 1)
                })?;
                self.add(EventKind::MappingEnd, mark);
            }
            _ => {
                self.flow_scalar()?;
            }
        }
        Ok(())
    }

    /// Reads the entries between brackets, separated by commas.
    fn flow_entries(&mut self, end: u8, mut entry: impl FnMut(&mut Self) -> Step) -> Step {
        self.cursor.skip(1);
        self.skip_flow_space()?;
        while self.cursor.byte() != Some(end) {
            entry(self)?;
            self.skip_flow_space()?;
            match self.cursor.byte() {
                Some(b',') => self.cursor.skip(1),
                Some(byte) if byte == end => break,
                _ => return Err(Stop::Unsupported),
            }
            self.skip_flow_space()?;
        }
        self.cursor.skip(1);
        Ok(())
    }

    /// Skips spaces, comments and ends of lines.
    fn skip_flow_space(&mut self) -> Step {
        self.cursor.skip_spaces();
        while !self.cursor.is_at_end() && self.cursor.is_at_line_end() {
            self.cursor.next_line();
            if self.cursor.is_at_document_marker() {
                return Err(Stop::Unsupported);
            }
            self.cursor.skip_spaces();
        }
        Ok(())
    }

    /// Reads a key, its `:` and the spaces after it.
    fn flow_key(&mut self) -> Step {
        let start = self.cursor.column();
        let style = self.flow_scalar()?;
        let is_key = self.cursor.byte() == Some(b':')
            && self.cursor.column() - start <= KEY_LENGTH
            // After a quote the `:` needs no space.
            && (style != Style::Plain || self.cursor.rest().get(1) == Some(&b' '));
        if !is_key {
            return Err(Stop::Unsupported);
        }
        self.cursor.skip(1);
        self.cursor.skip_spaces();
        Ok(())
    }

    fn flow_scalar(&mut self) -> Step<Style> {
        let scalar = match self.cursor.byte() {
            Some(b'"') => self.double_quoted()?,
            Some(b'\'') => self.single_quoted()?,
            _ => self.flow_plain()?,
        };
        // There is only one buffer, and the events of several scalars are kept.
        let text = scalar.text.ok_or(Stop::Unsupported)?;
        self.flow.push(scalar.event(text));
        Ok(scalar.style)
    }

    /// Reads a plain scalar of characters that are not special in flow collections.
    fn flow_plain(&mut self) -> Step<ScalarToken<'a>> {
        let bytes = self.cursor.rest();
        let can_start = match bytes {
            [b'-', next, ..] => next.is_ascii_alphanumeric(),
            [first, ..] => is_flow_plain(*first) && !matches!(first, b'-' | b'@' | b'%'),
            [] => false,
        };
        if !can_start {
            return Err(Stop::Unsupported);
        }
        let mut length = 0;
        for (index, &byte) in bytes.iter().enumerate() {
            match byte {
                b' ' => continue,
                byte if is_flow_plain(byte) => {}
                b':' if bytes
                    .get(index + 1)
                    .is_some_and(|&next| next == b':' || is_flow_plain(next)) => {}
                // On the next line only a comma or the end can follow, which `flow_entries` checks.
                b',' | b']' | b'}' | b':' | b'\n' => break,
                b'#' if length < index => break,
                _ => return Err(Stop::Unsupported),
            }
            length = index + 1;
        }
        Ok(self.take_plain(length))
    }

    fn add(&mut self, kind: EventKind<'a>, mark: Mark) {
        self.flow.push(Event { kind, mark });
    }
}

fn is_flow_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'.' | b'/' | b'-' | b'+' | b'=' | b'~' | b'$' | b'@' | b'%'
        )
}
