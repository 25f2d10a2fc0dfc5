//! Bytes to events, with the scanner that Ruby uses.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use libyaml_rs as sys;

use crate::{Mark, Style};

/// Parses a document in memory event by event.
pub(crate) struct Parser<'a> {
    // Invariant: made by `Box::into_raw`, initialized, and not moved until `drop`, since it points to itself.
    raw: *mut sys::yaml_parser_t,
    // Invariant: holds the event that was returned last, or an empty one.
    event: sys::yaml_event_t,
    input: PhantomData<&'a [u8]>,
}

/// An event, valid until the next one is parsed.
#[derive(Debug)]
pub(crate) struct Event<'e> {
    pub(crate) kind: EventKind<'e>,
    /// Where the event starts.
    pub(crate) mark: Mark,
}

#[derive(Debug)]
pub(crate) enum EventKind<'e> {
    StreamStart,
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias {
        name: &'e str,
    },
    Scalar {
        anchor: Option<&'e str>,
        tag: Option<&'e str>,
        text: &'e str,
        style: Style,
        /// Quoted and without a tag, so it is a string whatever it contains.
        verbatim: bool,
    },
    SequenceStart {
        anchor: Option<&'e str>,
        tag: Option<&'e str>,
        flow: bool,
    },
    SequenceEnd,
    MappingStart {
        anchor: Option<&'e str>,
        tag: Option<&'e str>,
        flow: bool,
    },
    MappingEnd,
}

/// Why there is no next event.
#[derive(Debug)]
pub(crate) enum SyntaxError {
    /// The bytes are not UTF-8, or contain characters that YAML does not allow.
    Reader { problem: String, offset: usize },
    /// The input is not YAML.
    Parser {
        problem: String,
        mark: Mark,
        context: Option<String>,
        context_mark: Mark,
    },
    /// A tag with escapes that are not UTF-8.
    Encoding { mark: Mark },
}

impl<'a> Parser<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        let raw = Box::into_raw(Box::new(MaybeUninit::<sys::yaml_parser_t>::uninit())).cast();
        // SAFETY: `raw` points to memory of the right size, which `yaml_parser_initialize` fills and never fails to
        // (it aborts without memory). `input` outlives `self` by `'a`. The encoding is set before the first read, as
        // the function requires; Ruby sets it too, so byte order marks and UTF-16 are not detected.
        unsafe {
            let initialized = sys::yaml_parser_initialize(raw);
            debug_assert!(initialized.ok);
            sys::yaml_parser_set_input_string(raw, input.as_ptr(), input.len() as u64);
            sys::yaml_parser_set_encoding(raw, sys::YAML_UTF8_ENCODING);
        }
        Parser {
            raw,
            event: empty_event(),
            input: PhantomData,
        }
    }

    /// The next event. After an error or the end of the stream, it is always the end of the stream.
    pub(crate) fn next(&mut self) -> Result<Event<'_>, SyntaxError> {
        self.free_event();
        // SAFETY: `raw` is initialized and `event` is free to be overwritten.
        let parsed = unsafe { sys::yaml_parser_parse(self.raw, &raw mut self.event) };
        if parsed.fail {
            self.event = empty_event();
            return Err(self.error());
        }
        let mark = mark(self.event.start_mark);
        // SAFETY: the event was just filled, and is not deleted while the returned event borrows `self`.
        match unsafe { kind(&self.event) } {
            Ok(kind) => Ok(Event { kind, mark }),
            Err(NotUtf8) => Err(SyntaxError::Encoding { mark }),
        }
    }

    fn error(&self) -> SyntaxError {
        // SAFETY: `raw` is initialized. The texts are literals of the library, or null.
        unsafe {
            let parser = &**self.raw;
            let problem = literal(parser.problem).unwrap_or_default();
            if parser.error == sys::YAML_READER_ERROR {
                let offset = usize::try_from(parser.problem_offset).unwrap_or(usize::MAX);
                return SyntaxError::Reader { problem, offset };
            }
            SyntaxError::Parser {
                problem,
                mark: mark(parser.problem_mark),
                context: literal(parser.context),
                context_mark: mark(parser.context_mark),
            }
        }
    }

    fn free_event(&mut self) {
        // SAFETY: `event` is an event of this parser or an empty one; deleting makes it empty.
        unsafe { sys::yaml_event_delete(&raw mut self.event) }
    }
}

