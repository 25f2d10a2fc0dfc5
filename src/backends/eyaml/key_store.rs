//! The keys of a level whose options hold variables: all that some node could name, read while loading.
//!
//! A lookup only chooses among them. Facts come from whoever asks, so they lead to no file that was not found before.

use std::collections::HashMap;
use std::fmt;

use hiera_resolver::data::KeyStore;
use hiera_resolver::template::DecryptFault;
use hiera_resolver::{Hash, path};

use super::key_source::Place;
use super::keys::{PrivateKey, PublicKey};
use super::{KeySource, Keys, KeysError, decrypt_text};

/// Private keys, certificates, and which of them belong together.
pub(crate) struct EyamlKeyStore {
    /// The directory that relative paths start from.
    base: String,
    private: Drawer<PrivateKey>,
    public: Drawer<PublicKey>,
    /// By their places in the two drawers; private keys by themselves where no certificate is named.
    pairs: Vec<((usize, Option<usize>), Keys)>,
}

/// Keys of one kind by where they come from; of what is none, why.
struct Drawer<K> {
    files: HashMap<String, usize>,
    variables: HashMap<String, usize>,
    keys: Vec<Result<K, KeysError>>,
}

/// Files by absolute path and variables by name, with what they hold.
#[derive(Debug, Default)]
pub(crate) struct KeyTexts {
    pub(crate) files: Vec<(String, Result<Vec<u8>, String>)>,
    pub(crate) variables: Vec<(String, Vec<u8>)>,
}

impl EyamlKeyStore {
    /// Makes keys of what the options of a level may name.
    pub(crate) fn new(base: &str, private: KeyTexts, public: KeyTexts) -> Self {
        let is_alone = public.files.is_empty() && public.variables.is_empty();
        let private = Drawer::new(private, PrivateKey::from_pem);
        let public = Drawer::new(public, PublicKey::from_pem);
        let mut pairs = Vec::new();
        for (place, key) in private.good() {
            if is_alone {
                pairs.push(((place, None), Keys::alone(key)));
            }
            for (other, certificate) in public.good() {
                if let Ok(keys) = Keys::pair(key, certificate) {
                    pairs.push(((place, Some(other)), keys));
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
        let public = public.map(|place| self.public.find(place, &self.base));
        let pair = (private, public.transpose()?);
        let found = self.pairs.iter().position(|(places, _)| *places == pair);
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

impl<K> Drawer<K> {
    fn new(texts: KeyTexts, parse: impl Fn(&[u8]) -> Result<K, KeysError>) -> Self {
        let mut drawer = Drawer {
            files: HashMap::new(),
            variables: HashMap::new(),
            keys: Vec::new(),
        };
        for (path, text) in texts.files {
            drawer.files.insert(path.clone(), drawer.keys.len());
            let text = text.map_err(|cause| KeysError::File { path, cause });
            drawer.keys.push(text.and_then(|text| parse(&text)));
        }
        for (name, text) in texts.variables {
            drawer.variables.insert(name, drawer.keys.len());
            drawer.keys.push(parse(&text));
        }
        drawer
    }

    fn good(&self) -> impl Iterator<Item = (usize, &K)> {
        let keys = self.keys.iter().enumerate();
        keys.filter_map(|(place, key)| Some((place, key.as_ref().ok()?)))
    }

    /// The key that a variable or else a file holds.
    fn find(&self, place: &Place, base: &str) -> Result<usize, KeysError> {
        let variable = place.variable.as_ref();
        let found = match variable.and_then(|name| self.variables.get(name)) {
            Some(found) => *found,
            None => {
                let Some(path) = &place.file else {
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
        match self.keys.get(found) {
            Some(Err(error)) => Err(error.clone()),
            _ => Ok(found),
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
