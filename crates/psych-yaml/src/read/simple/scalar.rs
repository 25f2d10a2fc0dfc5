//! Scalars on one line: plain, 'single' and "double" quoted.

use super::{Head, Reader, Step, Stop};
use crate::error::ReadError;
use crate::libyaml::{Event, EventKind};
use crate::{Mark, Style};

/// libyaml takes 1,024 bytes for a key, and counts them from case to case a little differently.
pub(super) const KEY_LENGTH: usize = 1000;

pub(super) struct Scalar<'a> {
    /// `None`: it is in the reader's buffer.
    pub(super) text: Option<&'a str>,
    pub(super) style: Style,
    pub(super) mark: Mark,
}

impl<'a> Scalar<'a> {
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

impl<'a, F> Reader<'a, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    /// A scalar, with the `:` that makes it a key, or up to the end of the line.
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
                return Err(Stop::Unknown);
            }
            self.cursor.skip(1);
            return Ok(Head::Key(scalar));
        }
        Ok(Head::Value(scalar))
    }

    fn plain(&mut self) -> Step<Scalar<'a>> {
        let bytes = self.cursor.rest();
        let can_start = match bytes {
            [b'-' | b'?' | b':', next, ..] => !matches!(next, b' ' | b'\n' | b'\t'),
            [first, ..] => !is_indicator(*first),
            [] => false,
        };
        if !can_start || self.cursor.is_at_document_marker() {
            return Err(Stop::Unknown);
        }
        let length = plain_length(bytes).ok_or(Stop::Unknown)?;
        Ok(self.take_plain(length))
    }

    /// The plain scalar of so many bytes that stands here.
    pub(super) fn take_plain(&mut self, length: usize) -> Scalar<'a> {
        let mark = self.cursor.mark();
        let text = self.cursor.text(length);
        self.cursor.skip(length);
        Scalar {
            text: Some(text),
            style: Style::Plain,
            mark,
        }
    }

    pub(super) fn single_quoted(&mut self) -> Step<Scalar<'a>> {
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let mut is_buffered = false;
        loop {
            let bytes = self.cursor.rest();
            let is_special = |&byte: &u8| matches!(byte, b'\'' | b'\n');
            let length = bytes.iter().position(is_special).ok_or(Stop::Unknown)?;
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
                _ => return Err(Stop::Unknown),
            }
        }
    }

    pub(super) fn double_quoted(&mut self) -> Step<Scalar<'a>> {
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let mut is_buffered = false;
        loop {
            let bytes = self.cursor.rest();
            let is_special = |&byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
            let length = bytes.iter().position(is_special).ok_or(Stop::Unknown)?;
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
                _ => return Err(Stop::Unknown),
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

    /// A quoted scalar with what was left of it after the last escape.
    fn quoted(&mut self, is_buffered: bool, text: &'a str, style: Style, mark: Mark) -> Scalar<'a> {
        if is_buffered {
            self.buffer.push_str(text);
        }
        Scalar {
            text: (!is_buffered).then_some(text),
            style,
            mark,
        }
    }
}

/// What no plain scalar starts with, but for `-`, `?` and `:` before something that is not blank.
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

/// How long a plain scalar is: up to `: `, ` #` or the end of the line, without the spaces before that. `None` where
/// there is a tab in it.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    for (place, &byte) in bytes.iter().enumerate() {
        match byte {
            b' ' => continue,
            b'\n' => break,
            b'\t' => return None,
            b':' => match bytes.get(place + 1) {
                None | Some(b' ' | b'\n') => break,
                Some(b'\t') => return None,
                Some(_) => {}
            },
            // After a space, that is, since `end` is not moved on by those.
            b'#' if end < place => break,
            _ => {}
        }
        end = place + 1;
    }
    Some(end)
}
