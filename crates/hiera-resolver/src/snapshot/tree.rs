//! [`Tree`]: what a lookup may ask of an environment. The server answers from memory, the command line from disk.

use crate::data::{DataFile, Format};
use crate::hierarchy::glob::{EntryKind, GlobError};
use crate::hierarchy::{Layer, LayerKind};
use crate::remote::{RemoteAnswer, RemoteRequest};
use crate::snapshot::layer_index::LayerIndex;
use crate::strictness::Strictness;

/// The layers and files of one environment.
pub trait Tree {
    /// The global layer.
    fn global(&self) -> &Layer;

    /// The environment's own layer.
    fn environment(&self) -> &Layer;

    /// The layer of a module; `None` where there is no such module.
    fn module(&self, name: &str) -> Option<&Layer>;

    /// The file at an absolute path; `None` where there is nothing.
    fn file(&self, path: &str, format: Format) -> Option<&DataFile>;

    /// The files of a layer by the paths of its hierarchy; `None` where they have to be found by their paths.
    fn layer_index(&self, _layer: &LayerKind) -> Option<&LayerIndex> {
        None
    }

    /// What stands at an absolute path without `.` and `..`, as a listing shows it; `None` where there is nothing.
    fn kind_of(&self, path: &str) -> Option<EntryKind>;

    /// The files that an absolute pattern matches, in Ruby's order.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError>;

    /// Whether lookups fail on undefined variables.
    fn strictness(&self) -> Strictness;

    /// What a server answered; `None` where it has not been asked yet.
    fn remote(&self, _request: &RemoteRequest) -> Option<RemoteAnswer> {
        None
    }
}
