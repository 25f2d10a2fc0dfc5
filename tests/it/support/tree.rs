//! [`Tree`]: a code directory made from a fixture string, and the binary to run on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A code directory on disk, removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Tree {
    root: TempDir,
}

impl Tree {
    /// Writes a fixture: files under `//- PATH` headers. Paths start with `/` (the environment `production`), `C/`
    /// (the code directory), `G/` (the directory of the global hiera.yaml) or `R/` (the root above them all).
    pub(crate) fn new(fixture: &str) -> Self {
        let tree = Tree::empty();
        for part in fixture.split("//- ").skip(1) {
            let (path, content) = part.split_once('\n').expect("a header is a line");
            tree.write(path.trim(), content);
        }
        tree
    }

    /// A code directory with an empty environment `production`.
    pub(crate) fn empty() -> Self {
        let tree = Tree {
            root: TempDir::with_prefix("hierad-it-").unwrap(),
        };
        std::fs::create_dir_all(tree.path("/")).unwrap();
        tree
    }

    /// A code directory without environments.
    pub(crate) fn without_environments() -> Self {
        let tree = Tree::empty();
        std::fs::remove_dir_all(tree.path("C/environments")).unwrap();
        tree
    }

    /// The path on disk of a path in a fixture.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let path = match path.strip_prefix('/') {
            Some(rest) => format!("E/{rest}"),
            None => path.to_owned(),
        };
        let below = recorded_cases::path_below_root(&path);
        let below = below.unwrap_or_else(|| panic!("a path starts with /, C/, G/ or R/: {path}"));
        self.root.path().join(below)
    }

    /// Writes a file.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The root directory, which contains everything else.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The code directory.
    pub(crate) fn codedir(&self) -> PathBuf {
        self.path("C/")
    }

    /// The configuration of the global layer, if there is one.
    pub(crate) fn hiera_config(&self) -> Option<PathBuf> {
        Some(self.path("G/hiera.yaml")).filter(|path| path.exists())
    }

    /// A text with the path of the root replaced by `<ROOT>`.
    pub(crate) fn shown(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "<ROOT>")
    }

    /// Runs a command: exit code, standard output and standard error, as [`Tree::shown`] has them.
    pub(crate) fn run(&self, command: &mut Command) -> (Option<i32>, String, String) {
        let output = command.output().unwrap();
        let (stdout, stderr) = printed(&output);
        (
            output.status.code(),
            self.shown(&stdout),
            self.shown(&stderr),
        )
    }

    /// The binary on this tree, without the settings of the caller.
    pub(crate) fn hierad(&self, command: &str) -> Command {
        let mut process = hierad();
        process.arg(command).arg("--codedir").arg(self.codedir());
        if let Some(path) = self.hiera_config() {
            process.arg("--hiera-config").arg(path);
        }
        process
    }
}

/// The binary, without the settings of the caller.
pub(crate) fn hierad() -> Command {
    let mut process = Command::new(env!("CARGO_BIN_EXE_hierad"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HIERAD_") {
            process.env_remove(name);
        }
    }
    process.env("NO_COLOR", "1").current_dir("/");
    process
}

/// The command after a shell command, which may set limits or prepend another program to `"$@"`.
pub(crate) fn after_setup(setup: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{setup} && exec \"$@\""), "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir("/");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Runs a command that must end by itself within a time.
#[track_caller]
pub(crate) fn output_within(limit: Duration, command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.unwrap();
    let process = Pid::from_child(&child);
    let (ended, output) = channel();
    // The receiver may have given up.
    std::thread::spawn(move || _ = ended.send(child.wait_with_output()));
    match output.recv_timeout(limit) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            kill_process(process, Signal::KILL).unwrap();
            panic!("{command:?} did not end within {limit:?}");
        }
    }
}

/// Makes a named pipe.
pub(crate) fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
}

/// Standard output and standard error of a process, as text.
pub(crate) fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
