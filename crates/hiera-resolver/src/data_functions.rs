//! The data functions that a level may name, and how each gets its data.
//!
//! A function is one file in this folder and one line in [`BUILT_IN`]; nothing else in the resolver knows the functions
//! by name. A function reads files ([`FileSource`]) or asks another server ([`RemoteSource`]).

mod eyaml_lookup_key;
mod hiera_http;
mod hocon_data;
mod json_data;
mod remote;
mod yaml_data;

use arcstr::ArcStr;

pub use self::eyaml_lookup_key::{EYAML_LOOKUP_KEY, KEY_OPTIONS};
pub use self::hiera_http::HIERA_HTTP;
pub use self::hocon_data::HOCON_DATA;
pub use self::json_data::JSON_DATA;
pub use self::remote::{Question, ReadAnswer, RemoteCall, RemoteQuery, RemoteSource};
pub use self::yaml_data::YAML_DATA;
use puppet_values::Hash;

use crate::data::{Contents, FileFault, RawFile, Texts};

/// The functions of this crate.
pub static BUILT_IN: [&DataFunction; 5] = [
    &YAML_DATA,
    &JSON_DATA,
    &HOCON_DATA,
    &EYAML_LOOKUP_KEY,
    &HIERA_HTTP,
];

/// A data function. Functions are statics, and two are equal if they are the same static.
#[derive(Debug)]
pub struct DataFunction {
    /// The name in `hiera.yaml`, such as `yaml_data`.
    pub name: &'static str,
    /// The settings of a level that may name it; the usual one first.
    pub kinds: &'static [FunctionKind],
    /// The backend in configurations of version 3 and 4 that means this function.
    pub backend: Option<LegacyBackend>,
    /// Checks the `options` of a level, as written: strings with `%{` are templates. Lookups that reach a level whose
    /// options are refused fail. See [`refuse_options`] and [`accept_options`].
    pub check_options: fn(&Hash) -> Result<(), String>,
    /// Where its data comes from.
    pub source: Source,
}

/// The setting of a level that names its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `data_hash`: the function returns all data of a location at once.
    DataHash,
    /// `lookup_key`: the function returns the value of a key.
    LookupKey,
}

/// A backend in configurations of version 3 and 4.
#[derive(Debug)]
pub struct LegacyBackend {
    /// Its name, such as `yaml`.
    pub name: &'static str,
    /// What its paths end in, with the dot.
    pub extension: &'static str,
    /// Version 4 knows it too. Such a backend cannot be named as `hiera3_backend`.
    pub in_version_4: bool,
}

/// Where the data of a function comes from.
#[derive(Debug)]
pub enum Source {
    /// Files below the data directory of the level.
    Files(FileSource),
    /// Another server, at the `uri` of the level.
    Remote(RemoteSource),
}

/// How files are read.
#[derive(Debug)]
pub struct FileSource {
    /// A short name of the format. It is part of an environment's revision, so it must never change.
    pub format: &'static str,
    /// The options that name the keys to decrypt values with. Empty if nothing is encrypted.
    pub key_options: &'static [&'static str],
    /// Decodes a file.
    pub decode: Decode,
}

/// Decodes a file. [`Contents::of_root`] makes contents of a value.
pub type Decode = fn(&RawFile<'_>, &mut Texts) -> Result<Contents, FileFault>;

impl FileSource {
    /// Are values decrypted?
    pub fn decrypts(&self) -> bool {
        !self.key_options.is_empty()
    }
}

impl DataFunction {
    /// How it reads files, if it does.
    pub fn files(&self) -> Option<&FileSource> {
        match &self.source {
            Source::Files(files) => Some(files),
            Source::Remote(_) => None,
        }
    }

    /// How it asks another server, if it does.
    pub fn remote(&self) -> Option<&RemoteSource> {
        match &self.source {
            Source::Files(_) => None,
            Source::Remote(remote) => Some(remote),
        }
    }
}

impl PartialEq for DataFunction {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for DataFunction {}

impl FunctionKind {
    /// As written in `hiera.yaml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            FunctionKind::DataHash => "data_hash",
            FunctionKind::LookupKey => "lookup_key",
        }
    }
}

