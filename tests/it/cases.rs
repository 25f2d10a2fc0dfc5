//! Case files → trees, questions and Puppet's answers. The format is described in `tests/conformance/README.md`;
//! what `recorder/corpus.py` refuses is refused here.

use std::fmt;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

use crate::exact::Json;
use crate::support::Tree;

/// In a file of a tree: the tree's absolute path.
const ROOT_MARK: &str = "@ROOT@";

/// A tree and what was asked of it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) topic: String,
    pub(crate) name: String,
    /// Path as in a fixture → content, or `None` for a directory.
    files: Vec<(String, Option<Vec<u8>>)>,
    links: Vec<(String, String)>,
    pub(crate) asks: Vec<Ask>,
    /// Whose answers are wanted.
    pub(crate) puppet: Puppet,
}

/// The versions of Puppet whose answers are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Puppet {
    #[default]
    Seven,
    Eight,
}

impl Puppet {
    /// The setting `strict` that makes hierad answer like it.
    pub(crate) fn strict(self) -> &'static str {
        match self {
            Puppet::Seven => "warning",
            Puppet::Eight => "error",
        }
    }
}

/// A question and Puppet's answer.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) request: Json,
    flags: Vec<String>,
    /// The line of the question in its file.
    pub(crate) line: usize,
    want: Option<Json>,
    /// What Puppet 8 answers, where that differs.
    want_of_8: Option<Json>,
}

impl Case {
    /// `topic/name`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.topic, self.name)
    }

    /// The case with the answers that this Puppet gives.
    fn answered_by(mut self, puppet: Puppet) -> Self {
        self.puppet = puppet;
        for ask in &mut self.asks {
            let other = ask.want_of_8.take();
            if let (Puppet::Eight, Some(want)) = (puppet, other) {
                ask.want = Some(want);
            }
        }
        self
    }

    /// Puts the files on disk.
    pub(crate) fn write(&self) -> Tree {
        let tree = Tree::empty();
        let root = tree.root().display().to_string();
        for (path, content) in &self.files {
            match content {
                None => std::fs::create_dir_all(tree.path(path)).unwrap(),
                Some(content) => tree.write(path, replace(content, &root)),
            }
        }
        for (path, target) in &self.links {
            let path = tree.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(target.replace(ROOT_MARK, &root), path).unwrap();
        }
        tree
    }

    /// Adds a file. A later one of the same path takes its place.
    fn add(&mut self, path: &str, content: Option<Vec<u8>>) -> Result<(), String> {
        let path = checked(path)?;
        match self.files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, old)) => *old = content,
            None => self.files.push((path, content)),
        }
        Ok(())
    }
}

impl Ask {
    /// The request as it is sent: the tree's path filled in.
    pub(crate) fn request(&self, tree: &Tree) -> Json {
        self.request
            .replace(ROOT_MARK, &tree.root().display().to_string())
    }

    /// Puppet's answer.
    pub(crate) fn want(&self) -> &Json {
        self.want
            .as_ref()
            .expect("parsing refuses questions without an answer")
    }

    /// `found`, `not_found` or `error`.
    pub(crate) fn status(&self) -> &str {
        self.want()
            .get("status")
            .and_then(Json::as_text)
            .unwrap_or_default()
    }

    /// Was it asked with this flag?
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// Was it asked without flags?
    pub(crate) fn is_plain(&self) -> bool {
        self.flags.is_empty()
    }

    /// The key, where it is a single one.
    pub(crate) fn key(&self) -> Option<&str> {
        self.request.get("key").and_then(Json::as_text)
    }
}

/// Every case of the repository, once for each Puppet.
pub(crate) fn load() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/cases");
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "case")
        })
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for puppet in [Puppet::Seven, Puppet::Eight] {
            let parsed = parse(&text).unwrap_or_else(|fault| panic!("{name}:{fault}"));
            cases.extend(parsed.into_iter().map(|case| case.answered_by(puppet)));
        }
    }
    cases
}

/// The cases of one file; or the line and what is wrong in it.
fn parse(text: &str) -> Result<Vec<Case>, String> {
    let mut reader = Reader::default();
    for (place, line) in text.split('\n').enumerate() {
        let number = place + 1;
        reader
            .read(line, number)
            .map_err(|fault| format!("{number}: {fault}"))?;
    }
    reader.close().map_err(|fault| format!("end: {fault}"))?;
    for case in &reader.cases {
        if let Some(ask) = case.asks.iter().find(|ask| ask.want.is_none()) {
            return Err(format!("{}: no answer is recorded", ask.line));
        }
    }
    Ok(reader.cases)
}

