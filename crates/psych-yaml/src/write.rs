//! Values to YAML, as Ruby's `to_yaml` writes them.

mod astral;
mod text;

use std::ffi::CStr;

use astral::Astral;
use num_bigint::BigInt;

use crate::libyaml::{EmitError, Emitter, Quoting};
use crate::{Style, base64};

/// Writes a value part by part, as Ruby's `to_yaml` does.
///
/// The parts of a collection come between its begin and its end; those of a mapping are keys and values in turn. Errors
/// are reported by [`finish`](Writer::finish).
///
/// ```
/// let mut writer = psych_yaml::Writer::new();
/// writer.begin_mapping();
/// writer.string("on");
/// writer.begin_sequence();
/// writer.integer(1);
/// writer.null();
/// writer.end_sequence();
/// writer.end_mapping();
/// assert_eq!(writer.finish()?, "---\n'on':\n- 1\n-\n");
/// # Ok::<(), psych_yaml::WriteError>(())
/// ```
pub struct Writer {
    emitter: Emitter,
    astral: Astral,
    /// The collections that are open, the innermost last.
    open: Vec<Expected>,
    state: Result<Progress, WriteError>,
}

/// Why the parts are not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Nothing was written.
    #[error("no value was written")]
    NoValue,
    /// Something was written after the value.
    #[error("more than one value was written")]
    SecondValue,
    /// A collection was not ended.
    #[error("a collection was not ended")]
    Unended,
    /// The end of a collection that was not begun, or of the wrong kind.
    #[error("unexpected end of a {kind}")]
    UnexpectedEnd {
        /// `sequence` or `mapping`.
        kind: &'static str,
    },
    /// A mapping was ended after a key.
    #[error("a key has no value")]
    NoValueForKey,
    /// libyaml failed.
    #[error("{problem}")]
    Emitter {
        /// Its message.
        problem: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    Begun,
}

/// What comes next in an open collection, unless it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Element,
    Key,
    Value,
}

/// Plain where possible.
const UNQUOTED: Quoting = Quoting {
    style: None,
    plain_implicit: true,
    quoted_implicit: false,
};

impl Writer {
    /// Starts a document.
    pub fn new() -> Self {
        let mut emitter = Emitter::new();
        let state = match emitter.start() {
            Ok(()) => Ok(Progress::Nothing),
            Err(error) => Err(error.into()),
        };
        Writer {
            emitter,
            astral: Astral::default(),
            open: Vec::new(),
            state,
        }
    }

    /// Writes a null, which is empty.
    pub fn null(&mut self) {
        self.scalar("", Some(c"tag:yaml.org,2002:null"), UNQUOTED);
    }

    /// Writes `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        let text = if value { "true" } else { "false" };
        self.scalar(text, None, UNQUOTED);
    }

    /// Writes an integer.
    pub fn integer(&mut self, number: i64) {
        self.scalar(&number.to_string(), None, UNQUOTED);
    }

    /// Writes an integer of any size.
    pub fn big_integer(&mut self, number: &BigInt) {
        self.scalar(&number.to_string(), None, UNQUOTED);
    }

    /// Writes a float.
    pub fn float(&mut self, number: f64) {
        self.scalar(&text::float(number), None, UNQUOTED);
    }

    /// Writes a string, in quotes or as a block where it would be read as something else.
    pub fn string(&mut self, text: &str) {
        if text == "<<" {
            // The tag keeps it from being a merge key.
            let quoting = Quoting {
                style: Some(Style::SingleQuoted),
                plain_implicit: false,
                quoted_implicit: false,
            };
            self.scalar(text, Some(c"tag:yaml.org,2002:str"), quoting);
            return;
        }
        let quoting = Quoting {
            style: Some(text::style(text)),
            plain_implicit: true,
            quoted_implicit: true,
        };
        self.scalar(text, None, quoting);
    }

    /// Writes bytes: as a string if they are ASCII, else tagged `!binary`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        if bytes.is_ascii()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            self.string(text);
            return;
        }
        let quoting = Quoting {
            style: Some(Style::Literal),
            plain_implicit: false,
            quoted_implicit: false,
        };
        let text = base64::encode(bytes);
        self.scalar(&text, Some(c"!binary"), quoting);
    }

    /// Writes a symbol: a colon and its name.
    pub fn symbol(&mut self, name: &str) {
        if name.is_empty() {
            let quoting = Quoting {
                plain_implicit: false,
                ..UNQUOTED
            };
            self.scalar("", Some(c"!ruby/symbol"), quoting);
            return;
        }
        let text = format!(":{name}");
        self.scalar(&text, None, UNQUOTED);
    }

    /// Begins a sequence.
    pub fn begin_sequence(&mut self) {
        self.value(Emitter::start_sequence);
        self.open.push(Expected::Element);
    }

    /// Ends a sequence.
    pub fn end_sequence(&mut self) {
        match self.open.pop() {
            Some(Expected::Element) => self.emit(Emitter::end_sequence),
            _ => self.fail(WriteError::UnexpectedEnd { kind: "sequence" }),
        }
    }

    /// Begins a mapping.
    pub fn begin_mapping(&mut self) {
        self.value(Emitter::start_mapping);
        self.open.push(Expected::Key);
    }

    /// Ends a mapping.
    pub fn end_mapping(&mut self) {
        match self.open.pop() {
            Some(Expected::Key) => self.emit(Emitter::end_mapping),
            Some(Expected::Value) => self.fail(WriteError::NoValueForKey),
            _ => self.fail(WriteError::UnexpectedEnd { kind: "mapping" }),
        }
    }

    /// Ends the document and returns it.
    ///
    /// # Errors
    ///
    /// If the parts are not exactly one value.
    pub fn finish(self) -> Result<String, WriteError> {
        match self.state? {
            Progress::Nothing => return Err(WriteError::NoValue),
            _ if !self.open.is_empty() => return Err(WriteError::Unended),
            _ => {}
        }
        let bytes = self.emitter.finish()?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(self.astral.unmask(text)),
            Err(error) => Err(WriteError::Emitter {
                problem: error.to_string(),
            }),
        }
    }

    fn scalar(&mut self, text: &str, tag: Option<&CStr>, quoting: Quoting) {
        let text = self.astral.mask(text);
        self.value(|emitter| emitter.scalar(&text, tag, quoting));
    }

    /// Emits a value, or the start of one.
    fn value(&mut self, emit: impl FnOnce(&mut Emitter) -> Result<(), EmitError>) {
        match (self.open.last_mut(), &mut self.state) {
            (_, Err(_)) => return,
            (None, Ok(progress @ Progress::Nothing)) => *progress = Progress::Begun,
            (None, Ok(_)) => return self.fail(WriteError::SecondValue),
            (Some(expected), Ok(_)) => {
                *expected = match expected {
                    Expected::Element => Expected::Element,
                    Expected::Key => Expected::Value,
                    Expected::Value => Expected::Key,
                };
            }
        }
        self.emit(emit);
    }

    fn emit(&mut self, emit: impl FnOnce(&mut Emitter) -> Result<(), EmitError>) {
        if self.state.is_ok()
            && let Err(error) = emit(&mut self.emitter)
        {
            self.fail(error.into());
        }
    }

    /// Keeps the first error.
    fn fail(&mut self, error: WriteError) {
        if self.state.is_ok() {
            self.state = Err(error);
        }
    }
}

impl Default for Writer {
    fn default() -> Self {
        Writer::new()
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("open", &self.open)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl From<EmitError> for WriteError {
    fn from(EmitError(problem): EmitError) -> Self {
        WriteError::Emitter { problem }
    }
}
