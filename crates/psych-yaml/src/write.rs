//! Values to the text of Ruby's `to_yaml`.

mod astral;
mod text;

pub use text::float_text;

use std::ffi::CStr;

use astral::Astral;
use num_bigint::BigInt;

use crate::libyaml::{EmitError, Emitter, Quoting};
use crate::{Style, base64};

/// Writes one value, part by part, as Ruby's `to_yaml` does.
///
/// A collection is begun, filled and ended; a mapping is filled with a key and a value in turn. What went wrong is
/// told at the [end](Writer::finish).
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

/// Why the parts do not make a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Nothing was written.
    #[error("there is no value")]
    NoValue,
    /// Something was written after the value.
    #[error("there is a second value")]
    SecondValue,
    /// A collection was not ended.
    #[error("a collection is not ended")]
    Unended,
    /// A collection was ended that was not begun, or is of the other kind.
    #[error("the end of a {kind} does not belong here")]
    UnexpectedEnd {
        /// `sequence` or `mapping`.
        kind: &'static str,
    },
    /// A mapping was ended after a key.
    #[error("a key has no value")]
    NoValueForKey,
    /// The emitter refused.
    #[error("{problem}")]
    Emitter {
        /// Its words.
        problem: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    Begun,
}

/// What comes next in an open collection, besides its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Element,
    Key,
    Value,
}

/// Plain where that is possible.
const UNQUOTED: Quoting = Quoting {
    style: None,
    plain_implicit: true,
    quoted_implicit: false,
};

impl Writer {
    /// Begins a document.
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

    /// Writes nothing: a null.
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

    /// Writes a text, in quotes or as a block where it would be read as something else.
    pub fn string(&mut self, text: &str) {
        if text == "<<" {
            // With the tag it is no merge key.
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

    /// Writes bytes: as a text if they are ASCII, else tagged `!binary`.
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

    /// Writes a symbol: its name after a colon.
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

    /// Ends the document and gives its text.
    ///
    /// # Errors
    ///
    /// When the parts do not make exactly one value.
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

    /// Emits a value, or the beginning of one.
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

    /// Notes the first thing that went wrong.
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
