//! Data files: bytes → [`DataFile`], everything that can be done once done here and not on a lookup.
//!
//! Texts with `%{` become templates, `lookup_options` are compiled, texts that repeat are shared. A file that
//! cannot be read or parsed is a [`DataFile`] too: one that says so to whoever looks into it.

mod build;
pub mod hocon;
pub mod json;
mod sealed;

use std::hash::BuildHasher;
use std::sync::Arc;

use arcstr::ArcStr;
use lean_string::LeanStr;
use psych_yaml::{Limits, Mark};

use self::build::ValueBuilder;
use self::sealed::Sealed;
pub use self::sealed::{KEY_OPTIONS, KeyStore};
use crate::Value;
use crate::hash::Hash;
use crate::options::{FileOptions, LOOKUP_OPTIONS, OptionsError, OptionsNotes};
use crate::strictness::Strictness;
use crate::table_key::{KeyFilter, TableKey, hash_of};
use crate::template::{DecryptFault, Template};
use crate::types::{self, Type};

/// The formats of data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// As `yaml_data` reads it.
    Yaml,
    /// As `json_data` reads it.
    Json,
    /// As `hocon_data` reads it.
    Hocon,
    /// As `eyaml_lookup_key` reads it, with the keys that go by this number.
    Eyaml(KeysId),
    /// Of a function that is not there: it matters only whether the file exists.
    Unknown,
}

impl Format {
    /// Those of functions that hand on what they have read as it is.
    pub(crate) const PLAIN: [Format; 3] = [Format::Yaml, Format::Json, Format::Hocon];
}

/// What tells the keys of one level from those of another: a digest of the options that name them.
pub type KeysId = u64;

/// Decrypts a text as it stands in a file; an error must not tell anything of what is secret.
pub type Decrypt<'a> = &'a dyn Fn(&str) -> Result<String, DecryptFault>;

/// Is there something to decrypt in a text: `ENC[` and, in the same line, a `]`?
pub fn is_encrypted(text: &str) -> bool {
    let is_closed = |rest: &str| {
        rest.split('\n')
            .next()
            .is_some_and(|line| line.contains(']'))
    };
    text.split("ENC[").skip(1).any(is_closed)
}

/// A file of a hierarchy level.
#[derive(Debug)]
pub struct DataFile {
    path: ArcStr,
    contents: Result<Contents, FileFault>,
    /// Where its keys depend on the node.
    sealed: Option<Sealed>,
}

/// What a good file holds.
#[derive(Debug, Default)]
pub struct Contents {
    data: Hash,
    /// Of its keys. Most files do not have the key that is looked up.
    filter: KeyFilter,
    options: FileOptions,
    /// Where they are written and what is wrong with them. `None` where there are none.
    options_notes: Option<Arc<OptionsNotes>>,
    /// Puppet fails on a module's file that has such a key.
    has_other_keys: bool,
    /// What was found odd and is no fault.
    notices: Vec<Notice>,
    /// What could not be decrypted: a fault of the lookups that need it.
    undecryptable: Vec<Notice>,
    /// What the file holds where that is neither a hash nor nothing.
    instead_of_hash: Option<&'static str>,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// It is there and cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: ArcStr,
        /// What the system says.
        reason: String,
    },
    /// It is a directory.
    #[error("cannot read `{path}`: it is a directory")]
    Directory {
        /// The directory.
        path: ArcStr,
    },
    /// It is not what it should be.
    #[error("cannot parse `{path}`:{line}:{column}: {problem}")]
    Unparsable {
        /// The file.
        path: ArcStr,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong there.
        problem: String,
        /// The same in Puppet's words, for explanations; nothing where it has none.
        puppet_text: Option<String>,
        /// Puppet's words quote the file at length.
        quotes_file: bool,
    },
    /// Something else than a hash.
    #[error("`{path}` holds {found} where a hash is expected")]
    NotAHash {
        /// The file.
        path: ArcStr,
        /// What it holds.
        found: &'static str,
        /// The same in the words that Puppet has for JSON and HOCON.
        mismatch: Option<String>,
    },
}

impl FileFault {
    /// A link that leads to nothing.
    pub(crate) fn dangling(path: &str) -> Self {
        FileFault::Unreadable {
            path: path.into(),
            reason: "it is a link to a file that does not exist".to_owned(),
        }
    }
}

/// Something that works but is hardly meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: u32,
    /// The column, from 1; 0 where the file as a whole is meant.
    pub column: u32,
    /// What was found.
    pub text: String,
}

impl Notice {
    pub(crate) fn at(mark: Mark, text: String) -> Self {
        Notice {
            line: mark.line,
            column: mark.column,
            text,
        }
    }
}

