//! [`EyamlKeyStore`]: the keys of a level whose options contain variables, for all their values.
//!
//! All keys are read while loading, and a lookup only selects one of them. Facts come from the client, so they must not
//! lead to other files.

use std::collections::HashMap;
use std::fmt;

use hiera_resolver::Hash;
use hiera_resolver::data::KeyStore;
use hiera_resolver::hierarchy::path;
use hiera_resolver::template::DecryptFault;

use super::key_source::KeyLocation;
use super::keys::{PrivateKey, PublicKey};
use super::{KeySource, Keys, KeysError, decrypt_text};

/// Private keys, certificates, and which of them are pairs.
pub(crate) struct EyamlKeyStore {
    /// The directory that relative paths start from.
    base: String,
    private: KeyTable<PrivateKey>,
    public: KeyTable<PublicKey>,
    /// By their indices in the two tables; a private key alone if no certificate is set.
    pairs: Vec<((usize, Option<usize>), Keys)>,
}

/// Keys of one kind, by location. Invalid ones have their error.
struct KeyTable<K> {
    files: HashMap<String, usize>,
    variables: HashMap<String, usize>,
    keys: Vec<Result<K, KeysError>>,
}

/// Files by absolute path and variables by name, with their contents.
#[derive(Debug, Default)]
pub(crate) struct KeyTexts {
    pub(crate) files: Vec<(String, Result<Vec<u8>, String>)>,
    pub(crate) variables: Vec<(String, Vec<u8>)>,
}

impl EyamlKeyStore {
    /// Parses the keys that the options of a level may name.
    pub(crate) fn new(base: &str, private: KeyTexts, public: KeyTexts) -> Self {
        let is_alone = public.files.is_empty() && public.variables.is_empty();
        let private = KeyTable::new(private, PrivateKey::from_pem);
        let public = KeyTable::new(public, PublicKey::from_pem);
        let mut pairs = Vec::new();
        for (private_index, key) in private.valid() {
            if is_alone {
                pairs.push(((private_index, None), Keys::alone(key)));
            }
            for (public_index, certificate) in public.valid() {
                if let Ok(keys) = Keys::pair(key, certificate) {
                    pairs.push(((private_index, Some(public_index)), keys));
                }
            }
        }
        EyamlKeyStore {
            base: base.to_owned(),
            private,
            public,
            pairs,
        }
    }

    fn find(&self, options: &Hash) -> Result<usize, KeysError> {
        let source = KeySource::from_options(options)?;
        let private = self.private.find(&source.private, &self.base)?;
        let public = source.public.as_ref();
        let public = public.map(|location| self.public.find(location, &self.base));
        let pair = (private, public.transpose()?);
        let found = self.pairs.iter().position(|(indices, _)| *indices == pair);
        found.ok_or(KeysError::Mismatch)
    }
}

impl KeyStore for EyamlKeyStore {
    fn len(&self) -> usize {
        self.pairs.len()
    }

    fn choose(&self, options: &Hash) -> Result<usize, DecryptFault> {
        self.find(options).map_err(|error| error.fault())
    }

    fn decrypt(&self, pair: usize, text: &str) -> Result<String, DecryptFault> {
        match self.pairs.get(pair) {
            Some((_, keys)) => decrypt_text(text, keys).map_err(|error| error.fault()),
            None => Err(DecryptFault::new("there are no such keys")),
        }
    }
}

impl<K> KeyTable<K> {
    fn new(texts: KeyTexts, parse: impl Fn(&[u8]) -> Result<K, KeysError>) -> Self {
        let mut table = KeyTable {
            files: HashMap::new(),
            variables: HashMap::new(),
            keys: Vec::new(),
        };
        for (path, text) in texts.files {
            table.files.insert(path.clone(), table.keys.len());
            let text = text.map_err(|cause| KeysError::File { path, cause });
            table.keys.push(text.and_then(|text| parse(&text)));
        }
        for (name, text) in texts.variables {
            table.variables.insert(name, table.keys.len());
            table.keys.push(parse(&text));
        }
        table
    }

    fn valid(&self) -> impl Iterator<Item = (usize, &K)> {
        let keys = self.keys.iter().enumerate();
        keys.filter_map(|(index, key)| Some((index, key.as_ref().ok()?)))
    }

    /// The index of the key in a variable, or else in a file.
    fn find(&self, location: &KeyLocation, base: &str) -> Result<usize, KeysError> {
        let variable = location.variable.as_ref();
        let index = match variable.and_then(|name| self.variables.get(name)) {
            Some(index) => *index,
            None => {
                let Some(path) = &location.file else {
                    return Err(KeysError::Variable(variable.cloned().unwrap_or_default()));
                };
                let absolute = path::join(base, path);
                let found = self.files.get(path::normalize(&absolute).as_ref());
                *found.ok_or_else(|| KeysError::File {
                    path: path.clone(),
                    cause: "No such file or directory".to_owned(),
                })?
            }
        };
        match self.keys.get(index) {
            Some(Err(error)) => Err(error.clone()),
            _ => Ok(index),
        }
    }
}

impl fmt::Debug for EyamlKeyStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EyamlKeyStore")
            .field("pairs", &self.pairs.len())
            .finish_non_exhaustive()
    }
}
