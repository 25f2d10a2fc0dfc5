//! [`Strict`]: Puppet's setting `strict`.

use clap::ValueEnum;
use hiera_resolver::Strictness;
use serde::Deserialize;

/// Puppet's setting `strict`. The comments on the variants are shown by `--help`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Strict {
    /// Lookups fail, as in Puppet 8 and OpenVox 8
    #[default]
    Error,
    /// Lookups do not fail, as in Puppet 7
    Warning,
    /// The same as `warning`: hierad lists ignored files and settings in either case
    Off,
}

impl Strict {
    /// How the resolver behaves.
    pub fn strictness(self) -> Strictness {
        match self {
            Strict::Error => Strictness::Error,
            Strict::Warning | Strict::Off => Strictness::Warning,
        }
    }
}
