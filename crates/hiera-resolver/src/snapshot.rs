//! [`Snapshot`]: one environment in memory, whole and unchangeable.

pub(crate) mod layer_index;
mod tree;

use std::sync::Arc;

use arcstr::ArcStr;
use indexmap::IndexMap;

use crate::data::{DataFile, FileFault, Format};
use crate::hierarchy::glob::{self, Directory, Entry, EntryKind, GlobError};
use crate::hierarchy::{Layer, LayerKind};
use crate::strictness::Strictness;

use self::layer_index::Files;
pub use self::layer_index::LayerIndex;
pub use self::tree::Tree;

type Map<T> = IndexMap<ArcStr, T, foldhash::fast::RandomState>;

/// One environment: its layers, its files, and the directories they lie in.
#[derive(Clone, Debug)]
pub struct Snapshot {
    name: ArcStr,
    global: Arc<Layer>,
    environment: Arc<Layer>,
    modules: Arc<Map<Layer>>,
    /// By format. Invariant: in the order of the functions, and the files of each in the order of their paths.
    files: IndexMap<Format, Map<Arc<DataFile>>, foldhash::fast::RandomState>,
    directories: Map<Arc<[Entry]>>,
    /// Stands for each file that may lie at or below a path which could not be read.
    unreadable: Arc<[DataFile]>,
    unlisted_module: Option<Arc<Layer>>,
    /// Links to a directory that they lie in, each with that directory. Files are kept by their paths without these.
    loops: Arc<Map<ArcStr>>,
    indices: Arc<Indices>,
    strictness: Strictness,
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
    /// The files of all levels, by what they are read as, in any order.
    pub files: Vec<(Format, Arc<DataFile>)>,
    /// The directories that globs may go through, by absolute path.
    pub directories: Vec<(ArcStr, Arc<[Entry]>)>,
    /// The paths at or below which there may be files that are not known, and why. Lookups that come to one fail.
    pub unreadable: Vec<(ArcStr, String)>,
    /// The layer of every module that is not named, where there may be others; it says why they are not known.
    pub unlisted_module: Option<Layer>,
    /// Whether lookups fail on undefined variables.
    pub strictness: Strictness,
    /// Links to a directory that they lie in, each with that directory. What lies behind one lies in the other.
    pub loops: Vec<(ArcStr, ArcStr)>,
    /// The digest of all this.
    pub revision: String,
}

/// What is different in a snapshot that follows another.
#[derive(Debug, Default)]
pub struct Differences {
    /// The files that are new, or other than they were.
    pub files: Vec<(Format, Arc<DataFile>)>,
    /// The files that are gone.
    pub gone: Vec<(Format, ArcStr)>,
    /// The directories with other entries.
    pub directories: Vec<(ArcStr, Arc<[Entry]>)>,
    /// The digest of all that there is now.
    pub revision: String,
}

impl Snapshot {
    /// Puts the parts together.
    pub fn build(parts: Parts) -> Self {
        let unreadable = parts.unreadable.iter();
        let unreadable = unreadable.map(|(path, reason)| DataFile::unreadable(path, reason));
        let mut snapshot = Snapshot {
            name: parts.name,
            files: IndexMap::default(),
            global: parts.global,
            environment: Arc::new(parts.environment),
            modules: Arc::new(parts.modules.into_iter().collect()),
            directories: parts.directories.into_iter().collect(),
            unreadable: unreadable.collect(),
            unlisted_module: parts.unlisted_module.map(Arc::new),
            loops: Arc::new(parts.loops.into_iter().collect()),
            indices: Arc::default(),
            strictness: parts.strictness,
            revision: parts.revision,
        };
        // Files are found by their place among the others. The server hands them over in order, and then this is one
        // look at each.
        let mut files = parts.files;
        files.sort_by(|(_, left), (_, right)| left.path().cmp(right.path()));
        for (format, file) in files {
            snapshot.map_mut(format).insert(file.path().clone(), file);
        }
        snapshot.sort_formats();
        snapshot.indices = Arc::new(snapshot.index());
        snapshot
    }

