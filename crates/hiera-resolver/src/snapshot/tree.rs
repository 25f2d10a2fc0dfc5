//! [`Tree`]: the interface between a lookup and an environment. The server implements it in memory, the command line on
//! disk.

use crate::data::{DataFile, Format};
use crate::hierarchy::glob::{EntryKind, GlobError};
use crate::hierarchy::{Layer, LayerKind};
use crate::remote::{RemoteAnswer, RemoteRequest};
use crate::snapshot::LayerIndex;
use crate::strictness::Strictness;

/// The layers and files of one environment.
pub trait Tree {
    /// The global layer.
    fn global(&self) -> &Layer;

    /// The environment's own layer.
    fn environment(&self) -> &Layer;

    /// The layer of a module; `None` if there is no such module.
    fn module(&self, name: &str) -> Option<&Layer>;

    /// The file at an absolute path; `None` if there is none.
    fn file(&self, path: &str, format: Format) -> Option<&DataFile>;

    /// The index of a layer; `None` if its files have to be found by their paths.
    fn layer_index(&self, _layer: &LayerKind) -> Option<&LayerIndex> {
        None
    }

    /// What an absolute path without `.` and `..` leads to, as the listing of its directory shows it; `None` if it does
    /// not exist.
    fn kind_of(&self, path: &str) -> Option<EntryKind>;

    /// The files that an absolute pattern matches, in Ruby's order.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError>;

    /// Whether lookups fail on undefined variables.
    fn strictness(&self) -> Strictness;

    /// The answer of another server; `None` if it has not been asked yet.
    fn remote(&self, _request: &RemoteRequest) -> Option<RemoteAnswer> {
        None
    }
}