#[derive(Default)]
struct Reader {
    topic: String,
    cases: Vec<Case>,
    /// The file that lines go into.
    open: Option<(String, String)>,
    /// What goes into every question.
    common: Option<Json>,
}

impl Reader {
    fn read(&mut self, line: &str, number: usize) -> Result<(), String> {
        let Some(directive) = line.strip_prefix("@@") else {
            if let Some((_, content)) = &mut self.open {
                content.push_str(line);
                content.push('\n');
            } else if !line.trim().is_empty() && !line.starts_with('#') {
                return Err("text outside a file".to_owned());
            }
            return Ok(());
        };
        self.close()?;
        let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        let (word, flags) = word.split_once(':').unwrap_or((word, ""));
        match word {
            "topic" => self.topic = rest.trim().to_owned(),
            "case" => self.begin(rest.trim())?,
            "levels" => self.case()?.add("E/hiera.yaml", Some(levels(rest)))?,
            "global" => self.case()?.add("G/hiera.yaml", Some(levels(rest)))?,
            "module" => {
                let (module, names) = rest.split_once(' ').unwrap_or((rest, ""));
                let path = format!("E/modules/{module}/hiera.yaml");
                self.case()?.add(&path, Some(levels(names)))?;
            }
            "file" => {
                self.case()?;
                self.open = Some((checked(rest.trim())?, String::new()));
            }
            "json" => {
                let (path, content) = rest.split_once(' ').ok_or("a path and a text")?;
                let OddText(content) = from_json(content)?;
                self.case()?.add(path, Some(content))?;
            }
            "dir" => self.case()?.add(rest.trim(), None)?,
            "link" => {
                let (path, target) = rest.split_once(' ').ok_or("a path and a target")?;
                let link = (checked(path)?, target.trim().to_owned());
                self.case()?.links.push(link);
            }
            "with" => self.common = Some(object(rest)?),
            "ask" => {
                let common = self.common.clone().unwrap_or(Json::Object(Vec::new()));
                let own = object(rest)?;
                let request = own
                    .members()
                    .iter()
                    .fold(common, |all, (name, value)| all.with(name, value.clone()));
                let flags = flags
                    .split(',')
                    .filter(|flag| !flag.is_empty())
                    .map(str::to_owned);
                let flags = flags.collect();
                let ask = Ask {
                    request,
                    flags,
                    line: number,
                    want: None,
                    want_of_8: None,
                };
                self.case()?.asks.push(ask);
            }
            "want" | "want8" => {
                let want = object(rest)?;
                let status = want.get("status").and_then(Json::as_text);
                if !matches!(status, Some("found" | "not_found" | "error")) {
                    return Err("an answer is found, not_found or error".to_owned());
                }
                let ask = self
                    .case()?
                    .asks
                    .last_mut()
                    .ok_or("an answer without a question")?;
                let recorded = match word {
                    "want" => &mut ask.want,
                    _ => &mut ask.want_of_8,
                };
                if recorded.replace(want).is_some() {
                    return Err("a second answer".to_owned());
                }
            }
            _ => return Err(format!("unknown directive @@{word}")),
        }
        Ok(())
    }

    fn begin(&mut self, name: &str) -> Result<(), String> {
        if self.cases.iter().any(|case| case.name == name) {
            return Err(format!("a second case named {name}"));
        }
        self.common = None;
        let (files, links, asks) = (Vec::new(), Vec::new(), Vec::new());
        let (topic, name) = (self.topic.clone(), name.to_owned());
        self.cases.push(Case {
            topic,
            name,
            files,
            links,
            asks,
            puppet: Puppet::default(),
        });
        Ok(())
    }

    fn case(&mut self) -> Result<&mut Case, String> {
        self.cases
            .last_mut()
            .ok_or_else(|| "no case has begun".to_owned())
    }

    fn close(&mut self) -> Result<(), String> {
        match self.open.take() {
            Some((path, content)) => self.case()?.add(&path, Some(content.into_bytes())),
            None => Ok(()),
        }
    }
}

fn checked(path: &str) -> Result<String, String> {
    let starts = ["E/", "C/", "G/", "R/"];
    match starts.iter().any(|start| path.starts_with(start)) {
        true => Ok(path.to_owned()),
        false => Err(format!("a path starts with E/, C/, G/ or R/: {path}")),
    }
}

fn levels(names: &str) -> Vec<u8> {
    let head = "version: 5\ndefaults:\n  datadir: data\n  data_hash: yaml_data\nhierarchy:\n";
    let levels = names
        .split_whitespace()
        .map(|name| format!("  - name: \"{name}\"\n    path: {name}.yaml\n"));
    levels
        .fold(head.to_owned(), |all, level| all + &level)
        .into_bytes()
}

