//! [`KeyRings`]: the keys of all levels that read encrypted files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hiera_resolver::Node;
use hiera_resolver::data::{KeysId, Texts};
use hiera_resolver::data_functions::KEY_OPTIONS;
use hiera_resolver::hierarchy::{ConfigText, Level};
use hiera_resolver::template::{DecryptFault, Part, Template, Token, Variable};
use hiera_resolver::{DataFile, Fault, Format, Hash, Layer, Value};

use super::loaded::LoadedEnvironment;
use super::read::read_file;
use super::revision::{ABSENT_DIGEST, ContentDigest, digest};
use super::search::Search;
use crate::backends::eyaml::{self, EyamlKeyStore, KeySource, KeyTexts, Keys};

/// The keys of each level, by the options that name them.
#[derive(Default)]
pub(crate) struct KeyRings {
    rings: Vec<(KeysId, KeyRing)>,
    /// The key files that were looked for, with their digests.
    read: Vec<(PathBuf, ContentDigest)>,
    /// The directories in which further ones could appear.
    directories: Vec<PathBuf>,
    /// The key files that the system failed to read.
    faults: Vec<Fault>,
}

/// The keys of a level.
enum KeyRing {
    /// The same for every node; or why there are none.
    Shared(Result<Keys, DecryptFault>),
    /// Selected by the variables of each node.
    ByNode(Arc<EyamlKeyStore>),
}

