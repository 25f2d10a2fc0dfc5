//! What was decrypted or becomes a Sensitive is shown in no explanation and no error; what stands beside it is.
//!
//! Trees, options and lookups at random, always the same ones. Everything secret holds `SECRET`, and every plain text is
//! a word of its own.
#![cfg(test)]

use std::fmt::Write;
use std::sync::Arc;

use hiera_resolver::Explanation;
use hiera_resolver::Node;
use hiera_resolver::data::Texts;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{
    Answer, DataFile, Explain, Hash, Layer, LayerKind, MergeStrategy, Outcome, Request, Session,
    Snapshot, Type, Value,
};

const CONFIG: &str = "
version: 5
defaults: {lookup_key: eyaml_lookup_key, datadir: data, options: {pkcs7_private_key: a, pkcs7_public_key: b}}
hierarchy:
  - {name: high, path: high.eyaml}
  - {name: middle, path: middle.eyaml}
  - {name: low, path: low.eyaml}
";
const FILES: [&str; 3] = ["high", "middle", "low"];
const KEYS: usize = 8;
const MARK: &str = "SECRET";
const REDACTED: &str = "Sensitive [value redacted]";

/// Numbers at random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// A tree at random.
struct Garden {
    dice: Dice,
    words: usize,
    /// The key that is being written. Values refer to later ones, so that few are part of themselves.
    key: usize,
    /// The texts of data files, the highest first.
    files: [String; 3],
    /// The plain words that stand below each key in each file.
    plain: Vec<[Vec<String>; 3]>,
    /// The keys whose values are made Sensitive, and those that are converted in another way.
    sensitive: Vec<usize>,
    converted: Vec<usize>,
}

impl Garden {
    fn new(seed: u64) -> Self {
        let mut garden = Garden {
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            words: 0,
            key: 0,
            files: Default::default(),
            plain: vec![Default::default(); KEYS],
            sensitive: Vec::new(),
            converted: Vec::new(),
        };
        garden.plant_options();
        for key in 0..KEYS {
            garden.key = key;
            for file in 0..FILES.len() {
                if garden.dice.roll(3) == 0 {
                    continue;
                }
                let mut words = Vec::new();
                let value = match garden.sensitive.contains(&key) {
                    true => garden.secret_text(false),
                    false => garden.value(2, &mut words),
                };
                writeln!(garden.files[file], "k{key}: {value}").unwrap();
                garden.plain[key][file] = words;
            }
        }
        garden
    }

    fn plant_options(&mut self) {
        let mut options = String::from("lookup_options:\n  none: {}\n");
        for key in 0..KEYS {
            let merge = match self.dice.roll(8) {
                0 => "merge: unique",
                1 => "merge: hash",
                2 => "merge: deep",
                3 => "merge: {strategy: deep, knockout_prefix: '--'}",
                4 => "merge: {strategy: unconstrained_deep, unpack_arrays: ','}",
                5 => "merge: {strategy: deep, merge_hash_arrays: true}",
                _ => "merge: first",
            };
            let conversion = match self.dice.roll(12) {
                0 | 1 => "Sensitive",
                2 => "String",
                3 => "Integer",
                4 => "[Array, true]",
                5 => "Hash",
                6 => "Boolean",
                _ => "~",
            };
            match conversion {
                "~" => {}
                "Sensitive" => self.sensitive.push(key),
                _ => self.converted.push(key),
            }
            writeln!(options, "  k{key}: {{{merge}, convert_to: {conversion}}}").unwrap();
        }
        self.files[2] = options;
    }

    fn other(&mut self) -> usize {
        self.key + 1 + self.dice.roll(KEYS)
    }

    /// A text that is secret as it stands in a file: encrypted, or plain where it becomes a Sensitive.
    fn secret_text(&mut self, is_encrypted: bool) -> String {
        self.words += 1;
        let (number, other) = (self.words, self.other());
        let text = match self.dice.roll(40) {
            0..5 => format!("{MARK}{number}-%{{lookup('k{other}')}}"),
            5..10 => format!("{MARK}{number} %{{facts.fact}}"),
            10 => format!("{MARK}{number} %{{nope('x')}}"),
            11..16 => format!("a,{MARK}{number},b"),
            16 => format!("%{{{MARK}('{number}')}}"),
            17 => format!("%{{lookup('{MARK}{number}.')}}"),
            _ => format!("{MARK}{number}"),
        };
        match is_encrypted {
            // Stands for its own encryption, turned around so that it does not show what it is.
            true => format!("\"ENC[{}]\"", text.chars().rev().collect::<String>()),
            false => format!("\"{text}\""),
        }
    }

