//! `limits`: limits on requests and files.

use std::time::Duration;

use hiera_resolver::work_budget;
use serde::Deserialize;

use super::variables::Variables;

/// Limits on requests and files.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes in the body of a request.
    pub max_body_size: usize,
    /// Levels of nesting in the body of a request.
    pub max_nesting: usize,
    /// Keys in one request.
    pub max_keys: usize,
    /// Steps that one request may take.
    pub max_steps: u64,
    /// Bytes that one request may make: values, explanations, messages, the answer.
    pub max_bytes: u64,
    /// Milliseconds that one request may compute.
    pub max_time_ms: u64,
    /// Long lookups that may wait for a thread.
    pub max_waiting: usize,
    /// Milliseconds in which the head of a request must arrive, and then its body.
    pub request_timeout_ms: u64,
    /// Bytes in a data file.
    pub max_file_size: u64,
    /// Files and directories to search in one environment.
    pub max_files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_body_size: 1024 * 1024,
            max_nesting: 128,
            max_keys: 1000,
            // About half a second.
            max_steps: 50_000_000,
            max_bytes: 64 * 1024 * 1024,
            max_time_ms: 5_000,
            max_waiting: 256,
            request_timeout_ms: 10_000,
            max_file_size: 64 * 1024 * 1024,
            // Ten times the largest known tree, and fewer than a link to the root directory would lead to.
            max_files: 200_000,
        }
    }
}

impl Limits {
    /// The time in which the head of a request must arrive, and then its body.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }

    /// What one request may spend.
    pub fn request_budget(&self) -> work_budget::Limits {
        work_budget::Limits {
            steps: self.max_steps,
            bytes: self.max_bytes,
            time: Duration::from_millis(self.max_time_ms),
        }
    }

    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        variables.set_number(&mut self.max_body_size, "HIERAD_MAX_BODY_SIZE")?;
        variables.set_number(&mut self.max_nesting, "HIERAD_MAX_NESTING")?;
        variables.set_number(&mut self.max_keys, "HIERAD_MAX_KEYS")?;
        variables.set_number(&mut self.max_steps, "HIERAD_MAX_STEPS")?;
        variables.set_number(&mut self.max_bytes, "HIERAD_MAX_BYTES")?;
        variables.set_number(&mut self.max_time_ms, "HIERAD_MAX_TIME_MS")?;
        variables.set_number(&mut self.max_waiting, "HIERAD_MAX_WAITING")?;
        variables.set_number(&mut self.request_timeout_ms, "HIERAD_REQUEST_TIMEOUT_MS")?;
        variables.set_number(&mut self.max_file_size, "HIERAD_MAX_FILE_SIZE")?;
        variables.set_number(&mut self.max_files, "HIERAD_MAX_FILES")
    }
}
