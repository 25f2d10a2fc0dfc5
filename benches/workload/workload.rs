//! What the benchmarks look up: generated trees, and the lookups that were generated with them.

use std::path::{Path, PathBuf};
use std::process::Command;

use hiera_resolver::scope::Variables;
use hiera_resolver::{Hash, MergeStrategy, Outcome, Request, Session, Snapshot, Value};
use hierad::environments::{Environments, load_once};
use hierad::json::write_value;
use hierad::load::CodeDirectory;

/// A lookup whose facts are values already.
pub(crate) struct Lookup {
    key: String,
    merge: Option<MergeStrategy>,
    variables: Variables,
}

impl Lookup {
    /// From the body of a request.
    pub(crate) fn read(body: &str) -> Self {
        let whole = hiera_resolver::json::parse(body.as_bytes(), &mut |text| Value::str(text));
        let whole = whole.unwrap();
        let whole = whole.as_hash().unwrap();
        let hash = |name: &str| whole.get(name).unwrap().as_hash().unwrap().clone();
        Lookup {
            key: whole.get("key").unwrap().as_str().unwrap().to_owned(),
            merge: whole
                .get("merge")
                .map(|it| MergeStrategy::parse(it).unwrap()),
            variables: Variables::new("production", hash("facts"), hash("trusted"), Hash::new()),
        }
    }

    /// A view of the tree for its node.
    pub(crate) fn session<'a>(&'a self, snapshot: &'a Snapshot) -> Session<'a> {
        Session::new(snapshot, &self.variables, false)
    }

    /// Looks its key up, and writes the JSON of what is found to `out`.
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

/// Lookups of one kind, as they stand in the generated file.
pub(crate) fn bodies(tree: &Path, kind: &str, count: usize) -> Vec<String> {
    let text = std::fs::read_to_string(tree.join(format!("lookups-{kind}.jsonl"))).unwrap();
    text.lines().take(count).map(str::to_owned).collect()
}

pub(crate) fn load(tree: &Path) -> Environments {
    load_once(&CodeDirectory {
        root: tree.to_owned(),
        hiera_config: None,
        max_file_size: 1 << 30,
    })
}

/// A generated tree, made where it is not there yet.
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

/// A directory for what benchmarks make.
pub(crate) fn workspace(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("../bench")
        .join(name);
    std::fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}