    fn value(&mut self, depth: usize, words: &mut Vec<String>) -> String {
        match self.dice.roll(if depth == 0 { 6 } else { 10 }) {
            0 | 1 => self.secret_text(true),
            2 => {
                let other = self.other();
                format!("\"%{{lookup('k{other}')}} there\"")
            }
            3 => {
                let other = self.other();
                format!("\"%{{alias('k{other}')}}\"")
            }
            4 | 5 => {
                self.words += 1;
                let word = format!("plain{}x", self.words);
                words.push(word.clone());
                word
            }
            6 | 7 => {
                let items: Vec<String> = (0..self.dice.roll(4))
                    .map(|_| self.value(depth - 1, words))
                    .collect();
                format!("[{}]", items.join(", "))
            }
            _ => {
                let entries: Vec<String> = (0..self.dice.roll(4))
                    .map(|place| format!("m{place}: {}", self.value(depth - 1, words)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    fn snapshot(&self) -> Snapshot {
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

/// All that is said of a lookup beside its value.
fn said(answer: &Answer, explanation: Option<&Explanation>) -> String {
    let mut said = String::new();
    if let Err(error) = &answer.outcome {
        write!(said, "{error}").unwrap();
    }
    if let Some(explanation) = explanation {
        write!(said, "\n{explanation}\n").unwrap();
        puppet_values::ruby_text::inspect(&explanation.to_value(), &mut said);
    }
    said
}

#[test]
fn nothing_secret_is_told_and_everything_else_is() {
    let facts: Hash = [("fact".into(), Value::str("known"))].into_iter().collect();
    let scope = Node::new("production").facts(facts);
    let merges = ["first", "unique", "hash", "deep"]
        .map(|name| MergeStrategy::parse(&Value::str(name)).unwrap());
    let types = ["Integer", "Hash[String, Integer]", "Enum['a', 'b']"]
        .map(|text| Type::parse(text).unwrap());
    let (mut told, mut hidden, mut failed) = (0, 0, 0);
    for seed in 1..300 {
        let mut garden = Garden::new(seed);
        let snapshot = garden.snapshot();
        for key in 0..KEYS {
            let dotted = match garden.dice.roll(4) {
                0 => format!("k{key}.m{}", garden.dice.roll(3)),
                1 => format!("k{key}.{}", garden.dice.roll(3)),
                _ => format!("k{key}"),
            };
            let names = [dotted.as_str()];
            let merge = merges.get(garden.dice.roll(8));
            let plain = Request {
                merge,
                ..Request::new(&names)
            };
            let typed = |value_type| Request {
                value_type: Some(value_type),
                ..plain
            };
            let typed = types.iter().map(typed);
            let typed = typed.map(|request| (request, Some(Explain::Value)));
            let kinds = [None, Some(Explain::Value), Some(Explain::Options)];
            for (request, explain) in typed.chain(kinds.map(|kind| (plain, kind))) {
                let (answer, explanation) = request.answer(&snapshot, &scope, explain);
                let said = said(&answer, explanation.as_ref());
                let context = || format!("seed {seed} {request:?}\n{:#?}\n{said}", garden.files);
                assert!(!said.contains(MARK), "{}", context());
                hidden += usize::from(said.contains(REDACTED));
                failed += usize::from(answer.outcome.is_err());
                let is_plain = !garden.sensitive.contains(&key);
                if answer.outcome.is_err() || explain != Some(Explain::Value) || !is_plain {
                    continue;
                }
                // The highest value is always told, with all that is plain in it.
                let files = garden.plain[key].iter();
                for word in files
                    .clone()
                    .find(|words| !words.is_empty())
                    .into_iter()
                    .flatten()
                {
                    let is_first = garden.files.iter().find(|file| {
                        file.contains(&format!("\nk{key}: "))
                            || file.starts_with(&format!("k{key}: "))
                    });
                    if is_first.is_some_and(|file| file.contains(word.as_str())) {
                        assert!(said.contains(word.as_str()), "{word}: {}", context());
                        told += 1;
                    }
                }
            }
        }
    }
    assert!(
        told > 300 && hidden > 500 && failed > 500,
        "{told} {hidden} {failed}"
    );
}

#[test]
fn what_stands_beside_a_secret_is_readable() {
    let mut garden = Garden::new(1);
    garden.files = [
        "db: {user: bob, password: 'ENC[2retnuh]'}\nafter: '%{lookup(''db.user'')} and %{lookup(''plain'')}'\nurl: '%{lookup(''db.password'')}@host'\n".to_owned(),
        "db: {port: 5432, password: low}\n".to_owned(),
        "lookup_options: {db: {merge: deep}, wrong: {merge: hash}, number: {convert_to: Integer}}\nplain: word\nwrong: [1]\nnumber: 'ENC[neves]'\nplain_number: many\nmixed: '%{lookup(''number'')}'\n".to_owned(),
    ];
    garden.files[1] += "wrong: {a: 1}\n";
    let snapshot = garden.snapshot();
    let scope = Node::new("production");
    let ask = |key: &str| {
        let names = [key];
        let mut session = Session::explaining(&snapshot, &scope, Explain::Value);
        let (answer, explanation) = session.lookup(&Request::new(&names));
        (said(&answer, Some(&explanation)), answer.outcome)
    };
    let (said, outcome) = ask("db");
    assert!(matches!(outcome, Ok(Outcome::Found(_))));
    for shown in [
        "\"user\" => \"bob\"",
        "\"port\" => 5432",
        "\"password\" => Sensitive",
    ] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
    // What comes after a secret and is not made of it.
    let (said, _) = ask("after");
    assert!(
        said.contains("\"bob and word\"") && !said.contains("hunter2"),
        "{said}"
    );
    let (said, _) = ask("url");
    assert!(!said.contains("hunter2"), "{said}");
    assert!(
        said.contains("Found key: \"url\" value: Sensitive"),
        "{said}"
    );
    // An error of plain values says what is wrong, one of a secret does not.
    let (said, outcome) = ask("wrong");
    assert!(
        outcome.unwrap_err().to_string().contains("got Tuple"),
        "{said}"
    );
    let (said, outcome) = ask("mixed");
    let error = outcome.unwrap_err().to_string();
    assert!(
        error.contains("not shown") && !said.contains("seven"),
        "{said}"
    );
}
