//! [`Tree`]: a generated code directory with 20,000 nodes, and a branch on which every file is different.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::succeed;

/// A code directory and its size.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// The number and the total size of the data files.
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    nodes: Vec<String>,
}

/// The target directory of cargo.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target"),
        PathBuf::from,
    )
}

impl Tree {
    /// Generates the tree, unless it exists.
    pub(crate) fn generate() -> anyhow::Result<Self> {
        let root = target().join("bench/large");
        let is_done = root.join("is_done");
        if !is_done.exists() {
            if root.exists() {
                fs::remove_dir_all(&root)?;
            }
            fs::create_dir_all(&root)?;
            let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gen_tree.py");
            let mut python = Command::new("python3");
            succeed(
                python
                    .args(["-B"])
                    .arg(generator)
                    .args(["--size", "large", "--seed", "1", "--out"])
                    .arg(&root),
            )?;
            let tree = Tree::open(&root)?;
            tree.add_branches()?;
            fs::write(is_done, "")?;
        }
        let tree = Tree::open(&root)?;
        // An earlier run may have been interrupted.
        succeed(&mut tree.git(&["reset", "-q", "--hard"]))?;
        succeed(&mut tree.git(&["clean", "-q", "-f", "-d"]))?;
        tree.check_out("main")?;
        Tree::open(&root)
    }

    fn open(root: &Path) -> anyhow::Result<Self> {
        let (mut files, mut nodes) = (Vec::new(), Vec::new());
        let environment = root.join("environments/production");
        find_data(&environment, &mut files)?;
        let mut bytes = 0;
        for file in &files {
            bytes += fs::metadata(file)?.len();
        }
        for entry in fs::read_dir(environment.join("data/nodes"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            nodes.extend(name.strip_suffix(".yaml").map(ToOwned::to_owned));
        }
        nodes.sort();
        Ok(Tree {
            root: root.to_owned(),
            files: files.len(),
            bytes,
            nodes,
        })
    }

    fn add_branches(&self) -> anyhow::Result<()> {
        succeed(&mut self.git(&["init", "-q", "-b", "main"]))?;
        succeed(&mut self.git(&["add", "-A"]))?;
        succeed(&mut self.git(&["commit", "-q", "-m", "main"]))?;
        succeed(&mut self.git(&["checkout", "-q", "-b", "other"]))?;
        let mut files = Vec::new();
        find_data(&self.data(), &mut files)?;
        for file in files {
            fs::OpenOptions::new()
                .append(true)
                .open(file)?
                .write_all(b"scale::mark: other\n")?;
        }
        succeed(&mut self.git(&["commit", "-q", "-a", "-m", "other"]))
    }

    /// Checks a branch out.
    pub(crate) fn check_out(&self, branch: &str) -> anyhow::Result<()> {
        succeed(&mut self.git(&["checkout", "-q", branch]))
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.args([
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@example.com",
            "-c",
            "gc.auto=0",
        ])
        .args(arguments)
        .current_dir(self.data())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    /// The environment, which is a repository.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("environments/production")
    }

    /// The name of a node.
    pub(crate) fn node_name(&self, number: usize) -> anyhow::Result<&str> {
        self.nodes
            .get(number)
            .map(String::as_str)
            .context("no such node")
    }

    /// The file of a node.
    pub(crate) fn node_file(&self, number: usize) -> anyhow::Result<PathBuf> {
        Ok(self
            .data()
            .join(format!("data/nodes/{}.yaml", self.node_name(number)?)))
    }

    /// Bodies of lookups, of all kinds.
    pub(crate) fn lookups(&self) -> anyhow::Result<Vec<String>> {
        let text = fs::read_to_string(self.root.join("lookups.jsonl"))?;
        Ok(text.lines().map(ToOwned::to_owned).collect())
    }
}

/// The files in `data` directories.
fn find_data(directory: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            find_data(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
            && path.file_name().is_some_and(|name| name != "hiera.yaml")
        {
            files.push(path);
        }
    }
    Ok(())
}
