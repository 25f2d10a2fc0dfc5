//! [`Environment`]: the engine for programs that embed it, from texts to answers in a few lines.
//!
//! [`Environment::builder`] takes configurations and files as they are on disk and builds a [`Snapshot`]: it
//! determines which levels can reach a file, decodes it once for each way of reading it, and shares equal texts. A server
//! that reloads keeps decoded files and builds its snapshots by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::data::{DataFile, Format, Texts};
use crate::data_functions::{BUILT_IN, Functions};
use crate::explain::Explanation;
use crate::fault::Fault;
use crate::hierarchy::glob::{DirectoryEntry, EntryKind};
use crate::hierarchy::{Layer, LayerKind, path};
use crate::lookup::{Explain, LookupError, Outcome, Request, Session};
use crate::scope::Scope;
use crate::snapshot::{Parts, Snapshot};
use crate::strictness::Strictness;
use crate::template::DecryptFault;

/// One environment in memory, ready for lookups.
#[derive(Clone, Debug)]
pub struct Environment {
    snapshot: Snapshot,
}

/// Collects the parts of an environment. See [`Environment::builder`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct EnvironmentBuilder<'a> {
    name: ArcStr,
    root: String,
    strictness: Strictness,
    functions: Functions,
    global: Option<(String, Vec<u8>)>,
    hiera_yaml: Option<Vec<u8>>,
    /// Name and `hiera.yaml` of each module.
    modules: Vec<(String, Option<Vec<u8>>)>,
    files: BTreeMap<String, Vec<u8>>,
    decrypt: Option<&'a DecryptFn<'a>>,
}

type DecryptFn<'a> = dyn Fn(&str) -> Result<String, DecryptFault> + 'a;

impl Environment {
    /// Starts an environment named `production` without data.
    ///
    /// ```
    /// use hiera_resolver::{Environment, Node, Outcome, Value};
    ///
    /// let environment = Environment::builder()
    ///     .hiera_yaml("{version: 5, hierarchy: [{name: common, path: common.yaml}]}")
    ///     .file("data/common.yaml", "motd: welcome to %{facts.hostname}")
    ///     .build();
    /// let node = Node::new("production").facts([("hostname", "thrush".into())]);
    /// let outcome = environment.lookup("motd", &node)?;
    /// assert_eq!(outcome, Outcome::Found(Value::str("welcome to thrush")));
    /// # Ok::<(), hiera_resolver::LookupError>(())
    /// ```
    pub fn builder<'a>() -> EnvironmentBuilder<'a> {
        EnvironmentBuilder {
            name: "production".into(),
            root: String::new(),
            strictness: Strictness::default(),
            functions: &BUILT_IN,
            global: None,
            hiera_yaml: None,
            modules: Vec::new(),
            files: BTreeMap::new(),
            decrypt: None,
        }
    }

    /// The value of a key for a node.
    pub fn lookup(&self, key: &str, scope: &dyn Scope) -> Result<Outcome, LookupError> {
        self.session(scope).lookup(&Request::new(&[key])).outcome
    }

    /// How the value of a key was found, as `puppet lookup --explain` shows it.
    pub fn explain(&self, key: &str, scope: &dyn Scope) -> Explanation {
        let mut session = Session::explaining(&self.snapshot, scope, Explain::Value);
        session.lookup(&Request::new(&[key])).1
    }

    /// A session for any number of lookups of one node.
    pub fn session<'a>(&'a self, scope: &'a dyn Scope) -> Session<'a> {
        Session::new(&self.snapshot, scope)
    }

    /// The configurations and files that make lookups fail if they reach them.
    pub fn faults(&self) -> Vec<Fault> {
        let configs = self.snapshot.layers().filter_map(|layer| match layer {
            Layer::Faulty(faults) => Some(faults.iter().map(Fault::from)),
            _ => None,
        });
        let files = self.snapshot.files();
        let files = files.filter_map(|file| file.contents().err().map(Fault::from));
        configs.flatten().chain(files).collect()
    }

    /// The environment's data.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl<'a> EnvironmentBuilder<'a> {
    /// Names the environment: what `%{environment}` in a path is filled in with.
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the directory of the environment. Relative paths of files start here, and explanations show it. Without
    /// one, it is the name of the environment at the root of the file system.
    pub fn root(mut self, directory: &str) -> Self {
        self.root = directory.to_owned();
        self
    }

