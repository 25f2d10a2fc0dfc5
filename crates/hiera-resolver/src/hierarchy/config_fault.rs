//! What is wrong with a `hiera.yaml`.

use std::sync::Arc;

use arcstr::ArcStr;

use super::hiera_config::HieraConfig;
use super::hiera_yaml::Refusal;

/// A mistake in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`:{line}:{column}: {problem}")]
pub struct ConfigFault {
    /// The file.
    pub path: ArcStr,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong there.
    pub problem: String,
}

/// All mistakes of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigFaults {
    faults: Vec<ConfigFault>,
    refusal: Refusal,
    /// The levels that Puppet reads before it finds the mistake.
    before: Option<Arc<HieraConfig>>,
}

impl ConfigFaults {
    /// The mistakes of one configuration; there is at least one.
    pub fn new(faults: Vec<ConfigFault>) -> Self {
        ConfigFaults {
            faults,
            refusal: Refusal::unexpected(),
            before: None,
        }
    }

    pub(super) fn with_refusal(self, refusal: Refusal) -> Self {
        ConfigFaults { refusal, ..self }
    }

    pub(super) fn after(self, before: HieraConfig) -> Self {
        let before = Some(Arc::new(before));
        ConfigFaults { before, ..self }
    }

    /// What Puppet reads before it finds the mistake, if it finds it late.
    pub(crate) fn before(&self) -> Option<&HieraConfig> {
        self.before.as_deref()
    }

    /// How Puppet refuses the configuration.
    pub(crate) fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    /// Each mistake.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigFault> {
        self.faults.iter()
    }
}

impl PartialEq for ConfigFaults {
    fn eq(&self, other: &Self) -> bool {
        self.faults == other.faults
    }
}

impl Eq for ConfigFaults {}

impl std::fmt::Display for ConfigFaults {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                out.write_str("; ")?;
            }
            write!(out, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigFaults {}
