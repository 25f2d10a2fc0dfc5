//! A position in input that consists of characters which YAML allows and which are not special to libyaml.

use crate::Mark;

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The line, starting at 0.
    line: usize,
    line_start: usize,
    is_ascii: bool,
    /// An offset in this line, and the number of characters before it.
    counted: (usize, usize),
}

impl<'a> Cursor<'a> {
    /// `None` if there are characters that libyaml does not allow, or line breaks other than `\n`.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let is_ascii = text.is_ascii();
        // Without an early exit, so that the compiler can vectorize it.
        let has_control = |chunk: &[u8]| {
            chunk
                .iter()
                .fold(false, |any, &byte| any | is_control(byte))
        };
        if bytes.chunks(1024).any(has_control) || !(is_ascii || text.chars().all(is_plain)) {
            return None;
        }
        Some(Cursor {
            text,
            at: 0,
            line: 0,
            line_start: 0,
            is_ascii,
            counted: (0, 0),
        })
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Bytes from the start of the line.
    pub(super) fn column(&self) -> usize {
        self.at - self.line_start
    }

    /// The bytes that follow.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether a space, a line break or the end is `count` bytes ahead. A tab is left to libyaml.
    pub(super) fn is_blank_after(&self, count: usize) -> bool {
        matches!(
            self.text.as_bytes().get(self.at + count),
            None | Some(b' ' | b'\n')
        )
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    pub(super) fn skip_spaces(&mut self) {
        self.at += count_spaces(self.rest());
    }

    /// The next `length` bytes as a string.
    pub(super) fn text(&self, length: usize) -> &'a str {
        let text = self.text.get(self.at..self.at + length);
        debug_assert!(text.is_some(), "a token ends between characters");
        text.unwrap_or_default()
    }

    /// Whether the rest of the line is empty or a comment. A comment needs a space before it.
    pub(super) fn is_at_line_end(&self) -> bool {
        match self.byte() {
            None | Some(b'\n') => true,
            Some(b'#') => {
                self.column() == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b' ')
            }
            Some(_) => false,
        }
    }

    /// The position as it is reported. Columns count characters.
    pub(super) fn mark(&mut self) -> Mark {
        let column = if self.is_ascii {
            self.column()
        } else {
            let (offset, characters) = self.counted;
            let since = self.text.get(offset..self.at).unwrap_or_default();
            self.counted = (self.at, characters + since.chars().count());
            self.counted.1
        };
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
        Mark {
            line: number(self.line),
            column: number(column),
        }
    }

    /// Goes to the start of the next line, or to the end.
    pub(super) fn next_line(&mut self) {
        match self.rest().iter().position(|&byte| byte == b'\n') {
            Some(length) => {
                self.at += length + 1;
                self.line += 1;
            }
            None => self.at = self.text.len(),
        }
        self.line_start = self.at;
        self.counted = (self.at, 0);
    }

    /// Goes to the next line that is not empty or a comment. Returns whether a comment was skipped.
    pub(super) fn next_content(&mut self) -> bool {
        let is_before_comment = self.byte() == Some(b'#');
        self.next_line();
        self.seek_content() || is_before_comment
    }

    /// Like `next_content`, from the start of a line, which may itself have content.
    pub(super) fn seek_content(&mut self) -> bool {
        let mut is_after_comment = false;
        loop {
            self.skip_spaces();
            match self.byte() {
                Some(b'\n') => {}
                Some(b'#') => is_after_comment = true,
                _ => return is_after_comment,
            }
            self.next_line();
        }
    }

    /// Skips `---` on a line of its own.
    pub(super) fn skip_document_start(&mut self) -> bool {
        if self.column() != 0 || !self.rest().starts_with(b"---") {
            return false;
        }
        let start = self.at;
        self.at += "---".len();
        self.skip_spaces();
        let is_alone = self.is_at_line_end();
        if !is_alone {
            self.at = start;
        }
        is_alone
    }

    /// Whether this may be a document marker.
    pub(super) fn is_at_document_marker(&self) -> bool {
        let rest = self.rest();
        self.column() == 0 && (rest.starts_with(b"---") || rest.starts_with(b"..."))
    }
}

pub(super) fn count_spaces(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|&byte| byte != b' ');
    end.unwrap_or(bytes.len())
}

fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f
}

/// Whether a character is allowed and is neither a line break nor a byte order mark.
fn is_plain(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x7f' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..
    )
}