impl KeyRings {
    /// Reads the keys that the levels of an environment name.
    pub(super) fn of<'a>(layers: impl Iterator<Item = &'a Layer>, search: &Search<'_>) -> Self {
        let mut rings = KeyRings::default();
        for level in layers
            .filter_map(|layer| layer.config())
            .flat_map(|config| config.all_levels())
        {
            rings.add(level, search);
        }
        rings.read.sort();
        rings.read.dedup();
        rings
    }

    /// Reads the keys of one level, if it has any.
    pub(crate) fn add(&mut self, level: &Level, search: &Search<'_>) {
        let Some(id) = level.format().keys() else {
            return;
        };
        if self.rings.iter().any(|(known_id, _)| *known_id == id) {
            return;
        }
        let ring = match level.options().and_then(Value::as_hash) {
            Some(options) if depends_on_node(options) => {
                KeyRing::ByNode(Arc::new(self.key_store(options, search)))
            }
            _ => KeyRing::Shared(self.keys(level, search)),
        };
        self.rings.push((id, ring));
    }

    /// The keys of a level that all nodes share.
    fn keys(&mut self, level: &Level, search: &Search<'_>) -> Result<Keys, DecryptFault> {
        let scope = Node::new(search.environment);
        let options = level
            .filled_options(&scope)
            .map_err(|error| DecryptFault::new(&error.to_string()))?;
        KeySource::from_options(&options)
            .and_then(|source| {
                Keys::load(&source, |path| self.read(path, search.code.max_file_size))
            })
            .map_err(|error| error.fault())
    }

    /// All keys that the options of a level may name, with every variable as a wildcard.
    fn key_store(&mut self, options: &Hash, search: &Search<'_>) -> EyamlKeyStore {
        let base = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let base = base.to_string_lossy();
        let [private, public, private_variable, public_variable] = KEY_OPTIONS;
        let mut texts = |file, variable: &str| KeyTexts {
            files: self.files(options.get(file), &base, search),
            // A node selects one of them; all are in memory already.
            variables: match options.get(variable) {
                Some(Value::Str(_) | Value::Template(_)) => environment_variables(),
                _ => Vec::new(),
            },
        };
        let private = texts(private, private_variable);
        let public = texts(public, public_variable);
        EyamlKeyStore::new(&base, private, public)
    }

    /// The files that an option may name, with their contents.
    fn files(
        &mut self,
        option: Option<&Value>,
        base: &str,
        search: &Search<'_>,
    ) -> Vec<(String, Result<Vec<u8>, String>)> {
        let text = match option {
            Some(Value::Str(text)) => text.to_string(),
            Some(Value::Template(template)) => {
                with_environment(&Template::of(template), search.environment)
            }
            _ => return Vec::new(),
        };
        let is_fixed = !text.contains("%{");
        // A path that begins with a variable could name any file and is not searched for.
        let is_rooted = text
            .split("%{")
            .next()
            .is_some_and(|start| start.contains('/'));
        if !is_fixed && !is_rooted {
            return Vec::new();
        }
        let found = search.find_named(&ConfigText::new(base), &ConfigText::new(&text));
        self.directories.extend(found.directories);
        self.faults.extend(found.faults);
        let files = found.files.into_iter().map(|(path, _)| {
            let bytes = self.read(Path::new(&path), search.code.max_file_size);
            (path, bytes)
        });
        files.collect()
    }

    fn read(&mut self, path: &Path, max_file_size: u64) -> Result<Vec<u8>, String> {
        let read = read_file(path, max_file_size);
        let digest = match &read {
            Ok(bytes) => digest(bytes),
            Err(error) if error.is_absence() => ABSENT_DIGEST,
            Err(error) => {
                if error.is_temporary() {
                    let fault = Fault::at_path(&path.to_string_lossy(), error);
                    self.faults.push(fault);
                }
                digest(error.to_string().as_bytes())
            }
        };
        self.read.push((path.to_path_buf(), digest));
        read.map_err(|error| error.to_string())
    }

    /// The key files that the system failed to read.
    pub(super) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The key files that were looked for, with their digests: a new key is a new revision.
    pub(super) fn key_files(&self) -> &[(PathBuf, ContentDigest)] {
        &self.read
    }

    /// The directories in which further keys could appear, and those of the targets of links.
    pub(super) fn directories(&self) -> impl Iterator<Item = PathBuf> {
        let linked = self.read.iter().filter_map(|(path, _)| {
            let real = path.is_symlink().then(|| path.canonicalize().ok())??;
            real.parent().map(Path::to_path_buf)
        });
        self.directories.iter().cloned().chain(linked)
    }

    /// Are the keys for files of a format the same as in the previous load?
    pub(super) fn are_unchanged(
        &self,
        format: Format,
        previous: Option<&LoadedEnvironment>,
    ) -> bool {
        format.keys().is_none() || previous.is_some_and(|previous| self.are_those_of(previous))
    }

    /// Are the key files the same as those of a previous load?
    pub(super) fn are_those_of(&self, previous: &LoadedEnvironment) -> bool {
        previous.inputs.key_files == self.read
    }

    /// Decodes a file, and decrypts its values where its format is an encrypted one.
    pub(super) fn decode(
        &self,
        path: &str,
        format: Format,
        bytes: &[u8],
        texts: &mut Texts,
    ) -> DataFile {
        let Some(id) = format.keys() else {
            return DataFile::decode(path, format, bytes, texts);
        };
        let ring = self.rings.iter().find(|(known_id, _)| *known_id == id);
        if let Some((_, KeyRing::ByNode(key_store))) = ring {
            return DataFile::decode_for_nodes(path, format, bytes, texts, key_store.clone());
        }
        DataFile::decode_encrypted(path, format, bytes, texts, &|text| match ring {
            Some((_, KeyRing::Shared(Ok(keys)))) => {
                eyaml::decrypt_text(text, keys).map_err(|error| error.fault())
            }
            Some((_, KeyRing::Shared(Err(fault)))) => Err(fault.clone()),
            _ => Err(DecryptFault::new("there are no keys for this level")),
        })
    }
}

/// Do the keys of a level depend on more than the environment?
fn depends_on_node(options: &Hash) -> bool {
    KEY_OPTIONS.iter().any(|name| match options.get(name) {
        Some(Value::Template(template)) => Template::of(template).parts().iter().any(
            |part| matches!(part, Part::Token(Token::Variable(variable)) if !is_environment(variable)),
        ),
        _ => false,
    })
}

/// Is it `environment` or `server_facts.environment`, which a request cannot set?
fn is_environment(variable: &Variable) -> bool {
    matches!(
        variable.text.trim_start_matches("::"),
        "environment" | "server_facts.environment"
    )
}

/// A text of a configuration with the name of the environment filled in, and all other variables left alone.
fn with_environment(template: &Template, environment: &str) -> String {
    let parts = template.parts().iter();
    let texts = parts.map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Token(Token::Variable(variable)) if is_environment(variable) => environment,
        Part::Token(Token::Empty) => "",
        // Any variable is a wildcard here, so its name does not matter.
        Part::Token(_) => "%{x}",
    });
    texts.collect()
}

fn environment_variables() -> Vec<(String, Vec<u8>)> {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = OsString::into_string(name).ok()?;
        Some((name, value.into_encoded_bytes()))
    });
    variables.collect()
}
