//! Data files: bytes → [`DataFile`]. All that can be done once is done here and not during a lookup.
//!
//! Strings with `%{` become templates, `lookup_options` are compiled, repeated strings are shared. A file that cannot be
//! read or parsed is a [`DataFile`] too, one that holds its fault: only lookups that reach it fail.
//!
//! The functions in [`data_functions`](crate::data_functions) say how the bytes of a file are decoded. [`json`],
//! [`hocon`] and `yaml` are the readers they use.

mod characters;
mod contents;
mod encrypted;
mod fault;
mod file;
mod format;
pub mod hocon;
pub mod json;
mod texts;
mod yaml;

pub use self::contents::Contents;
pub use self::encrypted::{Decrypt, KeyStore, is_encrypted};
pub use self::fault::{FileFault, Notice};
pub use self::file::{DataFile, RawFile};
pub use self::format::{Format, KeysId};
pub use self::texts::Texts;
pub(crate) use self::yaml::ValueBuilder;
pub use self::yaml::read_yaml;
