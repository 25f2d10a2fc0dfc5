//! What the benchmarks look up: generated trees, and the lookups that were generated with them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;

use hiera_resolver::Node;
use hiera_resolver::key::Segment;
use hiera_resolver::{MergeStrategy, Outcome, Request, Scope, Session, Snapshot, Value};
use hierad::config::CodeDirectory;
use hierad::environments::{Environments, load_once};
use hierad::json::write_value;

/// A lookup with parsed facts.
pub(crate) struct Lookup {
    key: String,
    merge: Option<MergeStrategy>,
    scope: PickedFacts,
}

/// Facts as in a request: those that were used before are cached as text, by the hashes of their names. The cost of
/// finding them in a body is part of the cases with requests.
struct PickedFacts {
    picked: RefCell<Vec<(u64, &'static str)>>,
    all: Node,
}

impl Scope for PickedFacts {
    fn variable(&self, name: &str) -> Option<Value> {
        self.all.variable(name)
    }

    fn text(&self, name: &str, segments: &[Segment]) -> Option<&str> {
        let asked = segments.iter().fold(name.len() as u64, |hash, segment| {
            let own = match segment {
                Segment::Key(key) => key.hash(),
                Segment::Index(_) => 0,
            };
            hash.rotate_left(5) ^ own
        });
        let mut picked = self.picked.borrow_mut();
        if let Some((_, text)) = picked.iter().find(|(known, _)| *known == asked) {
            return Some(text);
        }
        let text = self.all.text(name, segments)?;
        // Leaked: a benchmark ends before that matters.
        let text = Box::leak(text.to_owned().into_boxed_str());
        picked.push((asked, text));
        Some(text)
    }
}

impl Lookup {
    /// Parses the body of a request.
    pub(crate) fn read(body: &str) -> Self {
        let whole =
            hiera_resolver::data::json::parse(body.as_bytes(), &mut |text| Value::str(text));
        let whole = whole.unwrap();
        let whole = whole.as_hash().unwrap();
        let hash = |name: &str| whole.get(name).unwrap().as_hash().unwrap().clone();
        Lookup {
            key: whole.get("key").unwrap().as_str().unwrap().to_owned(),
            merge: whole
                .get("merge")
                .map(|it| MergeStrategy::parse(it).unwrap()),
            scope: PickedFacts {
                picked: RefCell::default(),
                all: Node::new("production")
                    .facts(hash("facts"))
                    .trusted(hash("trusted")),
            },
        }
    }

    /// A session for the node of the lookup.
    pub(crate) fn session<'a>(&'a self, snapshot: &'a Snapshot) -> Session<'a> {
        Session::new(snapshot, &self.scope)
    }

    /// Looks up the key, and writes the value as JSON to `out`.
    pub(crate) fn resolve(&self, session: &mut Session<'_>, out: &mut Vec<u8>) {
        let names = [self.key.as_str()];
        let request = Request {
            merge: self.merge.as_ref(),
            ..Request::new(&names)
        };
        if let Outcome::Found(value) = session.lookup(&request).outcome.unwrap() {
            write_value(&value, out);
        }
    }
}

/// The lookups of one kind, as in the generated file.
pub(crate) fn bodies(tree: &Path, kind: &str, count: usize) -> Vec<String> {
    let text = std::fs::read_to_string(tree.join(format!("lookups-{kind}.jsonl"))).unwrap();
    text.lines().take(count).map(str::to_owned).collect()
}

pub(crate) fn load(tree: &Path) -> Environments {
    load_once(&CodeDirectory {
        root: tree.to_owned(),
        control_repository: None,
        hiera_config: None,
        max_file_size: 1 << 30,
        max_files: usize::MAX,
        follow_links: hierad::config::FollowLinks::All,
        strictness: Default::default(),
    })
}

/// A generated tree, created if it does not exist.
pub(crate) fn tree(size: &str) -> PathBuf {
    let out = workspace(&format!("tree-{size}"));
    if !out.join("manifest.json").exists() {
        let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gen_tree.py");
        let status = Command::new("python3")
            .arg(generator)
            .args(["--size", size, "--seed", "1", "--out"])
            .arg(&out)
            .stdout(std::process::Stdio::null())
            .status()
            .expect("python3 is needed");
        assert!(status.success(), "gen_tree.py failed");
    }
    out
}

/// A directory for files of the benchmarks.
pub(crate) fn workspace(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("../bench")
        .join(name);
    std::fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}