    fn index(&self) -> Indices {
        // A path that leads to no known file may lead to one that could not be read, or to one that is known by
        // another path: an index cannot tell.
        if !self.unreadable.is_empty() || !self.loops.is_empty() {
            return Indices::default();
        }
        let files = |format| self.map(format).map_or(Files::new(), Map::as_slice);
        let index = |layer: &Layer| LayerIndex::build(layer.config()?, files);
        let modules = self.modules.iter();
        Indices {
            global: index(&self.global),
            environment: index(&self.environment),
            modules: modules
                .filter_map(|(name, layer)| Some((name.clone(), index(layer)?)))
                .collect(),
        }
    }

    /// The snapshot that follows where only files have changed. What has not is shared.
    pub fn with(&self, differences: Differences) -> Self {
        let mut next = self.clone();
        for (format, file) in differences.files {
            // In the order of their paths, as `build` put them.
            next.map_mut(format)
                .insert_sorted(file.path().clone(), file);
        }
        next.sort_formats();
        for (format, path) in differences.gone {
            next.map_mut(format).shift_remove(&path);
        }
        next.directories.extend(differences.directories);
        next.revision = differences.revision;
        next.indices = Arc::new(next.index());
        next
    }

    /// The name of the environment.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The layers, from the global one down.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        [&*self.global, &*self.environment]
            .into_iter()
            .chain(self.modules.values())
    }

    /// What lies in a directory, where it is one that globs may go through.
    pub fn listing(&self, directory: &str) -> Option<&Arc<[Entry]>> {
        self.directories.get(directory)
    }

    /// The paths at or below which there may be files that are not known, and why.
    pub fn unreadable(&self) -> impl Iterator<Item = &FileFault> {
        self.unreadable
            .iter()
            .filter_map(|file| file.contents().err())
    }

    /// What stands for a file that is not known but may be there.
    fn unreadable_above(&self, path: &str) -> Option<&DataFile> {
        self.unreadable.iter().find(|file| {
            let below = path.strip_prefix(file.path().trim_end_matches('/'));
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
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
        let read = self.files.iter().filter(|(format, _)| format.is_read());
        read.flat_map(|(_, files)| files.values())
    }

    /// Finds something by a path, or by the same path without links that lead to a directory they lie in.
    fn find<T>(&self, path: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = find(path);
        if found.is_some() || self.loops.is_empty() {
            return found;
        }
        // Each step makes a path shorter, so this ends.
        let mut shorter = vec![path.to_owned()];
        while let Some(path) = shorter.pop() {
            for (link, target) in self.loops.iter() {
                let rest = path.strip_prefix(link.as_str());
                if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                    let path = [target.as_str(), rest].concat();
                    let found = find(&path);
                    if found.is_some() {
                        return found;
                    }
                    shorter.push(path);
                }
            }
        }
        None
    }

    fn map(&self, format: Format) -> Option<&Map<Arc<DataFile>>> {
        // A handful, which are searched faster than hashed.
        let mut files = self.files.iter();
        files.find_map(|(known, files)| (*known == format).then_some(files))
    }

    fn map_mut(&mut self, format: Format) -> &mut Map<Arc<DataFile>> {
        self.files.entry(format).or_default()
    }

    /// Brings files that were added into the order that [`Snapshot::files`] gives them in.
    fn sort_formats(&mut self) {
        self.files
            .sort_by(|left, _, right, _| left.cmp_function(*right));
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
        let known = self
            .map(format)
            .and_then(|files| self.find(path, |path| files.get(path)));
        known
            .map(Arc::as_ref)
            .or_else(|| self.unreadable_above(path))
    }

    fn layer_index(&self, layer: &LayerKind) -> Option<&LayerIndex> {
        match layer {
            LayerKind::Global => self.indices.global.as_ref(),
            LayerKind::Environment => self.indices.environment.as_ref(),
            LayerKind::Module(name) => self.indices.modules.get(name),
        }
    }

    fn kind_of(&self, path: &str) -> Option<EntryKind> {
        let (parent, name) = path.rsplit_once('/')?;
        let parent = if parent.is_empty() { "/" } else { parent };
        let listed = self.find(parent, |parent| self.directories.get(parent));
        let listed = listed.and_then(|entries| entries.iter().find(|entry| entry.name == name));
        let is_directory = || self.directories.contains_key(path);
        listed
            .map(|entry| entry.kind)
            .or_else(|| is_directory().then_some(EntryKind::Directory))
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError> {
        glob::expand(pattern, self)
    }

    fn strictness(&self) -> Strictness {
        self.strictness
    }
}

impl Directory for Snapshot {
    fn entries(&self, path: &str) -> Vec<Entry> {
        let path = crate::hierarchy::path::normalize(path);
        self.find(&path, |path| self.directories.get(path))
            .map(|entries| entries.to_vec())
            .unwrap_or_default()
    }

    fn is_unreadable(&self, path: &str) -> bool {
        self.unreadable_above(path).is_some() && !self.directories.contains_key(path)
    }
}

#[cfg(test)]
mod tests {
    use puppet_values::table_key::TableKey;

    use super::*;
    use crate::data::Texts;
    use crate::data_functions::EYAML_LOOKUP_KEY;

    fn file(path: &str, text: &str) -> Arc<DataFile> {
        let mut texts = Texts::default();
        let file = DataFile::decode(path, Format::YAML, text.as_bytes(), &mut texts);
        Arc::new(file)
    }

    #[test]
    fn a_snapshot_that_follows_shares_what_has_not_changed() {
        let entries = |names: &[&str]| -> Arc<[Entry]> {
            let entry = |name: &&str| Entry {
                name: (*name).into(),
                kind: EntryKind::File,
            };
            names.iter().map(entry).collect()
        };
        let files = ["/a", "/c", "/d"].map(|path| (Format::YAML, file(path, "k: 1")));
        let first = Snapshot::build(Parts {
            files: files.to_vec(),
            directories: vec![("/".into(), entries(&["a", "c", "d"]))],
            strictness: Strictness::default(),
            revision: "1".to_owned(),
            ..Parts::default()
        });
        let next = first.with(Differences {
            files: vec![
                (Format::YAML, file("/b", "k: 2")),
                (Format::YAML, file("/c", "k: 2")),
                (Format::new(&EYAML_LOOKUP_KEY, 7), file("/b", "k: 3")),
            ],
            gone: vec![(Format::YAML, "/d".into())],
            directories: vec![("/".into(), entries(&["a", "b", "c"]))],
            revision: "2".to_owned(),
        });
        let shown = |snapshot: &Snapshot| -> Vec<String> {
            let value = |file: &Arc<DataFile>| {
                format!(
                    "{:?}",
                    file.contents().unwrap().get(&TableKey::new("k".into()))
                )
            };
            let files = snapshot.files();
            files
                .map(|file| format!("{} {}", file.path(), value(file)))
                .collect()
        };
        let expected = ["/a Some(Int(1))", "/c Some(Int(1))", "/d Some(Int(1))"];
        assert_eq!(shown(&first), expected);
        assert_eq!(first.glob("/*").unwrap().len(), 3);
        let expected = [
            "/a Some(Int(1))",
            "/b Some(Int(2))",
            "/c Some(Int(2))",
            "/b Some(Int(3))",
        ];
        assert_eq!(shown(&next), expected);
        assert_eq!(next.glob("/*").unwrap(), ["/a", "/b", "/c"]);
        assert_eq!((first.revision(), next.revision()), ("1", "2"));
        let kept =
            [&first, &next].map(|snapshot| snapshot.map(Format::YAML).unwrap()["/a"].clone());
        assert!(Arc::ptr_eq(&kept[0], &kept[1]));
        assert!(next.file("/d", Format::YAML).is_none());
    }

    #[test]
    fn what_could_not_be_read_is_not_absent() {
        let layer = Layer::unreadable("/modules", &"refused");
        let snapshot = Snapshot::build(Parts {
            files: vec![(Format::YAML, file("/d/hidden/known", "k: 1"))],
            unreadable: vec![("/d/hidden".into(), "refused".to_owned())],
            unlisted_module: Some(layer),
            ..Parts::default()
        });
        let is_faulty = |path: &str| {
            let file = snapshot.file(path, Format::YAML);
            file.map(|file| file.contents().is_err())
        };
        assert_eq!(is_faulty("/d/hidden/known"), Some(false));
        assert_eq!(is_faulty("/d/hidden/other"), Some(true));
        assert_eq!(is_faulty("/d/hidden"), Some(true));
        assert_eq!(is_faulty("/d/hidden_not"), None);
        assert_eq!(snapshot.glob("/d/hidden/*").unwrap(), ["/d/hidden"]);
        assert!(snapshot.glob("/d/other/*").unwrap().is_empty());
        assert!(matches!(snapshot.module("any"), Some(Layer::Faulty(_))));
    }
}
