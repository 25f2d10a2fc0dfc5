//! [`Snapshot`]: one environment in memory, complete and immutable. [`Tree`] is the interface that lookups use.

mod directories;
mod files;
mod layer_index;
mod parts;
mod tree;

use std::sync::Arc;

use arcstr::ArcStr;
use indexmap::IndexMap;

use self::directories::Directories;
use self::files::FilesByFormat;
pub use self::layer_index::LayerIndex;
pub use self::parts::{Differences, Parts};
pub use self::tree::Tree;
use crate::data::{DataFile, FileFault, Format};
use crate::hierarchy::glob::{self, DirectoryEntry, EntryKind, GlobError};
use crate::hierarchy::{Layer, LayerKind};
use crate::strictness::Strictness;

type Map<T> = IndexMap<ArcStr, T, foldhash::fast::RandomState>;

/// One environment: its layers, its files, and their directories.
#[derive(Clone, Debug)]
pub struct Snapshot {
    name: ArcStr,
    global: Arc<Layer>,
    environment: Arc<Layer>,
    modules: Arc<Map<Layer>>,
    unlisted_module: Option<Arc<Layer>>,
    files: FilesByFormat,
    directories: Directories,
    indices: Arc<LayerIndices>,
    strictness: Strictness,
    revision: String,
}

/// The index of each layer that has one.
#[derive(Debug, Default)]
struct LayerIndices {
    global: Option<LayerIndex>,
    environment: Option<LayerIndex>,
    modules: Map<LayerIndex>,
}

impl Snapshot {
    /// Builds a snapshot with its indices.
    pub fn build(parts: Parts) -> Self {
        let mut snapshot = Snapshot {
            name: parts.name,
            global: parts.global,
            environment: Arc::new(parts.environment),
            modules: Arc::new(parts.modules.into_iter().collect()),
            unlisted_module: parts.unlisted_module.map(Arc::new),
            files: FilesByFormat::build(parts.files),
            directories: Directories::build(parts.directories, &parts.unreadable, parts.loops),
            indices: Arc::default(),
            strictness: parts.strictness,
            revision: parts.revision,
        };
        snapshot.indices = Arc::new(snapshot.index());
        snapshot
    }

    /// The snapshot that follows if only files have changed. It shares everything else.
    pub fn with(&self, differences: Differences) -> Self {
        let mut next = self.clone();
        next.files.extend(differences.files);
        for (format, path) in differences.removed {
            next.files.remove(format, &path);
        }
        next.directories.extend(differences.directories);
        next.revision = differences.revision;
        next.indices = Arc::new(next.index());
        next
    }

    fn index(&self) -> LayerIndices {
        // A path without a known file may lead to one that could not be read, or that has another path. An index does not
        // know which.
        if !self.directories.are_plain() {
            return LayerIndices::default();
        }
        let files = |format| self.files.sorted(format);
        let index = |layer: &Layer| LayerIndex::build(layer.config()?, files);
        let modules = self.modules.iter();
        LayerIndices {
            global: index(&self.global),
            environment: index(&self.environment),
            modules: modules
                .filter_map(|(name, layer)| Some((name.clone(), index(layer)?)))
                .collect(),
        }
    }

    /// The name of the environment.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest of everything that is loaded. The same data has the same digest on every machine.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The layers, from the global one down.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        [&*self.global, &*self.environment]
            .into_iter()
            .chain(self.modules.values())
    }

    /// The modules, in the order they were found.
    pub fn modules(&self) -> impl Iterator<Item = (&ArcStr, &Layer)> {
        self.modules.iter()
    }

    /// The files that were read.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DataFile>> {
        self.files.read()
    }

    /// The entries of a directory that globs may search.
    pub fn listing(&self, directory: &str) -> Option<&Arc<[DirectoryEntry]>> {
        self.directories.listing(directory)
    }

    /// The paths at or below which there may be unknown files, with the reasons.
    pub fn unreadable(&self) -> impl Iterator<Item = &FileFault> {
        self.directories.unreadable()
    }
}

impl Tree for Snapshot {
    fn global(&self) -> &Layer {
        &self.global
    }

    fn environment(&self) -> &Layer {
        &self.environment
    }

    fn module(&self, name: &str) -> Option<&Layer> {
        self.modules.get(name).or(self.unlisted_module.as_deref())
    }

    fn file(&self, path: &str, format: Format) -> Option<&DataFile> {
        let files = self.files.files(format);
        let known = files.and_then(|files| self.directories.find(path, |path| files.get(path)));
        known
            .map(Arc::as_ref)
            .or_else(|| self.directories.unreadable_at(path))
    }

    fn layer_index(&self, layer: &LayerKind) -> Option<&LayerIndex> {
        match layer {
            LayerKind::Global => self.indices.global.as_ref(),
            LayerKind::Environment => self.indices.environment.as_ref(),
            LayerKind::Module(name) => self.indices.modules.get(name),
        }
    }

    fn kind_of(&self, path: &str) -> Option<EntryKind> {
        self.directories.kind_of(path)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError> {
        glob::expand(pattern, &self.directories)
    }

    fn strictness(&self) -> Strictness {
        self.strictness
    }
}

#[cfg(test)]
mod tests;