impl FileFault {
    /// The file.
    pub fn path(&self) -> &str {
        match self {
            FileFault::Unreadable { path, .. }
            | FileFault::Directory { path }
            | FileFault::Unparsable { path, .. }
            | FileFault::NotAHash { path, .. } => path,
        }
    }

    /// Line and column, where the fault has a place in the file.
    pub fn place(&self) -> Option<(u32, u32)> {
        match self {
            FileFault::Unparsable { line, column, .. } => Some((*line, *column)),
            _ => None,
        }
    }

    /// What is wrong, without the place.
    pub fn problem(&self) -> String {
        match self {
            FileFault::Unreadable { reason, .. } => format!("cannot be read: {reason}"),
            FileFault::Directory { .. } => "cannot be read: it is a directory".to_owned(),
            FileFault::Unparsable { problem, .. } => problem.clone(),
            FileFault::NotAHash { found, .. } => format!("holds {found} where a hash is expected"),
        }
    }
}

impl DataFile {
    /// Makes a file of its bytes. What is encrypted in it stays so; see [`DataFile::decode_encrypted`].
    pub fn decode(path: &str, format: Format, bytes: &[u8], texts: &mut Texts) -> Self {
        let path = ArcStr::from(path);
        let contents = match format {
            Format::Yaml | Format::Eyaml(_) => decode_yaml(&path, bytes, texts, None),
            Format::Json => decode_json(&path, bytes, texts),
            Format::Hocon => decode_hocon(&path, bytes, texts),
            Format::Unknown => Ok(Contents::default()),
        };
        DataFile::of(path, contents)
    }

    /// Makes a file of the bytes of an eyaml file.
    pub fn decode_encrypted(
        path: &str,
        bytes: &[u8],
        texts: &mut Texts,
        decrypt: Decrypt<'_>,
    ) -> Self {
        let path = ArcStr::from(path);
        let contents = decode_yaml(&path, bytes, texts, Some(decrypt));
        DataFile::of(path, contents)
    }

    /// The same file, faulty where YAML of something else than a hash counts as empty and lookups are to fail instead.
    pub fn held_to(mut self, strictness: Strictness) -> Self {
        if let Ok(contents) = &self.contents
            && let Some(found) = contents.instead_of_hash
            && strictness.is_error()
        {
            self.contents = Err(FileFault::NotAHash {
                path: self.path.clone(),
                found,
                mismatch: None,
            });
        }
        self
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &str, reason: &dyn std::fmt::Display) -> Self {
        let path = ArcStr::from(path);
        let fault = FileFault::Unreadable {
            path: path.clone(),
            reason: reason.to_string(),
        };
        DataFile::of(path, Err(fault))
    }

    /// A directory in the place of a file.
    pub fn directory(path: &str) -> Self {
        let path = ArcStr::from(path);
        DataFile::of(path.clone(), Err(FileFault::Directory { path }))
    }

