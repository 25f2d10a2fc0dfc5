//! [`NoEnvironments`]: why a code directory has no environments, and what was expected where.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::{CodeDirectory, ENVIRONMENTS, enclosing_code_directory, is_environment_name};

/// What only an environment has.
const ENVIRONMENT_FILES: [&str; 2] = ["hiera.yaml", "environment.conf"];

/// Why a code directory has no environments.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoEnvironments {
    /// What there is cannot be listed.
    #[error("cannot read `{}`: {error}; expected {}", directory.display(), expected(directory))]
    Unreadable {
        directory: PathBuf,
        error: io::Error,
    },
    /// An environment was given in place of a code directory.
    #[error(
        "`{0}` is an environment, not a code directory: it has `{file}`. \
         Run `hierad check {0}` to check it alone, or set --codedir to {1}",
        root.display(),
        match enclosing_code_directory(root) {
            Some(above) => format!("`{}`", above.display()),
            None => "the directory that has it as `environments/<name>`".to_owned(),
        }
    )]
    IsEnvironment { root: PathBuf, file: &'static str },
    /// The directory of all environments was given.
    #[error("`{}` is the directory of the environments; set --codedir to `{}`, the directory above it", root.display(), above.display())]
    IsEnvironmentsDirectory { root: PathBuf, above: PathBuf },
    /// There are directories, but none with a name that Puppet accepts.
    #[error(
        "there is no environment in `{}`: `{name}` is not a valid name for one, which has letters, digits and underscores only",
        directory.display()
    )]
    InvalidName { directory: PathBuf, name: String },
    /// There is nothing.
    #[error("there is no environment in `{}`; expected {}", directory.display(), expected(directory))]
    Nothing { directory: PathBuf },
}

fn expected(directory: &Path) -> String {
    format!("`{}/<name>/hiera.yaml`", directory.display())
}

impl NoEnvironments {
    /// Looks for the reason. Asked only where no environment was found.
    pub(crate) fn in_directory(code: &CodeDirectory) -> Self {
        let root = code.root.clone();
        let directory = code.environments();
        let names = match directories_in(&directory) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return NoEnvironments::Unreadable { directory, error },
        };
        let files = ENVIRONMENT_FILES.into_iter();
        if let Some(file) = files.into_iter().find(|file| root.join(file).exists()) {
            return NoEnvironments::IsEnvironment { root, file };
        }
        if let Some(name) = names.into_iter().find(|name| !is_environment_name(name)) {
            return NoEnvironments::InvalidName { directory, name };
        }
        match root.parent() {
            Some(above) if root.file_name() == Some(OsStr::new(ENVIRONMENTS)) => {
                NoEnvironments::IsEnvironmentsDirectory {
                    above: above.to_owned(),
                    root,
                }
            }
            _ => NoEnvironments::Nothing { directory },
        }
    }
}

/// The names of the directories in a directory that are not hidden.
fn directories_in(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_dir() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