    /// Chooses between the rules of Puppet 8, which are the default, and those of Puppet 7.
    pub fn strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }

    /// Sets the data functions that levels may name. The default is [`BUILT_IN`].
    pub fn functions(mut self, functions: Functions) -> Self {
        self.functions = functions;
        self
    }

    /// Sets the `hiera.yaml` of the environment. Without one, the environment has Puppet's default hierarchy:
    /// `data/common.yaml` alone.
    pub fn hiera_yaml(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.hiera_yaml = Some(text.into());
        self
    }

    /// Sets the global layer: the absolute path of its `hiera.yaml`, and the text.
    pub fn global(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.global = Some((path.to_owned(), text.into()));
        self
    }

    /// Adds a module in `modules/NAME` with its `hiera.yaml`.
    pub fn module(mut self, name: &str, hiera_yaml: impl Into<Vec<u8>>) -> Self {
        self.modules
            .push((name.to_owned(), Some(hiera_yaml.into())));
        self
    }

    /// Adds a data file. A relative path starts at the directory of the environment.
    pub fn file(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.to_owned(), bytes.into());
        self
    }

    /// Decrypts the values of encrypted files. Without this, lookups that reach an encrypted value fail.
    pub fn decrypt_with(
        mut self,
        decrypt: &'a dyn Fn(&str) -> Result<String, DecryptFault>,
    ) -> Self {
        self.decrypt = Some(decrypt);
        self
    }

    /// Puts the environment together. This does not fail: a configuration or file that cannot be used is one of
    /// [`Environment::faults`], and fails the lookups that reach it.
    pub fn build(self) -> Environment {
        let root = match self.root.as_str() {
            "" => format!("/{}", self.name),
            root => root.to_owned(),
        };
        let layer = |kind: LayerKind, path: &str, text: &[u8]| {
            let layer = Layer::parse_with(self.functions, kind.clone(), path, &root, text);
            layer.held_to(&kind, self.strictness)
        };
        let global = match &self.global {
            Some((path, text)) => layer(LayerKind::Global, path, text),
            None => Layer::Absent,
        };
        let environment = match &self.hiera_yaml {
            Some(text) => layer(
                LayerKind::Environment,
                &path::join(&root, "hiera.yaml"),
                text,
            ),
            None => Layer::built_in(LayerKind::Environment, &root),
        };
        let modules = self.modules.iter().map(|(name, text)| {
            let directory = path::join(&root, &format!("modules/{name}"));
            let kind = LayerKind::Module(name.as_str().into());
            let layer = match text {
                Some(text) => layer(kind, &path::join(&directory, "hiera.yaml"), text),
                None => Layer::built_in(kind, &directory),
            };
            (ArcStr::from(name.as_str()), layer)
        });
        let modules: Vec<(ArcStr, Layer)> = modules.collect();
        let files = self.files.iter();
        let files: BTreeMap<String, &Vec<u8>> = files
            .map(|(path, bytes)| (path::join(&root, path), bytes))
            .collect();
        let layers = [&global, &environment];
        let layers = layers
            .into_iter()
            .chain(modules.iter().map(|(_, layer)| layer));
        let decoded = self.decode(layers, &files);
        let snapshot = Snapshot::build(Parts {
            directories: directories_of(files.keys()),
            name: self.name,
            global: Arc::new(global),
            environment,
            modules,
            files: decoded,
            strictness: self.strictness,
            ..Parts::default()
        });
        Environment { snapshot }
    }

    /// The files that some level can reach, each in all the ways it is read.
    fn decode<'l>(
        &self,
        layers: impl Iterator<Item = &'l Layer>,
        files: &BTreeMap<String, &Vec<u8>>,
    ) -> Vec<(Format, Arc<DataFile>)> {
        let mut texts = Texts::default();
        let mut decoded: Vec<(Format, Arc<DataFile>)> = Vec::new();
        for level in layers
            .filter_map(Layer::config)
            .flat_map(|config| config.all_levels())
        {
            let format = level.format();
            let reaches = level.reaches(&self.name);
            for (path, bytes) in files {
                let is_known = |(known, file): &(Format, Arc<DataFile>)| {
                    *known == format && file.path() == path
                };
                if !reaches.iter().any(|reach| reach.contains(path)) || decoded.iter().any(is_known)
                {
                    continue;
                }
                let refuse = |_: &str| Err(DecryptFault::new("there are no keys for it"));
                let file = match format.keys() {
                    Some(_) => {
                        let decrypt = self.decrypt.unwrap_or(&refuse);
                        DataFile::decode_encrypted(path, format, bytes, &mut texts, decrypt)
                    }
                    None => DataFile::decode(path, format, bytes, &mut texts),
                };
                decoded.push((format, Arc::new(file.held_to(self.strictness))));
            }
        }
        decoded
    }
}

/// The directories that lead to these files, with their entries: what globs go through.
fn directories_of<'a>(
    paths: impl Iterator<Item = &'a String>,
) -> Vec<(ArcStr, Arc<[DirectoryEntry]>)> {
    let mut directories: BTreeMap<&str, BTreeMap<&str, EntryKind>> = BTreeMap::new();
    for path in paths {
        let (mut rest, mut kind) = (path.as_str(), EntryKind::File);
        while let Some((parent, name)) = rest.rsplit_once('/') {
            let directory = if parent.is_empty() { "/" } else { parent };
            directories.entry(directory).or_default().insert(name, kind);
            (rest, kind) = (parent, EntryKind::Directory);
        }
    }
    let listing = |entries: BTreeMap<&str, EntryKind>| {
        let entries = entries.into_iter();
        entries
            .map(|(name, kind)| DirectoryEntry {
                name: name.into(),
                kind,
            })
            .collect()
    };
    directories
        .into_iter()
        .map(|(directory, entries)| (directory.into(), listing(entries)))
        .collect()
}

impl std::fmt::Debug for EnvironmentBuilder<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("EnvironmentBuilder")
            .field("name", &self.name)
            .field("files", &self.files.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
