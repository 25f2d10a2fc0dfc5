//! Encrypted files. Most are decrypted while they are decoded. Where the keys depend on the node, a file is decrypted
//! once with each pair of keys, when a lookup first needs it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use puppet_values::{Hash, Value};

use super::contents::Contents;
use super::file::DataFile;
use super::format::Format;
use super::texts::Texts;
use crate::template::{DecryptFault, Origin, Template};

/// Decrypts a string as written in a file. Errors must not reveal anything secret.
pub type Decrypt<'a> = &'a dyn Fn(&str) -> Result<String, DecryptFault>;

/// Has a string something to decrypt: `ENC[` and, in the same line, a `]`?
pub fn is_encrypted(text: &str) -> bool {
    let is_closed = |rest: &str| {
        rest.split('\n')
            .next()
            .is_some_and(|line| line.contains(']'))
    };
    text.split("ENC[").skip(1).any(is_closed)
}

/// All keys that a level may name, for any node.
pub trait KeyStore: fmt::Debug + Send + Sync {
    /// The number of key pairs.
    fn len(&self) -> usize;

    /// Is there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the pair that options name, filled in for a node; or why there is none.
    fn choose(&self, options: &Hash) -> Result<usize, DecryptFault>;

    /// Decrypts a string as written in a file. Errors must not reveal anything secret.
    fn decrypt(&self, pair: usize, text: &str) -> Result<String, DecryptFault>;
}

/// Decrypts a file for each node.
pub(super) struct NodeKeys {
    keys: Arc<dyn KeyStore>,
    /// The file as decrypted with each pair, once that was needed. Bounded by the keys on disk, whatever is asked.
    decrypted: Box<[OnceLock<Box<DataFile>>]>,
}

/// Stands for a reason that depends on the node; see [`DataFile::why_undecrypted`].
const NO_KEYS: &str = "there are no keys for it";

impl DataFile {
    /// Decodes a file whose keys depend on the node. Its values stay encrypted until a lookup selects the keys.
    pub fn decode_for_nodes(
        path: &str,
        format: Format,
        bytes: &[u8],
        texts: &mut Texts,
        keys: Arc<dyn KeyStore>,
    ) -> Self {
        let refuse = |_: &str| Err(DecryptFault::new(NO_KEYS));
        let mut file = DataFile::decode_with(path, format, bytes, texts, Some(&refuse));
        if let Ok(contents) = &mut file.contents {
            // Which keys are wrong for which value, only a lookup knows.
            contents.undecryptable.clear();
        }
        let decrypted = (0..keys.len()).map(|_| OnceLock::new()).collect();
        file.node_keys = Some(NodeKeys { keys, decrypted });
        file
    }

    /// The file as decrypted with the keys that these options name. The file itself if they name none, and if it
    /// does not depend on the node.
    pub(crate) fn decrypted_with(&self, options: &Hash) -> &DataFile {
        let (Some(node_keys), Ok(contents)) = (&self.node_keys, &self.contents) else {
            return self;
        };
        let Ok(pair) = node_keys.keys.choose(options) else {
            return self;
        };
        let Some(decrypted) = node_keys.decrypted.get(pair) else {
            return self;
        };
        decrypted.get_or_init(|| {
            let decrypt = |text: &str| node_keys.keys.decrypt(pair, text);
            Box::new(DataFile {
                path: self.path.clone(),
                contents: Ok(contents.decrypted(&decrypt)),
                node_keys: None,
            })
        })
    }

    /// Why these options decrypt nothing of the file.
    pub(crate) fn why_undecrypted(&self, options: &Hash) -> Option<DecryptFault> {
        self.node_keys.as_ref()?.keys.choose(options).err()
    }
}

impl Contents {
    fn decrypted(&self, decrypt: Decrypt<'_>) -> Contents {
        let data = self.data.iter();
        let data = data.map(|(key, value)| (key.clone(), decrypt_value(value, decrypt)));
        self.with_data(data.collect())
    }
}

/// The value with every encrypted string decrypted. Parts without one are shared.
fn decrypt_value(value: &Value, decrypt: Decrypt<'_>) -> Value {
    if !value.traits().has_templates {
        return value.clone();
    }
    match value {
        Value::Template(template)
            if matches!(Template::of(template).origin(), Origin::Undecryptable(_)) =>
        {
            let source = template.source();
            let decrypted = match decrypt(source) {
                Ok(plain) => Template::decrypted(source, &plain),
                Err(fault) => Template::undecryptable(source, fault),
            };
            decrypted.into_value()
        }
        Value::Array(array) => {
            let items = array.items().iter();
            Value::array(items.map(|item| decrypt_value(item, decrypt)).collect())
        }
        Value::Hash(hash) => {
            let entries = hash.iter();
            let entries = entries.map(|(key, value)| (key.clone(), decrypt_value(value, decrypt)));
            Value::hash(entries.collect())
        }
        other => other.clone(),
    }
}

impl fmt::Debug for NodeKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NodeKeys").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use puppet_values::table_key::TableKey;

    use super::*;
    use crate::data_functions::EYAML_LOOKUP_KEY;

    /// Each pair decrypts what starts with its index.
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
            let fits = text.contains(&format!("[{pair}"));
            fits.then(|| "plain".to_owned())
                .ok_or_else(|| DecryptFault::new("wrong"))
        }
    }

    fn options(number: &str) -> Hash {
        [(Value::str("number"), Value::str(number))]
            .into_iter()
            .collect()
    }

    fn file(yaml: &[u8], keys: &Arc<Numbers>) -> DataFile {
        let format = Format::new(&EYAML_LOOKUP_KEY, 0);
        DataFile::decode_for_nodes("/s", format, yaml, &mut Texts::default(), keys.clone())
    }

    fn origin(file: &DataFile, key: &str) -> Origin {
        match file.contents().unwrap().get(&TableKey::new(key.into())) {
            Some(Value::Template(template)) => Template::of(template).origin().clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_decrypted_once_with_each_pair_of_keys() {
        let keys = Arc::new(Numbers::default());
        let yaml = b"a: ENC[0]\nb: ENC[1]\nc: {d: [x, 'ENC[0]'], e: y}\n";
        let file = file(yaml, &keys);
        assert_eq!(file.contents().unwrap().undecryptable(), []);
        for _ in 0..3 {
            let first = file.decrypted_with(&options("0"));
            assert_eq!(origin(first, "a"), Origin::Decrypted);
            assert_eq!(
                origin(first, "b"),
                Origin::Undecryptable(DecryptFault::new("wrong"))
            );
            let second = file.decrypted_with(&options("1"));
            assert_eq!(
                origin(second, "a"),
                Origin::Undecryptable(DecryptFault::new("wrong"))
            );
            assert_eq!(origin(second, "b"), Origin::Decrypted);
        }
        assert_eq!(keys.decrypted.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn without_keys_values_stay_encrypted() {
        let keys = Arc::new(Numbers::default());
        let yaml = b"a: ENC[0]\nb: 1\n";
        let file = file(yaml, &keys);
        let undecrypted = file.decrypted_with(&options("7"));
        assert_eq!(
            origin(undecrypted, "a"),
            Origin::Undecryptable(DecryptFault::new(NO_KEYS))
        );
        let plain = undecrypted
            .contents()
            .unwrap()
            .get(&TableKey::new("b".into()));
        assert_eq!(plain, Some(&Value::Int(1)));
        assert_eq!(
            undecrypted.why_undecrypted(&options("7")),
            Some(DecryptFault::new("no number Some(\"7\")"))
        );
        assert_eq!(keys.decrypted.load(Ordering::Relaxed), 0);
    }
}
