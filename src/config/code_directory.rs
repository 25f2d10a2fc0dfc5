//! [`CodeDirectory`]: where the data is, checked, and how it is read.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use hiera_resolver::Strictness;

use super::{FollowLinks, Settings};

/// Where Puppet keeps its code.
const DEFAULT_CODEDIR: &str = "/etc/puppetlabs/code";
/// The directory of a code directory that contains the environments.
pub(crate) const ENVIRONMENTS: &str = "environments";

/// Where the data is, and how it is read.
#[derive(Clone, Debug)]
pub struct CodeDirectory {
    /// The directory that contains `environments` and `modules`. Absolute.
    pub root: PathBuf,
    /// The directory of the only environment, where it is not below `environments`. Absolute.
    pub control_repository: Option<PathBuf>,
    /// The configuration of the global layer. Absolute.
    pub hiera_config: Option<PathBuf>,
    /// The size in bytes above which a file is not read.
    pub max_file_size: u64,
    /// The number of files and directories in one environment above which the search stops.
    pub max_files: usize,
    /// Which symbolic links are followed.
    pub follow_links: FollowLinks,
    /// Whether lookups fail on what Puppet 7 only warns about.
    pub strictness: Strictness,
}

impl CodeDirectory {
    /// The directory of all environments.
    pub fn environments(&self) -> PathBuf {
        self.root.join(ENVIRONMENTS)
    }

    /// The directory of an environment.
    pub fn environment(&self, name: &str) -> PathBuf {
        match &self.control_repository {
            Some(directory) => directory.clone(),
            None => self.environments().join(name),
        }
    }
}

/// May a directory of this name be an environment?
pub(crate) fn is_environment_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_word)
}

/// The code directory that contains an environment.
pub(crate) fn enclosing_code_directory(environment: &Path) -> Option<&Path> {
    let environments = environment.parent()?;
    (environments.file_name()? == ENVIRONMENTS).then(|| environments.parent())?
}

impl Settings {
    /// The code directory, which must exist.
    pub fn code_directory(&self) -> anyhow::Result<CodeDirectory> {
        self.code_directory_or(Path::new(DEFAULT_CODEDIR))
    }

    /// A control repository as the only environment of a code directory, and the name of that environment.
    pub fn control_repository(&self, path: &Path) -> anyhow::Result<(CodeDirectory, String)> {
        let repository = absolute(path)?;
        let shown = repository.display();
        check_directory(&repository).with_context(|| format!("cannot check `{shown}`"))?;
        if !repository.join("hiera.yaml").exists() {
            if repository.join(ENVIRONMENTS).is_dir() {
                bail!(
                    "`{shown}` is a code directory, not a control repository: it has `environments`. \
                     Run `hierad check --codedir {shown}`"
                );
            }
            bail!("`{shown}` is not a control repository: expected `{shown}/hiera.yaml`");
        }
        // Inside a code directory, the repository is the environment of that name and sees the shared modules.
        let enclosing = enclosing_code_directory(&repository);
        let name = repository.file_name().and_then(|name| name.to_str());
        let name = match (enclosing, name) {
            (Some(_), Some(name)) if is_environment_name(name) => name,
            _ => "production",
        };
        let name = name.to_owned();
        let mut code = self.code_directory_or(enclosing.unwrap_or(&repository))?;
        code.control_repository = Some(repository);
        Ok((code, name))
    }

    fn code_directory_or(&self, default: &Path) -> anyhow::Result<CodeDirectory> {
        let root = absolute(self.codedir.as_deref().unwrap_or(default))?;
        check_directory(&root).with_context(|| {
            format!(
                "cannot use the code directory `{}`; name one with --codedir, HIERAD_CODEDIR or `codedir` in the settings file",
                root.display()
            )
        })?;
        let hiera_config = self.hiera_config.as_deref().map(absolute).transpose()?;
        if let Some(path) = hiera_config.as_ref().filter(|path| !path.is_file()) {
            bail!(
                "there is no file `{}`, which --hiera-config names as the global layer",
                path.display()
            );
        }
        Ok(CodeDirectory {
            root,
            control_repository: None,
            hiera_config,
            max_file_size: self.limits.max_file_size,
            max_files: self.limits.max_files,
            follow_links: self.reload.follow_links,
            strictness: self.strict.strictness(),
        })
    }
}

fn check_directory(path: &Path) -> anyhow::Result<()> {
    if !std::fs::metadata(path)?.is_dir() {
        bail!("it is not a directory");
    }
    Ok(())
}

/// The absolute path, with `.` and `..` resolved by name; links are not resolved.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let absolute = std::path::absolute(path)
        .with_context(|| format!("cannot make `{}` absolute", path.display()))?;
    let absolute = absolute.to_string_lossy();
    Ok(PathBuf::from(
        hiera_resolver::hierarchy::path::normalize(&absolute).as_ref(),
    ))
}

#[cfg(test)]
impl CodeDirectory {
    /// A code directory of this path, with default limits. It need not exist.
    pub(crate) fn for_tests(root: impl Into<PathBuf>) -> Self {
        let settings = Settings::default();
        CodeDirectory {
            root: root.into(),
            control_repository: None,
            hiera_config: None,
            max_file_size: settings.limits.max_file_size,
            max_files: settings.limits.max_files,
            follow_links: FollowLinks::All,
            strictness: Strictness::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_names_are_those_that_puppet_accepts() {
        for (name, expected) in [
            ("production", true),
            ("Dev_2", true),
            ("a-b", false),
            ("", false),
            (".git", false),
        ] {
            assert_eq!(is_environment_name(name), expected, "{name}");
        }
    }
}
