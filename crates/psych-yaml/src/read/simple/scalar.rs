//! Scalars on one line: plain, 'single' and "double" quoted.

use super::{Head, SimpleReader, Step, Stop};
use crate::error::ReadError;
use crate::libyaml::{Event, EventKind};
use crate::{Mark, Style};

/// libyaml allows keys of 1,024 bytes, but counts them a little differently from case to case.
pub(super) const KEY_LENGTH: usize = 1000;

/// A scalar that was read, before it becomes an event.
pub(super) struct ScalarToken<'a> {
    /// `None` if it is in the reader's buffer.
    pub(super) text: Option<&'a str>,
    pub(super) style: Style,
    pub(super) mark: Mark,
}

impl<'a> ScalarToken<'a> {
    pub(super) fn event<'e>(&self, buffer: &'e str) -> Event<'e>
    where
        'a: 'e,
    {
        Event {
            kind: EventKind::Scalar {
                anchor: None,
                tag: None,
                text: self.text.unwrap_or(buffer),
                style: self.style,
                verbatim: self.style != Style::Plain,
            },
            mark: self.mark,
        }
    }
}

impl<'a, F> SimpleReader<'a, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    /// Reads a scalar, with the `:` that makes it a key, or up to the end of the line.
    pub(super) fn key_or_value(&mut self) -> Step<Head<'a>> {
        let start = self.cursor.column();
        let scalar = match self.cursor.byte() {
            Some(b'"') => self.double_quoted()?,
            Some(b'\'') => self.single_quoted()?,
            _ => self.plain()?,
        };
        let end = self.cursor.column();
        self.cursor.skip_spaces();
        if self.cursor.byte() == Some(b':') {
            if !self.cursor.is_blank_after(1) || end - start > KEY_LENGTH {
                return Err(Stop::Unsupported);
            }
            self.cursor.skip(1);
            return Ok(Head::Key(scalar));
        }
        Ok(Head::Value(scalar))
    }

    fn plain(&mut self) -> Step<ScalarToken<'a>> {
        let bytes = self.cursor.rest();
        let can_start = match bytes {
            [b'-' | b'?' | b':', next, ..] => !matches!(next, b' ' | b'\n' | b'\t'),
            [first, ..] => !is_indicator(*first),
            [] => false,
        };
        if !can_start || self.cursor.is_at_document_marker() {
            return Err(Stop::Unsupported);
        }
        let length = plain_length(bytes).ok_or(Stop::Unsupported)?;
        Ok(self.take_plain(length))
    }

    /// Takes the next `length` bytes as a plain scalar.
    pub(super) fn take_plain(&mut self, length: usize) -> ScalarToken<'a> {
        let mark = self.cursor.mark();
        let text = self.cursor.text(length);
        self.cursor.skip(length);
        ScalarToken {
            text: Some(text),
            style: Style::Plain,
            mark,
        }
    }

    pub(super) fn single_quoted(&mut self) -> Step<ScalarToken<'a>> {
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let mut is_buffered = false;
        loop {
            let bytes = self.cursor.rest();
            let is_special = |&byte: &u8| matches!(byte, b'\'' | b'\n');
            let length = bytes.iter().position(is_special).ok_or(Stop::Unsupported)?;
            let text = self.cursor.text(length);
            match bytes.get(length..) {
                Some([b'\'', b'\'', ..]) => {
                    self.add_to_buffer(&mut is_buffered, text, '\'');
                    self.cursor.skip(length + 2);
                }
                Some([b'\'', ..]) => {
                    self.cursor.skip(length + 1);
                    return Ok(self.quoted(is_buffered, text, Style::SingleQuoted, mark));
                }
                _ => return Err(Stop::Unsupported),
            }
        }
    }

    pub(super) fn double_quoted(&mut self) -> Step<ScalarToken<'a>> {
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let mut is_buffered = false;
        loop {
            let bytes = self.cursor.rest();
            let is_special = |&byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
            let length = bytes.iter().position(is_special).ok_or(Stop::Unsupported)?;
            let text = self.cursor.text(length);
            let escaped = match bytes.get(length..) {
                Some([b'"', ..]) => {
                    self.cursor.skip(length + 1);
                    return Ok(self.quoted(is_buffered, text, Style::DoubleQuoted, mark));
                }
                Some([b'\\', b'n', ..]) => '\n',
                Some([b'\\', b't', ..]) => '\t',
                Some([b'\\', b'"', ..]) => '"',
                Some([b'\\', b'\\', ..]) => '\\',
                _ => return Err(Stop::Unsupported),
            };
            self.add_to_buffer(&mut is_buffered, text, escaped);
            self.cursor.skip(length + 2);
        }
    }

    fn add_to_buffer(&mut self, is_buffered: &mut bool, text: &str, escaped: char) {
        if !std::mem::replace(is_buffered, true) {
            self.buffer.clear();
        }
        self.buffer.push_str(text);
        self.buffer.push(escaped);
    }

    /// A quoted scalar; `text` is what follows the last escape.
    fn quoted(
        &mut self,
        is_buffered: bool,
        text: &'a str,
        style: Style,
        mark: Mark,
    ) -> ScalarToken<'a> {
        if is_buffered {
            self.buffer.push_str(text);
        }
        ScalarToken {
            text: (!is_buffered).then_some(text),
            style,
            mark,
        }
    }
}

/// Whether a plain scalar cannot start with a byte. `-`, `?` and `:` are allowed before a byte that is not blank.
fn is_indicator(byte: u8) -> bool {
    matches!(
        byte,
        b'-' | b'?'
            | b':'
            | b','
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'#'
            | b'&'
            | b'*'
            | b'!'
            | b'|'
            | b'>'
            | b'\''
            | b'"'
            | b'%'
            | b'@'
            | b'`'
            | b' '
            | b'\t'
            | b'\n'
    )
}

/// The length of a plain scalar: up to `: `, ` #` or the end of the line, without the spaces before that. `None` if it
/// contains a tab.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b' ' => continue,
            b'\n' => break,
            b'\t' => return None,
            b':' => match bytes.get(index + 1) {
                None | Some(b' ' | b'\n') => break,
                Some(b'\t') => return None,
                Some(_) => {}
            },
            // Only after a space, since spaces do not move `end`.
            b'#' if end < index => break,
            _ => {}
        }
        end = index + 1;
    }
    Some(end)
}