fn object(text: &str) -> Result<Json, String> {
    match Json::parse(text).map_err(|error| error.to_string())? {
        object @ Json::Object(_) => Ok(object),
        _ => Err("not an object".to_owned()),
    }
}

fn from_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Replaces the mark in bytes that may not be UTF-8.
fn replace(content: &[u8], root: &str) -> Vec<u8> {
    let mark = ROOT_MARK.as_bytes();
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some((first, behind)) = rest.split_first() {
        match rest.strip_prefix(mark) {
            Some(after) => {
                out.extend_from_slice(root.as_bytes());
                rest = after;
            }
            None => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}

/// A text in which `\udcff` is the byte 0xff, as Python's `surrogateescape` has it.
struct OddText(Vec<u8>);

impl<'de> Deserialize<'de> for OddText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = OddText;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<OddText, E> {
                let mut out = Vec::with_capacity(bytes.len());
                let mut rest = bytes;
                while let Some((first, behind)) = rest.split_first() {
                    // Half a surrogate pair is three bytes here, the last six bits of each being payload.
                    if let [0xed, middle @ 0xb2..=0xb3, last, after @ ..] = rest {
                        out.push((middle & 0x3) << 6 | last & 0x3f);
                        rest = after;
                    } else {
                        out.push(*first);
                        rest = behind;
                    }
                }
                Ok(OddText(out))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[test]
fn a_case_is_read_as_the_recorder_reads_it() {
    let cases = parse(concat!(
        "@@topic t\n@@case one\n# a comment\n@@levels a b\n@@file E/data/a.yaml\n# not a comment\nk: 1\n",
        "@@json C/odd \"caf\\udce9 \\ud83c\\udf89\"\n@@with {\"node\": \"n\", \"merge\": \"deep\"}\n",
        "@@ask:badreq {\"key\": \"k\", \"merge\": \"first\"}\n@@want {\"status\": \"not_found\"}\n",
    ))
    .unwrap();
    let [case] = cases.as_slice() else {
        panic!("{cases:?}")
    };
    assert_eq!(case.label(), "t/one");
    let file = |path: &str| {
        let found = case.files.iter().find(|(known, _)| known == path);
        found.and_then(|(_, content)| content.clone()).unwrap()
    };
    assert_eq!(file("E/data/a.yaml"), b"# not a comment\nk: 1\n");
    assert_eq!(file("C/odd"), b"caf\xe9 \xf0\x9f\x8e\x89");
    let request = r#"{"node": "n", "merge": "first", "key": "k"}"#;
    assert_eq!(case.asks[0].request.to_string(), request);
    assert!(case.asks[0].has("badreq"));
}

#[test]
fn a_case_may_have_an_answer_of_puppet_8_beside_that_of_puppet_7() {
    let text = concat!(
        "@@case one\n@@ask {\"key\": \"k\"}\n@@want {\"status\": \"not_found\"}\n",
        "@@want8 {\"status\": \"error\"}\n@@ask {\"key\": \"l\"}\n@@want {\"status\": \"not_found\"}\n",
    );
    for (puppet, expected) in [
        (Puppet::Seven, ["not_found", "not_found"]),
        (Puppet::Eight, ["error", "not_found"]),
    ] {
        let case = parse(text).unwrap().remove(0).answered_by(puppet);
        let wanted: Vec<&str> = case.asks.iter().map(Ask::status).collect();
        assert_eq!(wanted, expected);
    }
}

#[test]
fn a_slip_in_a_case_file_is_refused_with_its_line() {
    for (text, fault) in [
        ("stray", "1: text outside a file"),
        ("@@case a\n@@fiel E/x", "2: unknown directive @@fiel"),
        ("@@case a\n@@case a", "2: a second case named a"),
        (
            "@@case a\n@@file x",
            "2: a path starts with E/, C/, G/ or R/: x",
        ),
        ("@@file E/x", "1: no case has begun"),
        (
            "@@case a\n@@want {\"status\": \"found\"}",
            "2: an answer without a question",
        ),
        (
            "@@case a\n@@ask {\"key\": \"k\"}",
            "2: no answer is recorded",
        ),
        (
            "@@case a\n@@ask {}\n@@want {\"status\": \"fuond\"}",
            "3: an answer is found, not_found or error",
        ),
        ("@@case a\n@@ask []", "2: not an object"),
    ] {
        assert_eq!(parse(text).unwrap_err(), fault);
    }
}
