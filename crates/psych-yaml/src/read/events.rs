//! The events of libyaml, with limits on what takes it quadratic time.
//!
//! Puppet: a key without `?` can have 1,024 characters in Ruby and 1,024 bytes here, because `libyaml-rs` counts
//! positions in bytes.

use crate::Mark;
use crate::error::{Limit, Problem, ReadError};
use crate::libyaml::{Event, EventKind, Parser, SyntaxError};

/// The scanner takes quadratic time in the depth of flow collections: 256 levels take two milliseconds.
const FLOW_DEPTH: usize = 256;

/// The parser takes quadratic time in the number of `%TAG` lines.
const DIRECTIVES: usize = 1000;

/// The events of a document.
pub(super) struct Events<'a> {
    parser: Parser<'a>,
    bytes: &'a [u8],
    flow_depth: usize,
}

impl<'a> Events<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, ReadError> {
        check_directives(bytes)?;
        Ok(Events {
            parser: Parser::new(bytes),
            bytes,
            flow_depth: 0,
        })
    }

    pub(super) fn next(&mut self) -> Result<Event<'_>, ReadError> {
        let event = match self.parser.next() {
            Ok(event) => event,
            Err(error) => return Err(syntax_error(error, self.bytes)),
        };
        match event.kind {
            // A flow collection only contains flow collections.
            EventKind::SequenceStart { flow, .. } | EventKind::MappingStart { flow, .. }
                if flow || self.flow_depth > 0 =>
            {
                self.flow_depth += 1;
                if self.flow_depth > FLOW_DEPTH {
                    let limit = Limit::FlowDepth(FLOW_DEPTH);
                    return Err(ReadError::new(Problem::Limit(limit), event.mark));
                }
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                self.flow_depth = self.flow_depth.saturating_sub(1);
            }
            _ => {}
        }
        Ok(event)
    }

    /// Skips the first events of the first document, which the simple reader has already delivered.
    pub(super) fn skip(&mut self, count: usize) -> Result<(), ReadError> {
        let mut skipped = 0;
        while skipped < count {
            match self.next()?.kind {
                EventKind::StreamStart | EventKind::DocumentStart => {}
                // The two readers disagree.
                EventKind::StreamEnd | EventKind::DocumentEnd => {
                    debug_assert!(false, "{skipped} events instead of {count}");
                    break;
                }
                _ => skipped += 1,
            }
        }
        Ok(())
    }

    /// The error to report for an invalid value: a later syntax error, if there is one.
    pub(super) fn syntax_error_after(&mut self, error: ReadError) -> ReadError {
        if matches!(error.problem(), Problem::Limit(_)) {
            return error;
        }
        loop {
            match self.next() {
                Ok(event) => {
                    if matches!(event.kind, EventKind::StreamEnd | EventKind::DocumentEnd) {
                        return error;
                    }
                }
                Err(later) if matches!(later.problem(), Problem::Syntax { .. }) => return later,
                Err(_) => return error,
            }
        }
    }
}

fn syntax_error(error: SyntaxError, bytes: &[u8]) -> ReadError {
    const START: Mark = Mark { line: 1, column: 1 };
    match error {
        SyntaxError::Reader { problem, offset } => ReadError::new(
            Problem::Syntax {
                problem,
                context: None,
                context_mark: START,
            },
            mark_at(bytes, offset),
        ),
        SyntaxError::Parser {
            problem,
            mark,
            context,
            context_mark,
        } => ReadError::new(
            Problem::Syntax {
                problem,
                context,
                context_mark,
            },
            mark,
        ),
        SyntaxError::Encoding { mark } => ReadError::new(Problem::TagEncoding, mark),
    }
}

/// The position of a byte in input that is valid up to it.
fn mark_at(bytes: &[u8], offset: usize) -> Mark {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let text = String::from_utf8_lossy(before);
    let line_start = text.rfind('\n').map_or(0, |end| end + 1);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
    Mark {
        line: count(text.matches('\n').count()),
        column: count(
            text.chars().count() - text.get(..line_start).map_or(0, |t| t.chars().count()),
        ),
    }
}

/// Refuses input that starts with too many directives, before libyaml parses them.
fn check_directives(bytes: &[u8]) -> Result<(), ReadError> {
    let mut directives = 0;
    for (index, line) in bytes
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .enumerate()
    {
        match line.trim_ascii_start().first() {
            // Not one per line, since libyaml also has other line breaks.
            Some(b'%') => directives += line.iter().filter(|&&byte| byte == b'%').count(),
            None | Some(b'#') => continue,
            Some(_) => break,
        }
        if directives > DIRECTIVES {
            let mark = Mark {
                line: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
                column: 1,
            };
            let limit = Limit::Directives(DIRECTIVES);
            return Err(ReadError::new(Problem::Limit(limit), mark));
        }
    }
    Ok(())
}
