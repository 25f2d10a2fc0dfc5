//! Block scalars: `|` and `>`.

use super::cursor::count_spaces;
use super::scalar::Scalar;
use super::{Reader, Step, Stop};
use crate::Style;
use crate::error::ReadError;
use crate::libyaml::Event;

/// What becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// Nothing: `+`
    Keep,
    /// One of them stays.
    Clip,
    /// None stays: `-`
    Strip,
}

impl<F> Reader<'_, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    pub(super) fn block_scalar(&mut self) -> Step {
        let mark = self.cursor.mark();
        let (style, chomping, length) = match self.cursor.rest() {
            [b'|', b'-', ..] => (Style::Literal, Chomping::Strip, 2),
            [b'|', b'+', ..] => (Style::Literal, Chomping::Keep, 2),
            [b'|', ..] => (Style::Literal, Chomping::Clip, 1),
            [b'>', b'-', ..] => (Style::Folded, Chomping::Strip, 2),
            [b'>', b'+', ..] => (Style::Folded, Chomping::Keep, 2),
            [b'>', ..] => (Style::Folded, Chomping::Clip, 1),
            _ => return Err(Stop::Unknown),
        };
        self.cursor.skip(length);
        self.cursor.skip_spaces();
        if !self.cursor.is_at_line_end() {
            return Err(Stop::Unknown);
        }
        self.cursor.next_line();
        self.text(style, chomping)?;
        self.cursor.seek_content();
        self.scalar(&Scalar {
            text: None,
            style,
            mark,
        })
    }

    /// Fills the buffer with the text, and goes to the start of the line after it.
    fn text(&mut self, style: Style, chomping: Chomping) -> Step {
        self.buffer.clear();
        let mut breaks = self.empty_lines(usize::MAX)?;
        // The first line with something in it says how far in the text is.
        let indentation = count_spaces(self.cursor.rest());
        if indentation < self.inside() || breaks.widest > indentation {
            return Err(Stop::Unknown);
        }
        let mut last_break = "";
        let mut was_further_in = false;
        while count_spaces(self.cursor.rest()) >= indentation {
            self.cursor.skip(indentation);
            let bytes = self.cursor.rest();
            let is_further_in = matches!(bytes.first(), Some(b' ' | b'\t'));
            if style == Style::Folded && last_break == "\n" && !was_further_in && !is_further_in {
                if breaks.count == 0 {
                    self.buffer.push(' ');
                }
            } else {
                self.buffer.push_str(last_break);
            }
            self.push_breaks(breaks.count);
            was_further_in = is_further_in;
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let line = self.cursor.text(end.unwrap_or(bytes.len()));
            self.buffer.push_str(line);
            last_break = if end.is_some() { "\n" } else { "" };
            self.cursor.next_line();
            breaks = self.empty_lines(indentation)?;
        }
        if chomping != Chomping::Strip {
            self.buffer.push_str(last_break);
        }
        if chomping == Chomping::Keep {
            self.push_breaks(breaks.count);
        }
        Ok(())
    }

    fn push_breaks(&mut self, count: usize) {
        self.buffer.extend(std::iter::repeat_n('\n', count));
    }

    /// Passes lines of nothing but spaces, at most so many in each.
    fn empty_lines(&mut self, indentation: usize) -> Step<EmptyLines> {
        let mut lines = EmptyLines {
            count: 0,
            widest: 0,
        };
        loop {
            let bytes = self.cursor.rest();
            let spaces = count_spaces(bytes);
            match bytes.get(spaces) {
                // Spaces at the end of the text are a line to some and nothing to others.
                None if spaces > 0 => return Err(Stop::Unknown),
                None => return Ok(lines),
                Some(b'\t') if spaces < indentation => return Err(Stop::Unknown),
                Some(b'\n') if spaces <= indentation => {}
                Some(_) => return Ok(lines),
            }
            lines.count += 1;
            lines.widest = lines.widest.max(spaces);
            self.cursor.next_line();
        }
    }
}

struct EmptyLines {
    count: usize,
    /// How many spaces the longest has.
    widest: usize,
}