/// The function that a level names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelFunction {
    /// One of the table.
    Known {
        /// The function.
        function: &'static DataFunction,
        /// The setting that names it.
        kind: FunctionKind,
    },
    /// A function that does not exist here: lookups that reach the level fail.
    Unknown {
        /// The setting that names it: `data_hash`, `lookup_key`, `data_dig`, ...
        kind: &'static str,
        /// Its name.
        name: ArcStr,
    },
}

impl LevelFunction {
    /// Puppet's default.
    pub(crate) const YAML: LevelFunction = LevelFunction::Known {
        function: &YAML_DATA,
        kind: FunctionKind::DataHash,
    };

    /// The function that a setting of a level names.
    pub(crate) fn named(functions: Functions, kind: &'static str, name: &str) -> Self {
        let known = functions.iter().find_map(|function| {
            let mut kinds = function.kinds.iter();
            let kind = kinds.find(|it| function.name == name && it.as_str() == kind)?;
            Some(LevelFunction::Known {
                function,
                kind: *kind,
            })
        });
        known.unwrap_or_else(|| LevelFunction::Unknown {
            kind,
            name: name.into(),
        })
    }

    /// The function, if it exists.
    pub fn known(&self) -> Option<&'static DataFunction> {
        match self {
            LevelFunction::Known { function, .. } => Some(function),
            LevelFunction::Unknown { .. } => None,
        }
    }

    /// How it asks another server, if it does, and as which kind of function.
    pub(crate) fn remote(&self) -> Option<(&'static RemoteSource, FunctionKind)> {
        match self {
            LevelFunction::Known { function, kind } => Some((function.remote()?, *kind)),
            LevelFunction::Unknown { .. } => None,
        }
    }

    /// Does its data come from another server?
    pub fn is_remote(&self) -> bool {
        self.remote().is_some()
    }

    /// The setting that names it, and the name.
    pub fn kind_and_name(&self) -> (&'static str, &str) {
        match self {
            LevelFunction::Known { function, kind } => (kind.as_str(), function.name),
            LevelFunction::Unknown { kind, name } => (kind, name),
        }
    }
}

/// A table of functions.
pub type Functions = &'static [&'static DataFunction];

/// The function that a backend of version 3 or 4 means.
pub(crate) fn of_backend(
    functions: Functions,
    name: &str,
) -> Option<(LevelFunction, &'static LegacyBackend)> {
    functions.iter().find_map(|function| {
        let backend = function.backend.as_ref().filter(|it| it.name == name)?;
        let kind = *function.kinds.first()?;
        Some((LevelFunction::Known { function, kind }, backend))
    })
}

/// The names of the functions of this crate, for messages.
pub fn names() -> String {
    let names: Vec<&str> = BUILT_IN.iter().map(|function| function.name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The index of a function in the table; after all others if it is not in it.
pub(crate) fn position(function: &DataFunction) -> usize {
    let position = BUILT_IN.iter().position(|known| *known == function);
    position.unwrap_or(BUILT_IN.len())
}

/// For functions that take no options.
pub fn refuse_options(options: &Hash) -> Result<(), String> {
    match options.is_empty() {
        true => Ok(()),
        false => Err("its data function takes no `options`".to_owned()),
    }
}

/// For functions that check their options when they use them.
pub fn accept_options(_options: &Hash) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_formats_are_unique() {
        let names = BUILT_IN.map(|function| Some(function.name));
        let formats = BUILT_IN.map(|function| function.files().map(|files| files.format));
        for column in [names, formats] {
            let mut column: Vec<&str> = column.into_iter().flatten().collect();
            let count = column.len();
            column.sort_unstable();
            column.dedup();
            assert_eq!(column.len(), count);
        }
    }

    #[test]
    fn messages_list_all_functions() {
        assert_eq!(
            names(),
            "yaml_data, json_data, hocon_data, eyaml_lookup_key and hiera_http"
        );
    }

    #[test]
    fn a_function_is_found_by_kind_and_name() {
        for (kind, name, is_known) in [
            ("data_hash", "yaml_data", true),
            ("lookup_key", "yaml_data", false),
            ("lookup_key", "eyaml_lookup_key", true),
            ("lookup_key", "hiera_http", true),
            ("data_hash", "hiera_http", true),
            ("data_dig", "hiera_http", false),
            ("data_hash", "toml_data", false),
        ] {
            let function = LevelFunction::named(&BUILT_IN, kind, name);
            assert_eq!(function.kind_and_name(), (kind, name));
            assert_eq!(function.known().is_some(), is_known, "{kind}: {name}");
        }
    }
}
