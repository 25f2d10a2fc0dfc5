//! Events to YAML, with the emitter that Ruby uses.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use libyaml_rs as sys;

use crate::Style;

/// Writes events to memory with Ruby's settings: two spaces of indentation, lines of about 80 characters.
pub(crate) struct Emitter {
    // Invariant: made by `Box::into_raw`, initialized, and not moved until `drop`.
    raw: *mut sys::yaml_emitter_t,
    // Invariant: made by `Box::into_raw`; `raw` writes to it, and nothing else does.
    output: *mut Vec<u8>,
}

/// The requested style of a scalar. The emitter overrides it where the content does not allow it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoting {
    /// `None`: the emitter chooses.
    pub(crate) style: Option<Style>,
    /// Whether the tag is left out if the scalar is plain.
    pub(crate) plain_implicit: bool,
    /// Whether the tag is left out if the scalar is not plain.
    pub(crate) quoted_implicit: bool,
}

/// Why the emitter stopped.
#[derive(Debug)]
pub(crate) struct EmitError(pub(crate) String);

impl Emitter {
    pub(crate) fn new() -> Self {
        let raw = Box::into_raw(Box::new(MaybeUninit::<sys::yaml_emitter_t>::uninit())).cast();
        let output = Box::into_raw(Box::new(Vec::new()));
        // SAFETY: `raw` points to memory of the right size, which `yaml_emitter_initialize` fills and never fails to
        // (it aborts without memory). `append` gets the pointer it expects, which lives until after `raw`.
        unsafe {
            let initialized = sys::yaml_emitter_initialize(raw);
            debug_assert!(initialized.ok);
            sys::yaml_emitter_set_output(raw, append, output.cast());
            sys::yaml_emitter_set_unicode(raw, true);
            sys::yaml_emitter_set_indent(raw, 2);
        }
        Emitter { raw, output }
    }

    /// Starts the stream and its only document, with `---`.
    pub(crate) fn start(&mut self) -> Result<(), EmitError> {
        // SAFETY: each call fills the event it is given; null pointers stand for no directives.
        self.emit(|event| unsafe {
            sys::yaml_stream_start_event_initialize(event, sys::YAML_UTF8_ENCODING).ok
        })?;
        let none = ptr::null_mut();
        // SAFETY: as above.
        self.emit(|event| unsafe {
            sys::yaml_document_start_event_initialize(event, ptr::null_mut(), none, none, false).ok
        })
    }

    /// Ends the document and the stream, and returns the output.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, EmitError> {
        // SAFETY: each call fills the event it is given.
        self.emit(|event| unsafe { sys::yaml_document_end_event_initialize(event, true).ok })?;
        // SAFETY: as above.
        self.emit(|event| unsafe { sys::yaml_stream_end_event_initialize(event).ok })?;
        // SAFETY: `output` is valid, and `raw`, the only other user, is not running.
        Ok(std::mem::take(unsafe { &mut *self.output }))
    }

    /// Emits a scalar. `text` has the form of UTF-8, but may contain code points beyond Unicode.
    pub(crate) fn scalar(
        &mut self,
        text: &[u8],
        tag: Option<&CStr>,
        quoting: Quoting,
    ) -> Result<(), EmitError> {
        let length = i32::try_from(text.len())
            .map_err(|_| EmitError("a string of more than two gigabytes".to_owned()))?;
        let style = match quoting.style {
            None => sys::YAML_ANY_SCALAR_STYLE,
            Some(Style::Plain) => sys::YAML_PLAIN_SCALAR_STYLE,
            Some(Style::SingleQuoted) => sys::YAML_SINGLE_QUOTED_SCALAR_STYLE,
            Some(Style::DoubleQuoted) => sys::YAML_DOUBLE_QUOTED_SCALAR_STYLE,
            Some(Style::Literal) => sys::YAML_LITERAL_SCALAR_STYLE,
            Some(Style::Folded) => sys::YAML_FOLDED_SCALAR_STYLE,
        };
        // SAFETY: the tag ends with a NUL, the text has `length` bytes, and the event gets copies of both.
        self.emit(|event| unsafe {
            sys::yaml_scalar_event_initialize(
                event,
                ptr::null(),
                tag.map_or(ptr::null(), |tag| tag.as_ptr().cast()),
                text.as_ptr(),
                length,
                quoting.plain_implicit,
                quoting.quoted_implicit,
                style,
            )
            .ok
        })
    }

    pub(crate) fn start_sequence(&mut self) -> Result<(), EmitError> {
        let style = sys::YAML_BLOCK_SEQUENCE_STYLE;
        // SAFETY: the call fills the event it is given; null pointers stand for no anchor and no tag.
        self.emit(|event| unsafe {
            sys::yaml_sequence_start_event_initialize(event, ptr::null(), ptr::null(), true, style)
                .ok
        })
    }

    pub(crate) fn end_sequence(&mut self) -> Result<(), EmitError> {
        // SAFETY: the call fills the event it is given.
        self.emit(|event| unsafe { sys::yaml_sequence_end_event_initialize(event).ok })
    }

    pub(crate) fn start_mapping(&mut self) -> Result<(), EmitError> {
        let style = sys::YAML_BLOCK_MAPPING_STYLE;
        // SAFETY: the call fills the event it is given; null pointers stand for no anchor and no tag.
        self.emit(|event| unsafe {
            sys::yaml_mapping_start_event_initialize(event, ptr::null(), ptr::null(), true, style)
                .ok
        })
    }

    pub(crate) fn end_mapping(&mut self) -> Result<(), EmitError> {
        // SAFETY: the call fills the event it is given.
        self.emit(|event| unsafe { sys::yaml_mapping_end_event_initialize(event).ok })
    }

    /// Emits the event that `fill` creates. `fill` must fill the event that it gets or return false.
    fn emit(&mut self, fill: impl FnOnce(*mut sys::yaml_event_t) -> bool) -> Result<(), EmitError> {
        let mut event = MaybeUninit::uninit();
        if !fill(event.as_mut_ptr()) {
            return Err(EmitError("cannot create the event".to_owned()));
        }
        // SAFETY: the event is filled, and the emitter takes it over, even if it fails.
        unsafe {
            if sys::yaml_emitter_emit(self.raw, event.as_mut_ptr()).ok {
                return Ok(());
            }
            let problem = (**self.raw).problem;
            Err(EmitError(if problem.is_null() {
                "unknown problem".to_owned()
            } else {
                let problem = CStr::from_ptr(problem.cast());
                problem.to_string_lossy().into_owned()
            }))
        }
    }
}

impl Drop for Emitter {
    fn drop(&mut self) {
        // SAFETY: both come from boxes of these types. `raw` goes first, since it points to `output`.
        unsafe {
            sys::yaml_emitter_delete(self.raw);
            drop(Box::from_raw(
                self.raw.cast::<MaybeUninit<sys::yaml_emitter_t>>(),
            ));
            drop(Box::from_raw(self.output));
        }
    }
}

/// Appends the emitter's buffer to the output.
///
/// # Safety
///
/// `data` must be the pointer to the output, and `buffer` must have `size` bytes.
unsafe fn append(data: *mut c_void, buffer: *mut u8, size: u64) -> i32 {
    let Ok(size) = usize::try_from(size) else {
        return 0;
    };
    // SAFETY: as required above; nothing else refers to the output while the emitter runs.
    unsafe {
        let output = &mut *data.cast::<Vec<u8>>();
        output.extend_from_slice(std::slice::from_raw_parts(buffer, size));
    }
    1
}
