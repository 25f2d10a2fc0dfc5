//! [`Snapshot`]: one environment in memory, whole and unchangeable.

use std::sync::Arc;

use arcstr::ArcStr;
use indexmap::IndexMap;

use crate::config::{Layer, LayerKind};
use crate::data::{DataFile, Format, KeysId};
use crate::glob::{self, Directory, Entry};
use crate::layer_index::LayerIndex;
use crate::tree::Tree;

type Map<T> = IndexMap<ArcStr, T, foldhash::fast::RandomState>;

/// One environment: its layers, its files, and the directories they lie in.
#[derive(Debug)]
pub struct Snapshot {
    global: Arc<Layer>,
    environment: Layer,
    modules: Map<Layer>,
    yaml: Map<Arc<DataFile>>,
    json: Map<Arc<DataFile>>,
    hocon: Map<Arc<DataFile>>,
    /// By the keys they are decrypted with.
    eyaml: Vec<(KeysId, Map<Arc<DataFile>>)>,
    unknown: Map<Arc<DataFile>>,
    directories: Map<Vec<Entry>>,
    indices: Indices,
    revision: String,
}

/// The files of each layer by the paths of its hierarchy, where these are plain.
#[derive(Debug, Default)]
struct Indices {
    global: Option<LayerIndex>,
    environment: Option<LayerIndex>,
    modules: Map<LayerIndex>,
}

/// What a snapshot is made of.
#[derive(Debug)]
pub struct Parts {
    /// The global layer, which all environments share.
    pub global: Arc<Layer>,
    /// The environment's own layer.
    pub environment: Layer,
    /// The modules by name, with or without data.
    pub modules: Vec<(ArcStr, Layer)>,
    /// The files of all levels, by what they are read as.
    pub files: Vec<(Format, Arc<DataFile>)>,
    /// The directories that globs may go through, by absolute path.
    pub directories: Vec<(ArcStr, Vec<Entry>)>,
    /// The digest of all this.
    pub revision: String,
}

impl Snapshot {
    /// Puts the parts together.
    pub fn build(parts: Parts) -> Self {
        let files = |wanted: Format| {
            let files = parts.files.iter().filter(|(format, _)| *format == wanted);
            files
                .map(|(_, file)| (file.path().clone(), file.clone()))
                .collect()
        };
        let mut keys: Vec<KeysId> = Vec::new();
        for (format, _) in &parts.files {
            if let Format::Eyaml(id) = format
                && !keys.contains(id)
            {
                keys.push(*id);
            }
        }
        let mut snapshot = Snapshot {
            yaml: files(Format::Yaml),
            json: files(Format::Json),
            hocon: files(Format::Hocon),
            eyaml: keys
                .into_iter()
                .map(|keys| (keys, files(Format::Eyaml(keys))))
                .collect(),
            unknown: files(Format::Unknown),
            global: parts.global,
            environment: parts.environment,
            modules: parts.modules.into_iter().collect(),
            directories: parts.directories.into_iter().collect(),
            indices: Indices::default(),
            revision: parts.revision,
        };
        snapshot.indices = snapshot.index();
        snapshot
    }

    fn index(&self) -> Indices {
        let in_order = |files: &Map<Arc<DataFile>>| -> Vec<Arc<DataFile>> {
            let mut files: Vec<_> = files.values().cloned().collect();
            files.sort_by(|left, right| left.path().cmp(right.path()));
            files
        };
        let formats = [Format::Yaml, Format::Json, Format::Hocon].into_iter();
        let formats = formats.chain(self.eyaml.iter().map(|(keys, _)| Format::Eyaml(*keys)));
        let files: Vec<(Format, Vec<Arc<DataFile>>)> = formats
            .filter_map(|format| Some((format, in_order(self.map(format)?))))
            .collect();
        let index = |layer: &Layer| {
            LayerIndex::build(layer.config()?, |format| {
                let files = files.iter().find(|(known, _)| *known == format);
                files.map_or(&[], |(_, files)| files.as_slice())
            })
        };
        let modules = self.modules.iter();
        Indices {
            global: index(&self.global),
            environment: index(&self.environment),
            modules: modules
                .filter_map(|(name, layer)| Some((name.clone(), index(layer)?)))
                .collect(),
        }
    }

    /// The digest of what is loaded: the same data gives the same one everywhere.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The modules, in the order they were found.
    pub fn modules(&self) -> impl Iterator<Item = (&ArcStr, &Layer)> {
        self.modules.iter()
    }

    /// The files that were read.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DataFile>> {
        let encrypted = self.eyaml.iter().flat_map(|(_, files)| files.values());
        self.yaml
            .values()
            .chain(self.json.values())
            .chain(self.hocon.values())
            .chain(encrypted)
    }

    fn map(&self, format: Format) -> Option<&Map<Arc<DataFile>>> {
        match format {
            Format::Yaml => Some(&self.yaml),
            Format::Json => Some(&self.json),
            Format::Hocon => Some(&self.hocon),
            Format::Unknown => Some(&self.unknown),
            Format::Eyaml(id) => self
                .eyaml
                .iter()
                .find(|(keys, _)| *keys == id)
                .map(|(_, files)| files),
        }
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
        self.modules.get(name)
    }

    fn file(&self, path: &str, format: Format) -> Option<&DataFile> {
        self.map(format)?.get(path).map(Arc::as_ref)
    }

    fn layer_index(&self, layer: &LayerKind) -> Option<&LayerIndex> {
        match layer {
            LayerKind::Global => self.indices.global.as_ref(),
            LayerKind::Environment => self.indices.environment.as_ref(),
            LayerKind::Module(name) => self.indices.modules.get(name),
        }
    }

    fn glob(&self, pattern: &str) -> Vec<String> {
        glob::expand(pattern, self)
    }
}

impl Directory for Snapshot {
    fn entries(&self, path: &str) -> Vec<Entry> {
        let path = crate::path::normalize(path);
        self.directories
            .get(path.as_ref())
            .cloned()
            .unwrap_or_default()
    }
}
