//! [`NoEnvironments`]: why a code directory has no environments, and what was expected.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::environment_names::list_subdirectories;
use crate::config::{CodeDirectory, ENVIRONMENTS, enclosing_code_directory, is_environment_name};

/// Files that only an environment has.
const ENVIRONMENT_FILES: [&str; 2] = ["hiera.yaml", "environment.conf"];

/// Why a code directory has no environments.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoEnvironments {
    /// The directory of the environments cannot be listed.
    #[error("cannot read `{}`: {error}; expected {}", directory.display(), expected(directory))]
    Unreadable {
        directory: PathBuf,
        error: io::Error,
    },
    /// The path is an environment, not a code directory.
    #[error(
        "`{0}` is an environment, not a code directory: it has `{file}`. \
         Run `hierad check {0}` to check it alone, or set --codedir to {1}",
        root.display(),
        match enclosing_code_directory(root) {
            Some(parent) => format!("`{}`", parent.display()),
            None => "the directory that has it as `environments/<name>`".to_owned(),
        }
    )]
    IsEnvironment { root: PathBuf, file: &'static str },
    /// The path is the directory of the environments.
    #[error("`{}` is the directory of the environments; set --codedir to `{}`, the directory above it", root.display(), parent.display())]
    IsEnvironmentsDirectory { root: PathBuf, parent: PathBuf },
    /// There are directories, but none has a name that Puppet accepts.
    #[error(
        "there is no environment in `{}`: `{name}` is not a valid name for one, which has letters, digits and underscores only",
        directory.display()
    )]
    InvalidName { directory: PathBuf, name: String },
    /// There is no directory.
    #[error("there is no environment in `{}`; expected {}", directory.display(), expected(directory))]
    Nothing { directory: PathBuf },
}

fn expected(directory: &Path) -> String {
    format!("`{}/<name>/hiera.yaml`", directory.display())
}

impl NoEnvironments {
    /// Finds the reason. Only called if there are no environments.
    pub(crate) fn in_directory(code: &CodeDirectory) -> Self {
        let root = code.root.clone();
        let directory = code.environments();
        let mut names = match list_subdirectories(&directory) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return NoEnvironments::Unreadable { directory, error },
        };
        if let Some(file) = ENVIRONMENT_FILES
            .into_iter()
            .find(|file| root.join(file).exists())
        {
            return NoEnvironments::IsEnvironment { root, file };
        }
        names.sort();
        let is_invalid = |name: &String| !name.starts_with('.') && !is_environment_name(name);
        if let Some(name) = names.into_iter().find(is_invalid) {
            return NoEnvironments::InvalidName { directory, name };
        }
        match root.parent() {
            Some(parent) if root.file_name() == Some(OsStr::new(ENVIRONMENTS)) => {
                NoEnvironments::IsEnvironmentsDirectory {
                    parent: parent.to_owned(),
                    root,
                }
            }
            _ => NoEnvironments::Nothing { directory },
        }
    }
}
