//! The keys of all levels that read encrypted files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hiera_resolver::config::{Level, Text};
use hiera_resolver::data::{KEY_OPTIONS, KeysId, Texts};
use hiera_resolver::scope::Node;
use hiera_resolver::template::{DecryptFault, Part, Template, Token, Variable};
use hiera_resolver::{DataFile, Format, Hash, Layer, Value};

use super::Fault;
use super::revision::{ContentDigest, digest};
use super::search::Search;
use super::{ABSENT, Listings, Loaded, read_file};
use crate::backends::eyaml::{self, EyamlKeyStore, KeySource, KeyTexts, Keys};
use crate::config::CodeDirectory;

/// The keys of each level, by the options that name them.
#[derive(Default)]
pub(crate) struct KeyRings {
    rings: Vec<(KeysId, Ring)>,
    /// The key files that were looked for, by what they hold.
    read: Vec<(PathBuf, ContentDigest)>,
    /// The directories in which further ones could appear.
    directories: Vec<PathBuf>,
    /// The key files that may be there and that the system failed to read.
    faults: Vec<Fault>,
}

/// The keys of a level.
enum Ring {
    /// The same for every node; or why there are none.
    One(Result<Keys, DecryptFault>),
    /// Each node has its own.
    ByNode(Arc<EyamlKeyStore>),
}

/// What is known of an environment before anyone asks.
pub(crate) struct Known<'a> {
    pub(crate) environment: &'a str,
    pub(crate) listings: &'a Listings,
    pub(crate) code: &'a CodeDirectory,
}

