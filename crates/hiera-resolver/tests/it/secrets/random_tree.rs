//! [`RandomTree`]: data files with secrets, references and `lookup_options`, the same for the same seed.

use std::fmt::Write;
use std::sync::Arc;

use hiera_resolver::data::Texts;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{DataFile, Layer, LayerKind, Snapshot};

const CONFIG: &str = "
version: 5
defaults: {lookup_key: eyaml_lookup_key, datadir: data, options: {pkcs7_private_key: a, pkcs7_public_key: b}}
hierarchy:
  - {name: high, path: high.eyaml}
  - {name: middle, path: middle.eyaml}
  - {name: low, path: low.eyaml}
";

/// The data files, highest level first.
const FILES: [&str; 3] = ["high", "middle", "low"];

pub(super) const KEYS: usize = 8;

/// Part of every secret.
pub(super) const MARK: &str = "SECRET";

/// A random number generator that gives the same numbers in every run.
pub(super) struct RandomNumbers(u64);

impl RandomNumbers {
    /// A number less than the limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// A random tree.
pub(super) struct RandomTree {
    pub(super) random: RandomNumbers,
    /// How many words there are so far; each has a number of its own.
    words: usize,
    /// The key that is being written. Values refer to later keys, so that few lookups are recursive.
    key: usize,
    /// The data files, highest level first.
    pub(super) files: [String; 3],
    /// The plain words in the value of each key, for each file.
    pub(super) plain: Vec<[Vec<String>; 3]>,
    /// The keys whose values are converted to Sensitive.
    pub(super) sensitive: Vec<usize>,
}

impl RandomTree {
    pub(super) fn new(seed: u64) -> Self {
        let mut tree = RandomTree {
            random: RandomNumbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            words: 0,
            key: 0,
            files: Default::default(),
            plain: vec![Default::default(); KEYS],
            sensitive: Vec::new(),
        };
        tree.add_options();
        for key in 0..KEYS {
            tree.key = key;
            for file in 0..FILES.len() {
                if tree.random.below(3) == 0 {
                    continue;
                }
                let mut words = Vec::new();
                let value = match tree.sensitive.contains(&key) {
                    true => tree.secret_text(false),
                    false => tree.value(2, &mut words),
                };
                writeln!(tree.files[file], "k{key}: {value}").unwrap();
                tree.plain[key][file] = words;
            }
        }
        tree
    }

    fn add_options(&mut self) {
        let mut options = String::from("lookup_options:\n  none: {}\n");
        for key in 0..KEYS {
            let merge = match self.random.below(8) {
                0 => "merge: unique",
                1 => "merge: hash",
                2 => "merge: deep",
                3 => "merge: {strategy: deep, knockout_prefix: '--'}",
                4 => "merge: {strategy: unconstrained_deep, unpack_arrays: ','}",
                5 => "merge: {strategy: deep, merge_hash_arrays: true}",
                _ => "merge: first",
            };
            let conversion = match self.random.below(12) {
                0 | 1 => "Sensitive",
                2 => "String",
                3 => "Integer",
                4 => "[Array, true]",
                5 => "Hash",
                6 => "Boolean",
                _ => "~",
            };
            if conversion == "Sensitive" {
                self.sensitive.push(key);
            }
            writeln!(options, "  k{key}: {{{merge}, convert_to: {conversion}}}").unwrap();
        }
        self.files[2] = options;
    }

    /// The number of a later key, which may not exist.
    fn later_key(&mut self) -> usize {
        self.key + 1 + self.random.below(KEYS)
    }

    /// A secret as YAML: encrypted, or plain for a value that becomes a Sensitive.
    fn secret_text(&mut self, is_encrypted: bool) -> String {
        self.words += 1;
        let (number, other) = (self.words, self.later_key());
        let text = match self.random.below(40) {
            0..5 => format!("{MARK}{number}-%{{lookup('k{other}')}}"),
            5..10 => format!("{MARK}{number} %{{facts.fact}}"),
            10 => format!("{MARK}{number} %{{nope('x')}}"),
            11..16 => format!("a,{MARK}{number},b"),
            16 => format!("%{{{MARK}('{number}')}}"),
            17 => format!("%{{lookup('{MARK}{number}.')}}"),
            _ => format!("{MARK}{number}"),
        };
        match is_encrypted {
            // The encryption of these tests reverses the text.
            true => format!("\"ENC[{}]\"", text.chars().rev().collect::<String>()),
            false => format!("\"{text}\""),
        }
    }

    /// A random value as YAML. Adds its plain words.
    fn value(&mut self, depth: usize, words: &mut Vec<String>) -> String {
        match self.random.below(if depth == 0 { 6 } else { 10 }) {
            0 | 1 => self.secret_text(true),
            2 => {
                let other = self.later_key();
                format!("\"%{{lookup('k{other}')}} there\"")
            }
            3 => {
                let other = self.later_key();
                format!("\"%{{alias('k{other}')}}\"")
            }
            4 | 5 => {
                self.words += 1;
                let word = format!("plain{}x", self.words);
                words.push(word.clone());
                word
            }
            6 | 7 => {
                let items: Vec<String> = (0..self.random.below(4))
                    .map(|_| self.value(depth - 1, words))
                    .collect();
                format!("[{}]", items.join(", "))
            }
            _ => {
                let entries: Vec<String> = (0..self.random.below(4))
                    .map(|index| format!("m{index}: {}", self.value(depth - 1, words)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let kind = LayerKind::Environment;
        let environment = Layer::parse(kind, "/env/hiera.yaml", "/", CONFIG.as_bytes());
        let format = environment.config().unwrap().levels()[0].format();
        let decrypt = |text: &str| {
            let inside = text.trim_start_matches("ENC[").trim_end_matches(']');
            Ok(inside.chars().rev().collect())
        };
        let files = FILES.iter().zip(&self.files).map(|(name, text)| {
            let path = format!("/env/data/{name}.eyaml");
            let mut texts = Texts::default();
            let file =
                DataFile::decode_encrypted(&path, format, text.as_bytes(), &mut texts, &decrypt);
            assert!(file.contents().is_ok(), "{:?}\n{text}", file.contents());
            (format, Arc::new(file))
        });
        Snapshot::build(Parts {
            environment,
            files: files.collect(),
            ..Parts::default()
        })
    }
}
