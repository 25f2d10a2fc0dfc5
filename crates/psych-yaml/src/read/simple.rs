//! A fast reader for the YAML that most data consists of.
//!
//! libyaml copies every character through two buffers and looks at it a dozen times. This reader delivers the same events
//! for block collections, scalars on one line, block scalars and flow collections at a fraction of the cost. It supports
//! nothing else and reports no errors: before an anchor, a tag, a tab, a multi-line scalar or a mistake it stops, and
//! libyaml continues from there (see [`read`](super::read)).
//!
//! The input is read line by line. The start of a line (a `-`, a key, a value) and its column determine which
//! collections end before it and which one starts, as in libyaml's scanner.

mod block_scalar;
mod cursor;
mod flow;
mod scalar;

use crate::error::ReadError;
use crate::libyaml::{Event, EventKind};
use crate::{Mark, Style};
use cursor::Cursor;
use scalar::ScalarToken;

/// Where and why the reader stopped.
#[derive(Debug)]
pub(super) struct Stopped {
    /// The number of events delivered before.
    pub(super) events: usize,
    /// The error that the consumer of the last event returned; `None` if the input is not supported.
    pub(super) error: Option<ReadError>,
}

/// Delivers the events of the only document in the input, as far as this reader supports it.
pub(super) fn read<F>(bytes: &[u8], consume: F) -> Result<(), Stopped>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    let Some(cursor) = Cursor::new(bytes) else {
        return Err(Stopped {
            events: 0,
            error: None,
        });
    };
    let mut reader = SimpleReader {
        cursor,
        open: Vec::new(),
        missing: None,
        buffer: String::new(),
        flow: Vec::new(),
        events: 0,
        consume,
    };
    reader.document().map_err(|stop| Stopped {
        events: reader.events,
        error: match stop {
            Stop::Unsupported => None,
            Stop::Refused(error) => Some(*error),
        },
    })
}

enum Stop {
    /// Only libyaml supports what follows.
    Unsupported,
    Refused(Box<ReadError>),
}

type Step<T = ()> = Result<T, Stop>;

/// A block collection that has not ended.
struct OpenBlock {
    /// The column of its entries.
    column: usize,
    kind: BlockKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Mapping,
    Sequence,
    /// A sequence with its `-` in the column of the key that it belongs to.
    Indentless,
}

/// The start of a line, or of its rest after a `-`.
enum Head<'a> {
    /// `-`
    Entry(Mark),
    /// A scalar and its `:`.
    Key(ScalarToken<'a>),
    /// A scalar without one.
    Value(ScalarToken<'a>),
    /// A flow collection or a block scalar, which is not read yet.
    Other,
}

struct SimpleReader<'a, F> {
    cursor: Cursor<'a>,
    open: Vec<OpenBlock>,
    /// The position of an empty value for the last key or `-`, as long as it has no value.
    missing: Option<Mark>,
    /// The content of a scalar that is not in the input as it is.
    buffer: String,
    /// The events of a flow collection, kept until it is clear what follows it.
    flow: Vec<Event<'a>>,
    events: usize,
    consume: F,
}

