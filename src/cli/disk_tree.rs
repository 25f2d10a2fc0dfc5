//! [`DiskTree`]: an environment read from disk on demand, for `hierad lookup`. Only the files that a lookup needs are read.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use elsa::FrozenMap;
use hiera_resolver::data::Texts;
use hiera_resolver::hierarchy::glob;
use hiera_resolver::hierarchy::glob::{Directory as _, EntryKind, GlobError};
use hiera_resolver::{DataFile, Format, HieraConfig, Layer, Strictness, Tree};

use crate::config::CodeDirectory;
use crate::data_loading::{
    self, ConfigFiles, EnvironmentConf, KeyRings, Listings, Search, is_module_name,
};
use crate::filesystem;

/// An environment whose files are read when they are needed.
pub(crate) struct DiskTree<'a> {
    code: &'a CodeDirectory,
    global: Layer,
    environment: Layer,
    modulepath: Vec<PathBuf>,
    modules: FrozenMap<String, Box<Option<Layer>>>,
    files: FrozenMap<(String, Format), Box<Option<DataFile>>>,
    listings: Listings,
    texts: RefCell<Texts>,
    name: String,
    keys: RefCell<KeyRings>,
}

impl<'a> DiskTree<'a> {
    /// The environment of this name.
    pub(crate) fn new(code: &'a CodeDirectory, name: &str) -> Self {
        let mut files = ConfigFiles::default();
        let conf = EnvironmentConf::read(code, name, &mut files);
        let tree = DiskTree {
            code,
            global: data_loading::global_layer(code, &mut files),
            environment: data_loading::environment_layer(
                code,
                &code.environment(name),
                &conf,
                &mut files,
            ),
            modulepath: conf.modulepath,
            modules: FrozenMap::new(),
            files: FrozenMap::new(),
            listings: Listings::default(),
            texts: RefCell::default(),
            name: name.to_owned(),
            keys: RefCell::default(),
        };
        tree.add_keys(&tree.global);
        tree.add_keys(&tree.environment);
        tree
    }

    /// Reads the keys of a layer's encrypted levels.
    fn add_keys(&self, layer: &Layer) {
        for level in layer.config().into_iter().flat_map(HieraConfig::all_levels) {
            let search = Search {
                environment: &self.name,
                listings: &self.listings,
                code: self.code,
            };
            self.keys.borrow_mut().add(level, &search);
        }
    }

    fn find_module(&self, name: &str) -> Option<Layer> {
        if !is_module_name(name) {
            return None;
        }
        let mut directories = self.modulepath.iter().map(|path| path.join(name));
        // A directory that cannot be inspected may be the module; reading its configuration reports why not.
        let directory = directories.find(|path| filesystem::is_directory(path).unwrap_or(true))?;
        let layer =
            data_loading::module_layer(self.code, &directory, name, &mut ConfigFiles::default());
        self.add_keys(&layer);
        Some(layer)
    }

    fn read(&self, path: &str, format: Format) -> Option<DataFile> {
        if let Some(problem) = self.listings.problem_at(path) {
            return Some(DataFile::unreadable(path, &problem));
        }
        let path_on_disk = Path::new(path);
        if !filesystem::may_exist(path_on_disk) {
            return None;
        }
        let environment = self.code.environment(&self.name);
        let base = [environment.as_path(), &self.code.root];
        let base = base.into_iter().find(|base| path_on_disk.starts_with(base));
        let refusal = |base| data_loading::link_refusal(self.code, &self.name, base, path_on_disk);
        if let Some(problem) = base.and_then(refusal) {
            return Some(DataFile::unreadable(path, &problem));
        }
        Some(data_loading::decode_one(
            self.code,
            format,
            path,
            &mut self.texts.borrow_mut(),
            &self.keys.borrow(),
        ))
    }
}

impl Tree for DiskTree<'_> {
    fn global(&self) -> &Layer {
        &self.global
    }

    fn environment(&self) -> &Layer {
        &self.environment
    }

    fn module(&self, name: &str) -> Option<&Layer> {
        if let Some(layer) = self.modules.get(name) {
            return layer.as_ref();
        }
        self.modules
            .insert(name.to_owned(), Box::new(self.find_module(name)))
            .as_ref()
    }

    fn file(&self, path: &str, format: Format) -> Option<&DataFile> {
        let key = (path.to_owned(), format);
        if let Some(file) = self.files.get(&key) {
            return file.as_ref();
        }
        self.files
            .insert(key, Box::new(self.read(path, format)))
            .as_ref()
    }

    fn kind_of(&self, path: &str) -> Option<EntryKind> {
        let (parent, name) = path.rsplit_once('/')?;
        let parent = if parent.is_empty() { "/" } else { parent };
        let entries = self.listings.entries(parent);
        let entry = entries.iter().find(|entry| entry.name == name)?;
        Some(entry.kind)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError> {
        glob::expand(pattern, &self.listings)
    }

    fn strictness(&self) -> Strictness {
        self.code.strictness
    }
}

#[cfg(test)]
mod tests;
