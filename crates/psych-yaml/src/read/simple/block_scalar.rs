//! Block scalars: `|` and `>`.

use super::cursor::count_spaces;
use super::scalar::ScalarToken;
use super::{SimpleReader, Step, Stop};
use crate::Style;
use crate::error::ReadError;
use crate::libyaml::Event;

/// Which line breaks at the end are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// `+`: all.
    Keep,
    /// The first.
    Clip,
    /// `-`: none.
    Strip,
}

impl<F> SimpleReader<'_, F>
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
            _ => return Err(Stop::Unsupported),
        };
        self.cursor.skip(length);
        self.cursor.skip_spaces();
        if !self.cursor.is_at_line_end() {
            return Err(Stop::Unsupported);
        }
        self.cursor.next_line();
        self.text(style, chomping)?;
        self.cursor.seek_content();
        self.scalar(&ScalarToken {
            text: None,
            style,
            mark,
        })
    }

    /// Fills the buffer with the content, and goes to the start of the line after it.
    fn text(&mut self, style: Style, chomping: Chomping) -> Step {
        self.buffer.clear();
        let mut breaks = self.empty_lines(usize::MAX)?;
        // The first line that is not empty sets the indentation.
        let indentation = count_spaces(self.cursor.rest());
        if indentation < self.inside() || breaks.widest > indentation {
            return Err(Stop::Unsupported);
        }
        let mut last_break = "";
        let mut was_deeper = false;
        while count_spaces(self.cursor.rest()) >= indentation {
            self.cursor.skip(indentation);
            let bytes = self.cursor.rest();
            let is_deeper = matches!(bytes.first(), Some(b' ' | b'\t'));
            if style == Style::Folded && last_break == "\n" && !was_deeper && !is_deeper {
                if breaks.count == 0 {
                    self.buffer.push(' ');
                }
            } else {
                self.buffer.push_str(last_break);
            }
            self.push_breaks(breaks.count);
            was_deeper = is_deeper;
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

    /// Skips lines of at most `indentation` spaces and nothing else.
    fn empty_lines(&mut self, indentation: usize) -> Step<EmptyLines> {
        let mut lines = EmptyLines {
            count: 0,
            widest: 0,
        };
        loop {
            let bytes = self.cursor.rest();
            let spaces = count_spaces(bytes);
            match bytes.get(spaces) {
                // Whether spaces at the end of the input are a line depends on the context.
                None if spaces > 0 => return Err(Stop::Unsupported),
                None => return Ok(lines),
                Some(b'\t') if spaces < indentation => return Err(Stop::Unsupported),
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
    /// The number of spaces in the longest.
    widest: usize,
}