impl<'a, F> SimpleReader<'a, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    fn document(&mut self) -> Step {
        self.cursor.seek_content();
        if self.cursor.skip_document_start() {
            self.cursor.next_content();
        }
        if self.cursor.is_at_end() {
            return Err(Stop::Unsupported);
        }
        let column = self.cursor.column();
        let root = self.head()?;
        self.node(root, column)?;
        while !self.cursor.is_at_end() {
            self.line()?;
        }
        while !self.open.is_empty() {
            self.end()?;
        }
        Ok(())
    }

    /// Reads a line of a block collection, up to the next line.
    fn line(&mut self) -> Step {
        let column = self.cursor.column();
        let head = self.head()?;
        while self.open.last().is_some_and(|open| open.column > column) {
            self.end()?;
        }
        let Some(&OpenBlock {
            column: around,
            kind,
        }) = self.open.last()
        else {
            return Err(Stop::Unsupported);
        };
        if column > around {
            self.missing.take().ok_or(Stop::Unsupported)?;
            return self.node(head, column);
        }
        match (head, kind) {
            (Head::Entry(mark), BlockKind::Mapping) => {
                self.missing.take().ok_or(Stop::Unsupported)?;
                self.start(BlockKind::Indentless, column, mark)?;
                self.entry()
            }
            (Head::Entry(_), BlockKind::Sequence | BlockKind::Indentless) => {
                self.fill_in_missing()?;
                self.entry()
            }
            (Head::Key(key), BlockKind::Mapping | BlockKind::Indentless) => {
                if kind == BlockKind::Indentless {
                    self.end()?;
                }
                self.fill_in_missing()?;
                self.scalar(&key)?;
                self.value()
            }
            _ => Err(Stop::Unsupported),
        }
    }

    /// Reads the start of a line or of its rest.
    fn head(&mut self) -> Step<Head<'a>> {
        match self.cursor.byte() {
            Some(b'-') if self.cursor.is_blank_after(1) => {
                let mark = self.cursor.mark();
                self.cursor.skip(1);
                Ok(Head::Entry(mark))
            }
            Some(b'[' | b'{' | b'|' | b'>') => Ok(Head::Other),
            _ => self.key_or_value(),
        }
    }

    /// Reads a value with this start: the first line of a collection, or the whole value.
    fn node(&mut self, head: Head<'a>, column: usize) -> Step {
        match head {
            Head::Entry(mark) => {
                self.start(BlockKind::Sequence, column, mark)?;
                self.entry()
            }
            Head::Key(key) => {
                self.start(BlockKind::Mapping, column, key.mark)?;
                self.scalar(&key)?;
                self.value()
            }
            head => self.inline(head),
        }
    }

    /// Reads what follows a `-`. A line can have any number of them, so this is a loop and not a recursion.
    fn entry(&mut self) -> Step {
        while !self.leave_missing() {
            let column = self.cursor.column();
            match self.head()? {
                Head::Entry(mark) => self.start(BlockKind::Sequence, column, mark)?,
                head => return self.node(head, column),
            }
        }
        Ok(())
    }

    /// Reads what follows a key and its `:`.
    fn value(&mut self) -> Step {
        if self.leave_missing() {
            return Ok(());
        }
        match self.head()? {
            Head::Entry(_) | Head::Key(_) => Err(Stop::Unsupported),
            head => self.inline(head),
        }
    }

    /// Skips to the value on this line. If there is none, notes that and goes to the next line, where it may be.
    fn leave_missing(&mut self) -> bool {
        let after = self.cursor.mark();
        self.cursor.skip_spaces();
        let is_missing = self.cursor.is_at_line_end();
        if is_missing {
            self.missing = Some(after);
            self.cursor.next_content();
        }
        is_missing
    }

    /// Reads a value that is not a block collection, up to the next line.
    fn inline(&mut self, head: Head<'a>) -> Step {
        // Other rules apply if the document is a scalar.
        if self.open.is_empty() {
            return Err(Stop::Unsupported);
        }
        let Head::Value(scalar) = head else {
            return match self.cursor.byte() {
                Some(b'[' | b'{') => self.flow_collection(),
                _ => self.block_scalar(),
            };
        };
        if !self.cursor.is_at_line_end() {
            return Err(Stop::Unsupported);
        }
        let is_after_comment = self.cursor.next_content();
        // A plain scalar continues on lines that are indented deeper.
        if scalar.style == Style::Plain
            && !is_after_comment
            && !self.cursor.is_at_end()
            && self.cursor.column() >= self.inside()
        {
            return Err(Stop::Unsupported);
        }
        self.scalar(&scalar)
    }

    /// The first column that is inside of the innermost collection.
    fn inside(&self) -> usize {
        self.open.last().map_or(0, |open| open.column + 1)
    }

    fn start(&mut self, kind: BlockKind, column: usize, mark: Mark) -> Step {
        self.open.push(OpenBlock { column, kind });
        let (anchor, tag, flow) = (None, None, false);
        let kind = match kind {
            BlockKind::Mapping => EventKind::MappingStart { anchor, tag, flow },
            BlockKind::Sequence | BlockKind::Indentless => {
                EventKind::SequenceStart { anchor, tag, flow }
            }
        };
        self.deliver(Event { kind, mark })
    }

    /// Ends the innermost collection.
    fn end(&mut self) -> Step {
        self.fill_in_missing()?;
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let kind = match open.kind {
            BlockKind::Mapping => EventKind::MappingEnd,
            BlockKind::Sequence | BlockKind::Indentless => EventKind::SequenceEnd,
        };
        let mark = self.cursor.mark();
        self.deliver(Event { kind, mark })
    }

    /// Delivers an empty value if the last key or `-` has none.
    fn fill_in_missing(&mut self) -> Step {
        let Some(mark) = self.missing.take() else {
            return Ok(());
        };
        self.scalar(&ScalarToken {
            text: Some(""),
            style: Style::Plain,
            mark,
        })
    }

    fn scalar(&mut self, scalar: &ScalarToken<'a>) -> Step {
        // Not by `deliver`, since the event borrows the buffer.
        let event = scalar.event(&self.buffer);
        self.events += 1;
        (self.consume)(event).map_err(|error| Stop::Refused(Box::new(error)))
    }

    fn deliver(&mut self, event: Event<'_>) -> Step {
        self.events += 1;
        (self.consume)(event).map_err(|error| Stop::Refused(Box::new(error)))
    }
}

#[cfg(test)]
mod tests;
