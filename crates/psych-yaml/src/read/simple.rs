//! The YAML that most data is written in, read in one pass.
//!
//! libyaml copies every character through two buffers and looks at it a dozen times. This reader gives the same events
//! for block collections, scalars on one line, block scalars and flow collections, at a fraction of the cost. It knows nothing else and never says that a text is wrong: before an anchor, a tag, a tab, a scalar over
//! several lines or a mistake it stops, and libyaml goes on from there (see [`read`](super::read)). So of every form
//! there are only two things to get right, what it means and where it ends.
//!
//! The text is taken line by line. What a line begins with (a `-`, a key, a value) and its column say which collections
//! end before it and which one begins, as in libyaml's scanner.

mod block_scalar;
mod cursor;
mod flow;
mod scalar;

use crate::error::ReadError;
use crate::libyaml::{Event, EventKind};
use crate::{Mark, Style};
use cursor::Cursor;
use scalar::Scalar;

/// Why not all of a text was read.
#[derive(Debug)]
pub(super) struct Stopped {
    /// How many events were handed over before.
    pub(super) events: usize,
    /// What the taker of the last one said; `None` where the text is none of this reader's.
    pub(super) error: Option<ReadError>,
}

/// Hands over the events of a text's only document, as far as this reader knows them.
pub(super) fn read<F>(bytes: &[u8], take: F) -> Result<(), Stopped>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    let Some(cursor) = Cursor::new(bytes) else {
        return Err(Stopped {
            events: 0,
            error: None,
        });
    };
    let mut reader = Reader {
        cursor,
        open: Vec::new(),
        missing: None,
        buffer: String::new(),
        flow: Vec::new(),
        events: 0,
        take,
    };
    reader.document().map_err(|stop| Stopped {
        events: reader.events,
        error: match stop {
            Stop::Unknown => None,
            Stop::Refused(error) => Some(*error),
        },
    })
}

enum Stop {
    /// Here is something that only libyaml can judge.
    Unknown,
    Refused(Box<ReadError>),
}

type Step<T = ()> = Result<T, Stop>;

/// A collection that has not ended.
struct Open {
    /// The column of its entries.
    column: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mapping,
    Sequence,
    /// A sequence whose `-` stand in the column of the key that it belongs to.
    Indentless,
}

/// What a line, or the rest of it after a `-`, begins with.
enum Head<'a> {
    /// `-`
    Entry(Mark),
    /// A scalar and its `:`.
    Key(Scalar<'a>),
    /// A scalar without one.
    Value(Scalar<'a>),
    /// What starts a flow collection or a block scalar; it is not read yet.
    Other,
}

struct Reader<'a, F> {
    cursor: Cursor<'a>,
    open: Vec<Open>,
    /// Where the value of the last key or `-` would stand if there is none; `None` where it has one.
    missing: Option<Mark>,
    /// A scalar's text that does not stand in the input as it is.
    buffer: String,
    /// The events of a flow collection, kept until it is known what follows it.
    flow: Vec<Event<'a>>,
    events: usize,
    take: F,
}

