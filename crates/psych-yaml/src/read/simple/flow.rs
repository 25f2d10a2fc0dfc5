//! Flow collections: `[a, 'b']`, `{a: 1, "b": []}`, over several lines as well.

use super::scalar::{KEY_LENGTH, Scalar};
use super::{Reader, Step, Stop};
use crate::error::ReadError;
use crate::libyaml::{Event, EventKind};
use crate::{Mark, Style};

/// Collections within collections.
const DEPTH: usize = 16;

/// Events that are kept until it is known what follows a collection.
const KEPT_EVENTS: usize = 4096;

impl<'a, F> Reader<'a, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    pub(super) fn flow_collection(&mut self) -> Step {
        self.flow.clear();
        self.flow_node(DEPTH)?;
        self.cursor.skip_spaces();
        // Before a `:` all of it would be a key.
        if !self.cursor.is_at_line_end() {
            return Err(Stop::Unknown);
        }
        self.cursor.next_content();
        let mut events = std::mem::take(&mut self.flow);
        let handed_over = events.drain(..).try_for_each(|event| self.hand_over(event));
        self.flow = events;
        handed_over
    }

    fn flow_node(&mut self, depth: usize) -> Step {
        if depth == 0 || self.flow.len() > KEPT_EVENTS {
            return Err(Stop::Unknown);
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

    /// What stands between brackets, parted by commas.
    fn flow_entries(&mut self, end: u8, mut entry: impl FnMut(&mut Self) -> Step) -> Step {
        self.cursor.skip(1);
        self.skip_flow_space()?;
        while self.cursor.byte() != Some(end) {
            entry(self)?;
            self.skip_flow_space()?;
            match self.cursor.byte() {
                Some(b',') => self.cursor.skip(1),
                Some(byte) if byte == end => break,
                _ => return Err(Stop::Unknown),
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
                return Err(Stop::Unknown);
            }
            self.cursor.skip_spaces();
        }
        Ok(())
    }

    /// A key, its `:` and the spaces after it.
    fn flow_key(&mut self) -> Step {
        let start = self.cursor.column();
        let style = self.flow_scalar()?;
        let is_key = self.cursor.byte() == Some(b':')
            && self.cursor.column() - start <= KEY_LENGTH
            // After a quote the `:` needs no space.
            && (style != Style::Plain || self.cursor.rest().get(1) == Some(&b' '));
        if !is_key {
            return Err(Stop::Unknown);
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
        // There is one buffer, and there may be many scalars.
        let text = scalar.text.ok_or(Stop::Unknown)?;
        self.flow.push(scalar.event(text));
        Ok(scalar.style)
    }

    /// A plain scalar of letters that mean nothing in flow collections.
    fn flow_plain(&mut self) -> Step<Scalar<'a>> {
        let bytes = self.cursor.rest();
        let can_start = match bytes {
            [b'-', next, ..] => next.is_ascii_alphanumeric(),
            [first, ..] => is_flow_plain(*first) && !matches!(first, b'-' | b'@' | b'%'),
            [] => false,
        };
        if !can_start {
            return Err(Stop::Unknown);
        }
        let mut length = 0;
        for (place, &byte) in bytes.iter().enumerate() {
            match byte {
                b' ' => continue,
                byte if is_flow_plain(byte) => {}
                b':' if bytes
                    .get(place + 1)
                    .is_some_and(|&next| next == b':' || is_flow_plain(next)) => {}
                // On the next line only a comma or the end can follow, which `flow_entries` sees to.
                b',' | b']' | b'}' | b':' | b'\n' => break,
                b'#' if length < place => break,
                _ => return Err(Stop::Unknown),
            }
            length = place + 1;
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
