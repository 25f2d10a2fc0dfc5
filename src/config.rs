//! Settings: flags, then `HIERAD_*` variables, then a file, then what is built in.

mod log_level;
mod settings;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

pub use log_level::{LogLevel, LogLevelError};
pub use settings::{FollowLinks, Limits, LogFormat, Reload, Remote, Settings, Strict, WatchMode};

use crate::data_loading::{self, CodeDirectory};

/// Files that are read where neither `--config` nor `--codedir` is given.
const USUAL_FILES: [&str; 2] = ["config/hierad.yaml", "/etc/hierad/hierad.yaml"];
/// Where Puppet keeps its code.
const USUAL_CODEDIR: &str = "/etc/puppetlabs/code";

/// Where the data lies, as given on the command line.
#[derive(Args, Clone, Debug, Default)]
pub struct CodeArgs {
    /// The settings file
    #[arg(long, value_name = "FILE", env = "HIERAD_CONFIG")]
    pub config: Option<PathBuf>,
    /// The code directory, with `environments` and `modules` in it
    #[arg(long, value_name = "DIR", env = "HIERAD_CODEDIR")]
    pub codedir: Option<PathBuf>,
    /// The hiera.yaml of the global layer
    #[arg(long, value_name = "FILE", env = "HIERAD_HIERA_CONFIG")]
    pub hiera_config: Option<PathBuf>,
    /// Puppet's setting of the same name: whether undefined variables and the like fail lookups, as in Puppet 8
    /// (error), or not, as in Puppet 7 (warning, off) [default: error]
    #[arg(long, value_name = "LEVEL", env = "HIERAD_STRICT")]
    pub strict: Option<Strict>,
}

impl CodeArgs {
    /// The settings with these arguments laid over them.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        self.settings_over(self.file().as_deref())
    }

    /// The settings for a control repository, which is named by hand as a code directory is.
    pub fn settings_for_repository(&self) -> anyhow::Result<Settings> {
        self.settings_over(self.config.as_deref())
    }

    fn settings_over(&self, file: Option<&Path>) -> anyhow::Result<Settings> {
        let mut settings = match file {
            Some(path) => Settings::read(path)?,
            None => Settings::default(),
        };
        settings.lay_variables_over(|name| std::env::var(name).ok())?;
        if let Some(codedir) = &self.codedir {
            settings.codedir = Some(codedir.clone());
        }
        if let Some(hiera_config) = &self.hiera_config {
            settings.hiera_config = Some(hiera_config.clone());
        }
        if let Some(strict) = self.strict {
            settings.strict = strict;
        }
        Ok(settings)
    }

    /// A code directory given by hand does not want the global layer of some file that happens to be there.
    fn file(&self) -> Option<PathBuf> {
        if self.config.is_some() || self.codedir.is_some() {
            return self.config.clone();
        }
        USUAL_FILES
            .iter()
            .map(PathBuf::from)
            // One that cannot be read is an error rather than none.
            .find(|path| data_loading::may_exist(path))
    }
}

impl Settings {
    /// The code directory, in absolute form. It must be there.
    pub fn code_directory(&self) -> anyhow::Result<CodeDirectory> {
        self.code_directory_or(Path::new(USUAL_CODEDIR))
    }

    /// A code directory with one environment, which lies elsewhere, and the name of that environment.
    pub fn control_repository(&self, path: &Path) -> anyhow::Result<(CodeDirectory, String)> {
        let repository = absolute(path)?;
        let shown = repository.display();
        check_directory(&repository).with_context(|| format!("cannot check `{shown}`"))?;
        if !repository.join("hiera.yaml").exists() {
            if repository.join("environments").is_dir() {
                bail!(
                    "`{shown}` is a code directory, not a control repository: it has `environments`. \
                     Run `hierad check --codedir {shown}`"
                );
            }
            bail!("`{shown}` is not a control repository: expected `{shown}/hiera.yaml`");
        }
        // One that lies in a code directory is the environment that it is there.
        let around = data_loading::code_directory_of(&repository);
        let name = repository.file_name().and_then(|name| name.to_str());
        let name = match (around, name) {
            (Some(_), Some(name)) if data_loading::is_environment_name(name) => name,
            _ => "production",
        };
        let name = name.to_owned();
        let mut code = self.code_directory_or(around.unwrap_or(&repository))?;
        code.control_repository = Some(repository);
        Ok((code, name))
    }

    fn code_directory_or(&self, usual: &Path) -> anyhow::Result<CodeDirectory> {
        let root = absolute(self.codedir.as_deref().unwrap_or(usual))?;
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

/// The absolute form, with `.` and `..` resolved by name, links left alone.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let absolute = std::path::absolute(path)
        .with_context(|| format!("cannot make `{}` absolute", path.display()))?;
    Ok(PathBuf::from(
        hiera_resolver::path::normalize(&absolute.to_string_lossy()).as_ref(),
    ))
}