impl Drop for Parser<'_> {
    fn drop(&mut self) {
        self.free_event();
        // SAFETY: `raw` is initialized and comes from a box of this type. Nothing uses it afterwards.
        unsafe {
            sys::yaml_parser_delete(self.raw);
            drop(Box::from_raw(
                self.raw.cast::<MaybeUninit<sys::yaml_parser_t>>(),
            ));
        }
    }
}

fn empty_event() -> sys::yaml_event_t {
    // SAFETY: the library itself represents an empty event by zeros: type `YAML_NO_EVENT`, null pointers.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

struct NotUtf8;

/// # Safety
///
/// The event must have been filled by the parser and not been deleted.
unsafe fn kind(event: &sys::yaml_event_t) -> Result<EventKind<'_>, NotUtf8> {
    // SAFETY: `type_` says which member of the union is filled; its pointers are null or NUL-terminated and belong to
    // the event, and a scalar's value has `length` bytes.
    unsafe {
        Ok(match event.type_ {
            sys::YAML_STREAM_START_EVENT => EventKind::StreamStart,
            sys::YAML_DOCUMENT_START_EVENT => EventKind::DocumentStart,
            sys::YAML_DOCUMENT_END_EVENT => EventKind::DocumentEnd,
            sys::YAML_ALIAS_EVENT => EventKind::Alias {
                name: text(event.data.alias.anchor)?.unwrap_or_default(),
            },
            sys::YAML_SCALAR_EVENT => {
                let scalar = &event.data.scalar;
                let length = usize::try_from(scalar.length).unwrap_or(0);
                let value = std::slice::from_raw_parts(scalar.value, length);
                EventKind::Scalar {
                    anchor: text(scalar.anchor)?,
                    tag: text(scalar.tag)?,
                    text: std::str::from_utf8(value).map_err(|_| NotUtf8)?,
                    style: style(scalar.style),
                    verbatim: scalar.quoted_implicit,
                }
            }
            sys::YAML_SEQUENCE_START_EVENT => {
                let start = &event.data.sequence_start;
                EventKind::SequenceStart {
                    anchor: text(start.anchor)?,
                    tag: text(start.tag)?,
                    flow: start.style == sys::YAML_FLOW_SEQUENCE_STYLE,
                }
            }
            sys::YAML_SEQUENCE_END_EVENT => EventKind::SequenceEnd,
            sys::YAML_MAPPING_START_EVENT => {
                let start = &event.data.mapping_start;
                EventKind::MappingStart {
                    anchor: text(start.anchor)?,
                    tag: text(start.tag)?,
                    flow: start.style == sys::YAML_FLOW_MAPPING_STYLE,
                }
            }
            sys::YAML_MAPPING_END_EVENT => EventKind::MappingEnd,
            // After the end of the stream, the parser returns empty events.
            _ => EventKind::StreamEnd,
        })
    }
}

fn style(style: sys::yaml_scalar_style_t) -> Style {
    match style {
        sys::YAML_SINGLE_QUOTED_SCALAR_STYLE => Style::SingleQuoted,
        sys::YAML_DOUBLE_QUOTED_SCALAR_STYLE => Style::DoubleQuoted,
        sys::YAML_LITERAL_SCALAR_STYLE => Style::Literal,
        sys::YAML_FOLDED_SCALAR_STYLE => Style::Folded,
        _ => Style::Plain,
    }
}

/// # Safety
///
/// The pointer must be null or point to a NUL-terminated string that lives for `'e`.
unsafe fn text<'e>(pointer: *const u8) -> Result<Option<&'e str>, NotUtf8> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as required above.
    let text = unsafe { CStr::from_ptr(pointer.cast()) };
    text.to_str().map(Some).map_err(|_| NotUtf8)
}

/// # Safety
///
/// The pointer must be null or point to a NUL-terminated string.
unsafe fn literal(pointer: *const i8) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: as required above.
    let text = unsafe { CStr::from_ptr(pointer.cast()) };
    Some(text.to_string_lossy().into_owned())
}

fn mark(mark: sys::yaml_mark_t) -> Mark {
    let from_one = |index: u64| u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
    Mark {
        line: from_one(mark.line),
        column: from_one(mark.column),
    }
}