    fn of(path: ArcStr, contents: Result<Contents, FileFault>) -> Self {
        DataFile {
            path,
            contents,
            sealed: None,
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &ArcStr {
        &self.path
    }

    /// What it holds, or why it cannot be used.
    pub fn contents(&self) -> Result<&Contents, &FileFault> {
        self.contents.as_ref()
    }
}

impl Contents {
    fn new(data: Hash, notices: Vec<Notice>) -> Self {
        let options = FileOptions::compile(data.get(LOOKUP_OPTIONS));
        let (mut filter, mut has_other_keys) = (KeyFilter::default(), false);
        let data = with_plain_keys(data);
        for (key, _) in &data {
            match key {
                Value::Str(text) => filter.add(hash_of(text)),
                _ => has_other_keys = true,
            }
        }
        Contents {
            data,
            filter,
            options,
            options_notes: None,
            has_other_keys,
            notices,
            undecryptable: Vec::new(),
            instead_of_hash: None,
        }
    }

    /// The same with its `lookup_options` checked, as `note` does it.
    fn with_checked_options(
        mut self,
        note: impl FnOnce(&Value, &mut Vec<Notice>) -> OptionsNotes,
    ) -> Self {
        if let Some(options) = self.data.get(LOOKUP_OPTIONS) {
            self.options_notes = Some(Arc::new(note(options, &mut self.notices)));
        }
        self
    }

    /// The value of a key, as it stands in the file.
    pub fn get(&self, key: &TableKey) -> Option<&Value> {
        if !self.filter.may_have(key.hash()) {
            return None;
        }
        self.data.get_hashed(key)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Has it no key?
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Its `lookup_options`.
    pub fn options(&self) -> &FileOptions {
        &self.options
    }

    /// Has it a key that is no text?
    pub fn has_other_keys(&self) -> bool {
        self.has_other_keys
    }

    /// What could not be decrypted.
    pub fn undecryptable(&self) -> &[Notice] {
        &self.undecryptable
    }

    /// Has it `lookup_options`?
    pub fn has_options(&self) -> bool {
        self.options_notes.is_some()
    }

    /// What is wrong with its `lookup_options`: a fault of the lookups that need them.
    pub fn option_faults(&self) -> &[Notice] {
        let notes = self.options_notes.as_ref();
        notes.map(|notes| notes.faults()).unwrap_or_default()
    }

    /// Where its `lookup_options` are written.
    pub(crate) fn options_notes(&self) -> Option<&OptionsNotes> {
        self.options_notes.as_deref()
    }

    /// A key or pattern of its `lookup_options` that does not belong to this module, with its line and column: a fault
    /// where the file is the module's.
    pub fn foreign_options(&self, module: &str) -> Option<Notice> {
        let FileOptions::Ready(options) = &self.options else {
            return None;
        };
        let error = options.check_namespace(module).err()?;
        let OptionsError::ForeignKey { key, .. } = &error else {
            return None;
        };
        let mark = self.options_notes()?.place(Some(key))?;
        Some(Notice::at(mark, error.to_string()))
    }

    /// What was found odd.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
}

fn decode_yaml(
    path: &ArcStr,
    bytes: &[u8],
    texts: &mut Texts,
    decrypt: Option<Decrypt<'_>>,
) -> Result<Contents, FileFault> {
    let mut builder = ValueBuilder::new(texts, decrypt);
    let root = psych_yaml::read(bytes, &Limits::default(), &mut builder).map_err(|error| {
        FileFault::Unparsable {
            path: path.clone(),
            line: error.mark().line,
            column: error.mark().column,
            problem: error.problem().to_string(),
            puppet_text: Some(format!("Unable to parse {}", error.puppet_message(path))),
            quotes_file: false,
        }
    })?;
    let (notices, undecryptable) = builder.into_notices();
    match root {
        Some(Value::Hash(hash)) => {
            let contents = Contents::new(Arc::unwrap_or_clone(hash), notices);
            Ok(Contents {
                undecryptable,
                ..contents.with_checked_options(|options, notices| {
                    OptionsNotes::of_yaml(options, bytes, notices)
                })
            })
        }
        other => {
            // Puppet: does not tell `false` from an empty file.
            let is_something = !matches!(other, None | Some(Value::Null | Value::Bool(false)));
            let found = other.map_or("no data", |value| kind_of(&value));
            let text =
                format!("the file holds {found} where a hash is expected, and counts as empty");
            Ok(Contents {
                notices: vec![Notice {
                    line: 0,
                    column: 0,
                    text,
                }],
                instead_of_hash: is_something.then_some(found),
                ..Contents::default()
            })
        }
    }
}

fn decode_json(path: &ArcStr, bytes: &[u8], texts: &mut Texts) -> Result<Contents, FileFault> {
    let root = json::parse(bytes, &mut |text| texts.value(text)).map_err(|error| {
        let (line, column) = (error.line, error.column);
        let message = Some(error.ruby_message.as_str());
        unparsable(path, line, column, &error.problem, message)
    })?;
    hash_contents(path, bytes, root)
}

fn decode_hocon(path: &ArcStr, bytes: &[u8], texts: &mut Texts) -> Result<Contents, FileFault> {
    let root = hocon::parse(bytes, &mut |text| texts.value(text)).map_err(|error| {
        let (line, column) = (error.line, error.column);
        let message = error.ruby_message.as_deref();
        unparsable(path, line, column, &error.problem, message)
    })?;
    hash_contents(path, bytes, root)
}

fn unparsable(
    path: &ArcStr,
    line: usize,
    column: usize,
    problem: &dyn std::fmt::Display,
    ruby_message: Option<&str>,
) -> FileFault {
    FileFault::Unparsable {
        path: path.clone(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
        problem: problem.to_string(),
        puppet_text: ruby_message.map(|message| format!("Unable to parse ({path}): {message}")),
        quotes_file: true,
    }
}

fn hash_contents(path: &ArcStr, bytes: &[u8], root: Value) -> Result<Contents, FileFault> {
    match root {
        Value::Hash(hash) => {
            let contents = Contents::new(Arc::unwrap_or_clone(hash), Vec::new());
            Ok(contents.with_checked_options(|options, notices| {
                OptionsNotes::of_text(options, bytes, notices)
            }))
        }
        other => {
            let any_hash = Type::hash(Type::Any, Type::Any, None);
            let mismatch = types::assert_instance("", &any_hash, &other).err();
            Err(FileFault::NotAHash {
                path: path.clone(),
                found: kind_of(&other),
                mismatch: Some(mismatch.map_or(String::new(), |mismatch| mismatch.to_string())),
            })
        }
    }
}

/// Reads YAML as Puppet reads its data: Symbols as keys become texts.
pub fn read_yaml(bytes: &[u8], texts: &mut Texts) -> Result<Option<Value>, psych_yaml::ReadError> {
    psych_yaml::read(
        bytes,
        &Limits::default(),
        &mut ValueBuilder::new(texts, None),
    )
}

/// The data of a file under its keys as they are written. Puppet fills tokens in below them and not in them, so that
/// `'%{facts.name}'` in quotes is a key that can be asked for.
fn with_plain_keys(data: Hash) -> Hash {
    if !data
        .iter()
        .any(|(key, _)| matches!(key, Value::Template(_)))
    {
        return data;
    }
    let plain = |key: &Value| match key {
        Value::Template(template) => Value::str(template.source()),
        other => other.clone(),
    };
    let entries = data.iter().map(|(key, value)| (plain(key), value.clone()));
    entries.collect()
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "no data",
        Value::Array(_) => "a list",
        Value::Hash(_) => "a hash",
        _ => "a scalar",
    }
}

/// Makes values of texts. The shortest stand in their value; others that occur again and again are looked at and kept
/// once.
///
/// A number of these is remembered, each until another one comes to its place. To look for a text among all that ever
/// came takes longer, and saves little more memory.
#[derive(Debug, Default)]
pub struct Texts {
    hasher: foldhash::fast::RandomState,
    /// Texts without tokens. Where one stands is a part of its hash; another part stands beside it and tells most texts
    /// apart without a look at them.
    remembered: Vec<Option<(u32, LeanStr)>>,
}

impl Texts {
    /// Texts that a value holds itself.
    const INLINE: usize = size_of::<LeanStr>();
    /// Longer texts hardly repeat.
    const SHORT: usize = 48;
    const REMEMBERED: usize = 1 << 14;

    /// The value that a text in a data file is: a template where it holds a token.
    pub fn value(&mut self, text: &str) -> Value {
        if text.len() <= Self::INLINE && !has_percent(text.as_bytes()) {
            return Value::str(text);
        }
        let hash = self.hasher.hash_one(text);
        if self.remembered.is_empty() {
            self.remembered.resize(Self::REMEMBERED, None);
        }
        let (tag, place) = ((hash >> 32) as u32, hash as usize % Self::REMEMBERED);
        let slot = self.remembered.get_mut(place);
        if let Some(Some((known, shared))) = &slot
            && *known == tag
            && shared.as_str() == text
        {
            return Value::Str(shared.clone());
        }
        if let Some(template) = Template::parse(text) {
            return template.into_value();
        }
        let new = LeanStr::from(text);
        if let Some(slot) = slot
            && text.len() <= Self::SHORT
        {
            *slot = Some((tag, new.clone()));
        }
        Value::Str(new)
    }
}

/// Does `%` stand in a text that a value holds itself? Looked at in two pieces that may overlap: how long such a text is
/// is unpredictable, and a loop over its bytes would take longer than all else.
fn has_percent(text: &[u8]) -> bool {
    /// Is a byte of this zero? By borrowing from the bits above the lowest zero byte.
    fn has_zero(bytes: u64) -> bool {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        bytes.wrapping_sub(ONES) & !bytes & (ONES << 7) != 0
    }
    const PERCENT: u64 = u64::from_ne_bytes([b'%'; 8]);
    let wide = |piece: &[u8; 8]| u64::from_ne_bytes(*piece);
    let half = |piece: &[u8; 4]| u64::from(u32::from_ne_bytes(*piece));
    if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        has_zero(wide(start) ^ PERCENT) || has_zero(wide(end) ^ PERCENT)
    } else if let (Some(start), Some(end)) = (text.first_chunk(), text.last_chunk()) {
        has_zero((half(start) << 32 | half(end)) ^ PERCENT)
    } else {
        text.contains(&b'%')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_is_found_at_every_place_of_a_short_text() {
        for length in 0..=Texts::INLINE {
            let mut text = vec![b'a'; length];
            assert!(!has_percent(&text), "{length}");
            for place in 0..length {
                text[place] = b'%';
                assert!(has_percent(&text), "{place} of {length}");
                text[place] = b'$';
                assert!(!has_percent(&text), "{place} of {length}");
                text[place] = 0x80 | b'%';
                assert!(!has_percent(&text), "{place} of {length}");
                text[place] = b'a';
            }
        }
    }
}