impl<'a, F> Reader<'a, F>
where
    F: FnMut(Event<'_>) -> Result<(), ReadError>,
{
    fn document(&mut self) -> Step {
        self.cursor.seek_content();
        if self.cursor.skip_document_start() {
            self.cursor.next_content();
        }
        if self.cursor.is_at_end() {
            return Err(Stop::Unknown);
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

    /// A line of a block collection, up to the next one.
    fn line(&mut self) -> Step {
        let column = self.cursor.column();
        let head = self.head()?;
        while self.open.last().is_some_and(|open| open.column > column) {
            self.end()?;
        }
        let Some(&Open {
            column: around,
            kind,
        }) = self.open.last()
        else {
            return Err(Stop::Unknown);
        };
        if column > around {
            self.missing.take().ok_or(Stop::Unknown)?;
            return self.node(head, column);
        }
        match (head, kind) {
            (Head::Entry(mark), Kind::Mapping) => {
                self.missing.take().ok_or(Stop::Unknown)?;
                self.start(Kind::Indentless, column, mark)?;
                self.entry()
            }
            (Head::Entry(_), Kind::Sequence | Kind::Indentless) => {
                self.fill_in_missing()?;
                self.entry()
            }
            (Head::Key(key), Kind::Mapping | Kind::Indentless) => {
                if kind == Kind::Indentless {
                    self.end()?;
                }
                self.fill_in_missing()?;
                self.scalar(&key)?;
                self.value()
            }
            _ => Err(Stop::Unknown),
        }
    }

    /// What a line or its rest begins with.
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

    /// A value that begins with this: a collection that goes on in the next lines, or all of it.
    fn node(&mut self, head: Head<'a>, column: usize) -> Step {
        match head {
            Head::Entry(mark) => {
                self.start(Kind::Sequence, column, mark)?;
                self.entry()
            }
            Head::Key(key) => {
                self.start(Kind::Mapping, column, key.mark)?;
                self.scalar(&key)?;
                self.value()
            }
            head => self.inline(head),
        }
    }

    /// What follows a `-`. There may be any number of them in a line, so this calls itself for none.
    fn entry(&mut self) -> Step {
        while !self.leave_missing() {
            let column = self.cursor.column();
            match self.head()? {
                Head::Entry(mark) => self.start(Kind::Sequence, column, mark)?,
                head => return self.node(head, column),
            }
        }
        Ok(())
    }

    /// What follows a key and its `:`.
    fn value(&mut self) -> Step {
        if self.leave_missing() {
            return Ok(());
        }
        match self.head()? {
            Head::Entry(_) | Head::Key(_) => Err(Stop::Unknown),
            head => self.inline(head),
        }
    }

    /// Goes on to the next line where this one has nothing more: a value may come there. Otherwise goes to what it has.
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

    /// A value that is no block collection, up to the next line.
    fn inline(&mut self, head: Head<'a>) -> Step {
        // A document that is one scalar has rules of its own.
        if self.open.is_empty() {
            return Err(Stop::Unknown);
        }
        let Head::Value(scalar) = head else {
            return match self.cursor.byte() {
                Some(b'[' | b'{') => self.flow_collection(),
                _ => self.block_scalar(),
            };
        };
        if !self.cursor.is_at_line_end() {
            return Err(Stop::Unknown);
        }
        let is_after_comment = self.cursor.next_content();
        // A plain scalar goes on in lines that are further in.
        if scalar.style == Style::Plain
            && !is_after_comment
            && !self.cursor.is_at_end()
            && self.cursor.column() >= self.inside()
        {
            return Err(Stop::Unknown);
        }
        self.scalar(&scalar)
    }

    /// The first column that is further in than what is open.
    fn inside(&self) -> usize {
        self.open.last().map_or(0, |open| open.column + 1)
    }

    fn start(&mut self, kind: Kind, column: usize, mark: Mark) -> Step {
        self.open.push(Open { column, kind });
        let (anchor, tag, flow) = (None, None, false);
        let kind = match kind {
            Kind::Mapping => EventKind::MappingStart { anchor, tag, flow },
            Kind::Sequence | Kind::Indentless => EventKind::SequenceStart { anchor, tag, flow },
        };
        self.hand_over(Event { kind, mark })
    }

    /// Ends the innermost collection.
    fn end(&mut self) -> Step {
        self.fill_in_missing()?;
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let kind = match open.kind {
            Kind::Mapping => EventKind::MappingEnd,
            Kind::Sequence | Kind::Indentless => EventKind::SequenceEnd,
        };
        let mark = self.cursor.mark();
        self.hand_over(Event { kind, mark })
    }

    /// The value of a key or `-` that has none.
    fn fill_in_missing(&mut self) -> Step {
        let Some(mark) = self.missing.take() else {
            return Ok(());
        };
        self.scalar(&Scalar {
            text: Some(""),
            style: Style::Plain,
            mark,
        })
    }

    fn scalar(&mut self, scalar: &Scalar<'a>) -> Step {
        let event = scalar.event(&self.buffer);
        self.events += 1;
        (self.take)(event).map_err(|error| Stop::Refused(Box::new(error)))
    }

    fn hand_over(&mut self, event: Event<'_>) -> Step {
        self.events += 1;
        (self.take)(event).map_err(|error| Stop::Refused(Box::new(error)))
    }
}

#[cfg(test)]
mod tests;