impl KeyRings {
    /// Reads the keys that the levels of an environment name.
    pub(super) fn of<'a>(layers: impl Iterator<Item = &'a Layer>, known: &Known<'_>) -> Self {
        let mut rings = KeyRings::default();
        for level in layers
            .filter_map(|layer| layer.config())
            .flat_map(|config| config.all_levels())
        {
            rings.add(level, known);
        }
        rings.read.sort();
        rings.read.dedup();
        rings
    }

    /// Reads the keys of one level, if it has any.
    pub(crate) fn add(&mut self, level: &Level, known: &Known<'_>) {
        let Format::Eyaml(id) = level.format() else {
            return;
        };
        if self.rings.iter().any(|(known, _)| *known == id) {
            return;
        }
        let ring = match level.options().and_then(Value::as_hash) {
            Some(options) if depends_on_node(options) => {
                Ring::ByNode(Arc::new(self.key_store(options, known)))
            }
            _ => Ring::One(self.keys(level, known)),
        };
        self.rings.push((id, ring));
    }

    /// The keys of a level that all nodes share.
    fn keys(&mut self, level: &Level, known: &Known<'_>) -> Result<Keys, DecryptFault> {
        let scope = Node::new(known.environment);
        let options = level
            .filled_options(&scope)
            .map_err(|error| DecryptFault::new(&error.to_string()))?;
        KeySource::from_options(&options)
            .and_then(|source| {
                Keys::load(&source, |path| self.read(path, known.code.max_file_size))
            })
            .map_err(|error| error.fault())
    }

    /// All keys that the options of a level may name: their paths with every variable as a wildcard.
    fn key_store(&mut self, options: &Hash, known: &Known<'_>) -> EyamlKeyStore {
        let base = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let base = base.to_string_lossy();
        let [private, public, private_variable, public_variable] = KEY_OPTIONS;
        let mut texts = |file, variable: &str| KeyTexts {
            files: self.files(options.get(file), &base, known),
            // Which of them is meant, a node says; all are there anyway.
            variables: match options.get(variable) {
                Some(Value::Str(_) | Value::Template(_)) => environment_variables(),
                _ => Vec::new(),
            },
        };
        let private = texts(private, private_variable);
        let public = texts(public, public_variable);
        EyamlKeyStore::new(&base, private, public)
    }

    /// The files that an option may name, with what they hold.
    fn files(
        &mut self,
        option: Option<&Value>,
        base: &str,
        known: &Known<'_>,
    ) -> Vec<(String, Result<Vec<u8>, String>)> {
        let text = match option {
            Some(Value::Str(text)) => text.to_string(),
            Some(Value::Template(template)) => {
                without_environment(&Template::of(template), known.environment)
            }
            _ => return Vec::new(),
        };
        let is_fixed = !text.contains("%{");
        // A path that begins with a variable may lead anywhere, and what it leads to is not searched for.
        let is_rooted = text
            .split("%{")
            .next()
            .is_some_and(|start| start.contains('/'));
        if !is_fixed && !is_rooted {
            return Vec::new();
        }
        let search = Search {
            environment: known.environment,
            listings: known.listings,
            code: known.code,
        };
        let found = search.find_named(&Text::new(base), &Text::new(&text));
        self.directories.extend(found.directories);
        self.faults.extend(found.faults);
        let files = found.files.into_iter().map(|(path, _)| {
            let bytes = self.read(Path::new(&path), known.code.max_file_size);
            (path, bytes)
        });
        files.collect()
    }

    fn read(&mut self, path: &Path, max_file_size: u64) -> Result<Vec<u8>, String> {
        let read = read_file(path, max_file_size);
        let digest = match &read {
            Ok(bytes) => digest(bytes),
            Err(error) if error.is_absence() => ABSENT,
            Err(error) => {
                if error.is_passing() {
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

    /// The key files that were looked for: a new key is a new state of the data.
    pub(super) fn key_files(&self) -> &[(PathBuf, ContentDigest)] {
        &self.read
    }

    /// The directories in which further keys could appear, and those that keys really lie in where they are links.
    pub(super) fn directories(&self) -> impl Iterator<Item = PathBuf> {
        let linked = self.read.iter().filter_map(|(path, _)| {
            let real = path.is_symlink().then(|| path.canonicalize().ok())??;
            real.parent().map(Path::to_path_buf)
        });
        self.directories.iter().cloned().chain(linked)
    }

    /// Are the keys of a file what they were?
    pub(super) fn is_same(&self, format: Format, previous: Option<&Loaded>) -> bool {
        !matches!(format, Format::Eyaml(_))
            || previous.is_some_and(|previous| self.is_known(previous))
    }

    /// Do the key files hold what they held when the load before was made?
    pub(super) fn is_known(&self, previous: &Loaded) -> bool {
        previous.surroundings.key_files == self.read
    }

    /// Makes a file of the bytes of an encrypted one.
    pub(super) fn decode(
        &self,
        id: KeysId,
        path: &str,
        bytes: &[u8],
        texts: &mut Texts,
    ) -> DataFile {
        let ring = self.rings.iter().find(|(known, _)| *known == id);
        if let Some((_, Ring::ByNode(key_store))) = ring {
            return DataFile::decode_sealed(path, bytes, texts, key_store.clone());
        }
        DataFile::decode_encrypted(path, bytes, texts, &|text| match ring {
            Some((_, Ring::One(Ok(keys)))) => {
                eyaml::decrypt_text(text, keys).map_err(|error| error.fault())
            }
            Some((_, Ring::One(Err(fault)))) => Err(fault.clone()),
            _ => Err(DecryptFault::new("there are no keys for it")),
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

/// `environment` and `server_facts.environment`, which a request cannot set.
fn is_environment(variable: &Variable) -> bool {
    matches!(
        variable.text.trim_start_matches("::"),
        "environment" | "server_facts.environment"
    )
}

/// A text of a configuration with the environment's name filled in, and all other variables left in place.
fn without_environment(template: &Template, environment: &str) -> String {
    let parts = template.parts().iter();
    let texts = parts.map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Token(Token::Variable(variable)) if is_environment(variable) => environment,
        Part::Token(Token::Empty) => "",
        // One variable is as good as another.
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
