//! Settings: flags, then `HIERAD_*` variables, then a file, then what is built in.

mod log_level;
mod settings;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

pub use log_level::{LogLevel, LogLevelError};
pub use settings::{Limits, LogFormat, Reload, Remote, Settings, WatchMode};

use crate::load::CodeDirectory;

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
}

impl CodeArgs {
    /// The settings with these arguments laid over them.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = match self.file() {
            Some(path) => Settings::read(&path)?,
            None => Settings::default(),
        };
        settings.lay_variables_over(|name| std::env::var(name).ok())?;
        if let Some(codedir) = &self.codedir {
            settings.codedir = Some(codedir.clone());
        }
        if let Some(hiera_config) = &self.hiera_config {
            settings.hiera_config = Some(hiera_config.clone());
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
            .find(|path| path.is_file())
    }
}

impl Settings {
    /// The code directory, in absolute form. It must be there.
    pub fn code_directory(&self) -> anyhow::Result<CodeDirectory> {
        let codedir = self
            .codedir
            .clone()
            .unwrap_or_else(|| PathBuf::from(USUAL_CODEDIR));
        let root = absolute(&codedir)?;
        if !root.is_dir() {
            bail!(
                "there is no code directory `{}`; name one with --codedir, HIERAD_CODEDIR or `codedir` in the settings file",
                root.display()
            );
        }
        let hiera_config = self.hiera_config.as_deref().map(absolute).transpose()?;
        if let Some(path) = hiera_config.as_ref().filter(|path| !path.is_file()) {
            bail!(
                "there is no file `{}`, which --hiera-config names as the global layer",
                path.display()
            );
        }
        Ok(CodeDirectory {
            root,
            hiera_config,
            max_file_size: self.limits.max_file_size,
        })
    }
}

/// The absolute form, with `.` and `..` resolved by name, links left alone.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let absolute = std::path::absolute(path)
        .with_context(|| format!("cannot make `{}` absolute", path.display()))?;
    Ok(PathBuf::from(
        hiera_resolver::path::normalize(&absolute.to_string_lossy()).as_ref(),
    ))
}
