//! [`Format`]: what a file is read as.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::contents::Contents;
use super::fault::FileFault;
use super::file::RawFile;
use super::texts::Texts;
use crate::data_functions::{self, DataFunction, FileSource, HOCON_DATA, JSON_DATA, YAML_DATA};

/// What a file is read as: the function that decodes it and, if that decrypts, the keys.
///
/// Two levels that read the same file in the same format share what it was decoded to.
#[derive(Clone, Copy)]
pub struct Format {
    /// Invariant: a function whose source are files. `None`: the file is not read, only its existence matters.
    function: Option<&'static DataFunction>,
    /// 0 if the function does not decrypt.
    keys: KeysId,
}

/// Identifies the keys of a level: a digest of the options that name them.
pub type KeysId = u64;

impl Format {
    /// As `yaml_data` reads it.
    pub const YAML: Format = Format::plain(&YAML_DATA);
    /// As `json_data` reads it.
    pub const JSON: Format = Format::plain(&JSON_DATA);
    /// As `hocon_data` reads it.
    pub const HOCON: Format = Format::plain(&HOCON_DATA);
    /// For files of unknown functions: only their existence matters.
    pub const UNREAD: Format = Format {
        function: None,
        keys: 0,
    };

    const fn plain(function: &'static DataFunction) -> Self {
        Format {
            function: Some(function),
            keys: 0,
        }
    }

    /// The format of a function's files; [`Format::UNREAD`] if it has none. `keys` identifies the keys that it
    /// decrypts with, and does not matter if it does not decrypt.
    pub fn new(function: &'static DataFunction, keys: KeysId) -> Self {
        match function.files() {
            None => Format::UNREAD,
            Some(files) if files.decrypts() => Format {
                function: Some(function),
                keys,
            },
            Some(_) => Format::plain(function),
        }
    }

    /// Is a file of this format read at all?
    pub fn is_read(self) -> bool {
        self.function.is_some()
    }

    /// Identifies the keys to decrypt with; `None` if there is nothing to decrypt.
    pub fn keys(self) -> Option<KeysId> {
        self.files()
            .filter(|files| files.decrypts())
            .map(|_| self.keys)
    }

    /// Does its function return what it has read as it is?
    pub(crate) fn is_plain(self) -> bool {
        self.files().is_some_and(|files| !files.decrypts())
    }

    /// A short name that never changes: it is part of an environment's revision.
    pub fn name(self) -> &'static str {
        self.files().map_or("Unknown", |files| files.format)
    }

    /// Decodes a file.
    pub(super) fn decode(
        self,
        file: &RawFile<'_>,
        texts: &mut Texts,
    ) -> Result<Contents, FileFault> {
        match self.files() {
            Some(files) => (files.decode)(file, texts),
            None => Ok(Contents::default()),
        }
    }

    fn files(self) -> Option<&'static FileSource> {
        self.function.and_then(DataFunction::files)
    }

    /// The position of its function in the table, with the name to order functions that are not in it. Files that are
    /// not read come last.
    fn rank(self) -> (usize, &'static str) {
        match self.function {
            Some(function) => (data_functions::position(function), function.name),
            None => (usize::MAX, ""),
        }
    }

    /// The order of formats without their keys.
    pub(crate) fn cmp_function(self, other: Self) -> Ordering {
        match self.function == other.function {
            true => Ordering::Equal,
            false => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.function == other.function && self.keys == other.keys
    }
}

impl Eq for Format {}

impl PartialOrd for Format {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Format {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cmp_function(*other)
            .then_with(|| self.keys.cmp(&other.keys))
    }
}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.map(|function| function.name).hash(state);
        self.keys.hash(state);
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.name())?;
        match self.keys() {
            Some(keys) => write!(formatter, "({keys})"),
            None => Ok(()),
        }
    }
}
