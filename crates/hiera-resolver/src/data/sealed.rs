//! Encrypted files whose keys depend on who asks: opened once with each pair of keys, when it is first needed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Contents, DataFile, Texts, decode_yaml};
use crate::Value;
use crate::hash::Hash;
use crate::template::{DecryptFault, Origin, Template};

/// The keys that a level may name, whoever asks.
pub trait KeyStore: fmt::Debug + Send + Sync {
    /// The number of pairs.
    fn len(&self) -> usize;

    /// Is there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pair that options name, filled in for a node, by its number; or why there is none.
    fn choose(&self, options: &Hash) -> Result<usize, DecryptFault>;

    /// Decrypts a text as it stands in a file; an error must not tell anything of what is secret.
    fn decrypt(&self, pair: usize, text: &str) -> Result<String, DecryptFault>;
}

/// The options that name the keys of a level.
pub const KEY_OPTIONS: [&str; 4] = [
    "pkcs7_private_key",
    "pkcs7_public_key",
    "pkcs7_private_key_env_var",
    "pkcs7_public_key_env_var",
];

/// What opens a file.
pub(super) struct Sealed {
    chest: Arc<dyn KeyStore>,
    /// The file as each pair opens it, once it was asked for. Bounded by what lies on disk, whatever is asked.
    opened: Box<[OnceLock<Box<DataFile>>]>,
}

/// Stands for a reason that only a node has; see [`DataFile::why_sealed`].
const SEALED: &str = "there are no keys for it";

impl DataFile {
    /// Makes a file of the bytes of an eyaml file whose keys depend on the node. What is encrypted in it stays so;
    /// see [`DataFile::opened_with`].
    pub fn decode_sealed(
        path: &str,
        bytes: &[u8],
        texts: &mut Texts,
        chest: Arc<dyn KeyStore>,
    ) -> Self {
        let path = path.into();
        let mut contents = decode_yaml(
            &path,
            bytes,
            texts,
            Some(&|_| Err(DecryptFault::new(SEALED))),
        );
        if let Ok(contents) = &mut contents {
            // Which keys are wrong for which value, only a lookup can tell.
            contents.undecryptable.clear();
        }
        let opened = (0..chest.len()).map(|_| OnceLock::new()).collect();
        DataFile {
            path,
            contents,
            sealed: Some(Sealed { chest, opened }),
        }
    }

    /// The file as the keys that these options name open it; the file itself where there are none, and where it does
    /// not depend on the node.
    pub fn opened_with(&self, options: &Hash) -> &DataFile {
        let (Some(sealed), Ok(contents)) = (&self.sealed, &self.contents) else {
            return self;
        };
        let Ok(pair) = sealed.chest.choose(options) else {
            return self;
        };
        let Some(opened) = sealed.opened.get(pair) else {
            return self;
        };
        opened.get_or_init(|| {
            let decrypt = |text: &str| sealed.chest.decrypt(pair, text);
            Box::new(DataFile {
                path: self.path.clone(),
                contents: Ok(contents.opened(&decrypt)),
                sealed: None,
            })
        })
    }

    /// Why these options open nothing of the file.
    pub(crate) fn why_sealed(&self, options: &Hash) -> Option<DecryptFault> {
        self.sealed.as_ref()?.chest.choose(options).err()
    }
}

impl Contents {
    fn opened(&self, decrypt: super::Decrypt<'_>) -> Contents {
        let data = self.data.iter();
        let data = data.map(|(key, value)| (key.clone(), open(value, decrypt)));
        Contents {
            options_notes: self.options_notes.clone(),
            ..Contents::new(data.collect(), self.notices.clone())
        }
    }
}

/// The value with every encrypted text decrypted. What holds none is shared.
fn open(value: &Value, decrypt: super::Decrypt<'_>) -> Value {
    if !value.traits().has_templates {
        return value.clone();
    }
    match value {
        Value::Template(template)
            if matches!(Template::of(template).origin(), Origin::Undecryptable(_)) =>
        {
            let source = template.source();
            let opened = match decrypt(source) {
                Ok(plain) => Template::decrypted(source, &plain),
                Err(fault) => Template::undecryptable(source, fault),
            };
            opened.into_value()
        }
        Value::Array(array) => {
            let items = array.items().iter().map(|item| open(item, decrypt));
            Value::array(items.collect())
        }
        Value::Hash(hash) => {
            let entries = hash.iter();
            let entries = entries.map(|(key, value)| (key.clone(), open(value, decrypt)));
            Value::hash(entries.collect())
        }
        other => other.clone(),
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sealed").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::table_key::TableKey;

    /// Its pairs open what is encrypted with their number.
    #[derive(Debug, Default)]
    struct Numbers {
        decrypted: AtomicUsize,
    }

    impl KeyStore for Numbers {
        fn len(&self) -> usize {
            2
        }

        fn choose(&self, options: &Hash) -> Result<usize, DecryptFault> {
            match options.get("number").and_then(Value::as_str) {
                Some("0") => Ok(0),
                Some("1") => Ok(1),
                other => Err(DecryptFault::new(&format!("no number {other:?}"))),
            }
        }

        fn decrypt(&self, pair: usize, text: &str) -> Result<String, DecryptFault> {
            self.decrypted.fetch_add(1, Ordering::Relaxed);
            let opened = text.contains(&format!("[{pair}"));
            opened
                .then(|| "plain".to_owned())
                .ok_or_else(|| DecryptFault::new("wrong"))
        }
    }

    fn options(number: &str) -> Hash {
        [(Value::str("number"), Value::str(number))]
            .into_iter()
            .collect()
    }

    fn origin(file: &DataFile, key: &str) -> Origin {
        match file.contents().unwrap().get(&TableKey::new(key.into())) {
            Some(Value::Template(template)) => Template::of(template).origin().clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_opened_once_with_each_pair_of_keys() {
        let chest = Arc::new(Numbers::default());
        let yaml = b"a: ENC[0]\nb: ENC[1]\nc: {d: [x, 'ENC[0]'], e: y}\n";
        let file = DataFile::decode_sealed("/s", yaml, &mut Texts::default(), chest.clone());
        assert_eq!(file.contents().unwrap().undecryptable(), []);
        for _ in 0..3 {
            let first = file.opened_with(&options("0"));
            assert_eq!(origin(first, "a"), Origin::Decrypted);
            assert_eq!(
                origin(first, "b"),
                Origin::Undecryptable(DecryptFault::new("wrong"))
            );
            let second = file.opened_with(&options("1"));
            assert_eq!(
                origin(second, "a"),
                Origin::Undecryptable(DecryptFault::new("wrong"))
            );
            assert_eq!(origin(second, "b"), Origin::Decrypted);
        }
        assert_eq!(chest.decrypted.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn without_keys_what_is_encrypted_stays_so() {
        let chest = Arc::new(Numbers::default());
        let yaml = b"a: ENC[0]\nb: 1\n";
        let file = DataFile::decode_sealed("/s", yaml, &mut Texts::default(), chest.clone());
        let sealed = file.opened_with(&options("7"));
        assert_eq!(
            origin(sealed, "a"),
            Origin::Undecryptable(DecryptFault::new(SEALED))
        );
        let plain = sealed.contents().unwrap().get(&TableKey::new("b".into()));
        assert_eq!(plain, Some(&Value::Int(1)));
        assert_eq!(
            sealed.why_sealed(&options("7")),
            Some(DecryptFault::new("no number Some(\"7\")"))
        );
        assert_eq!(chest.decrypted.load(Ordering::Relaxed), 0);
    }
}
