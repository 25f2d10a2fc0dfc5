//! What a snapshot is built from: [`Parts`], or the [`Differences`] from an earlier one.

use std::sync::Arc;

use arcstr::ArcStr;

use crate::data::{DataFile, Format};
use crate::hierarchy::Layer;
use crate::hierarchy::glob::DirectoryEntry;
use crate::strictness::Strictness;

/// What a snapshot is built from.
#[derive(Debug, Default)]
pub struct Parts {
    /// The name of the environment.
    pub name: ArcStr,
    /// The global layer, which all environments share.
    pub global: Arc<Layer>,
    /// The environment's own layer.
    pub environment: Layer,
    /// The modules by name, with or without data.
    pub modules: Vec<(ArcStr, Layer)>,
    /// The files of all levels with their formats, in any order.
    pub files: Vec<(Format, Arc<DataFile>)>,
    /// The directories that globs may search, by absolute path.
    pub directories: Vec<(ArcStr, Arc<[DirectoryEntry]>)>,
    /// The paths at or below which there may be unknown files, each with the reason. Lookups that reach one fail.
    pub unreadable: Vec<(ArcStr, String)>,
    /// The layer of every module that is not in `modules`, if there may be others; it holds the reason why they are
    /// unknown.
    pub unlisted_module: Option<Layer>,
    /// Whether lookups fail on undefined variables.
    pub strictness: Strictness,
    /// Links to a directory that contains them, each with that directory. A path through the link is the same as one
    /// through the directory.
    pub loops: Vec<(ArcStr, ArcStr)>,
    /// The digest of all parts.
    pub revision: String,
}

/// What differs in the snapshot that follows another.
#[derive(Debug, Default)]
pub struct Differences {
    /// The files that are new or changed.
    pub files: Vec<(Format, Arc<DataFile>)>,
    /// The files that were removed.
    pub removed: Vec<(Format, ArcStr)>,
    /// The directories whose entries changed.
    pub directories: Vec<(ArcStr, Arc<[DirectoryEntry]>)>,
    /// The digest of all parts of the new snapshot.
    pub revision: String,
}
