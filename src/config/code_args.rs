//! [`CodeArgs`]: the flags that all commands share → [`Settings`].

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Settings, Strict};
use crate::filesystem::may_exist;

/// Settings files to try if neither `--config` nor `--codedir` is given.
const DEFAULT_FILES: [&str; 2] = ["config/hierad.yaml", "/etc/hierad/hierad.yaml"];

/// The flags that say where the data is.
#[derive(Args, Clone, Debug, Default)]
pub struct CodeArgs {
    /// Settings file
    #[arg(long, value_name = "FILE", env = "HIERAD_CONFIG")]
    pub config: Option<PathBuf>,
    /// Code directory, which contains `environments` and `modules`
    #[arg(long, value_name = "DIR", env = "HIERAD_CODEDIR")]
    pub codedir: Option<PathBuf>,
    /// hiera.yaml of the global layer
    #[arg(long, value_name = "FILE", env = "HIERAD_HIERA_CONFIG")]
    pub hiera_config: Option<PathBuf>,
    /// Puppet's setting of the same name: whether undefined variables and the like fail lookups, as in Puppet 8
    /// (error), or not, as in Puppet 7 (warning, off) [default: error]
    #[arg(long, value_name = "LEVEL", env = "HIERAD_STRICT")]
    pub strict: Option<Strict>,
}

impl CodeArgs {
    /// The settings of file and variables, overridden by these flags.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        self.settings_over(self.settings_file().as_deref())
    }

    /// The settings for one control repository. Like `--codedir`, a path on the command line leaves default settings
    /// files out.
    pub fn settings_for_repository(&self) -> anyhow::Result<Settings> {
        self.settings_over(self.config.as_deref())
    }

    fn settings_over(&self, file: Option<&Path>) -> anyhow::Result<Settings> {
        let mut settings = match file {
            Some(path) => Settings::read(path)?,
            None => Settings::default(),
        };
        settings.apply_variables(|name| std::env::var(name).ok())?;
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

    /// The settings file to read. With `--codedir`, a default file must not add its global layer.
    fn settings_file(&self) -> Option<PathBuf> {
        if self.config.is_some() || self.codedir.is_some() {
            return self.config.clone();
        }
        let mut files = DEFAULT_FILES.iter().map(PathBuf::from);
        // A file that cannot be read is an error, so it must not count as absent.
        files.find(|path| may_exist(path))
    }
}
