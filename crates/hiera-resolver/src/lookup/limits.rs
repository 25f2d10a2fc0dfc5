//! Limits of a lookup: recursion, depth, work. Without them, data could keep a lookup busy forever.

use std::time::Duration;

use work_budget::{Exhausted, Spent};

use super::error::LookupError;
use super::walk::Walk;
use crate::explain::PuppetError;
use crate::key::LookupKey;

/// Lookups that may wait for each other. Ruby's stack ends between 150 and 200.
pub(super) const MAX_CHAIN: usize = 250;
/// How deep interpolation may nest a value: twice what a file may hold.
pub(super) const MAX_DEPTH: u16 = 1000;
/// How large interpolation may make a value, in pieces of 16 bytes: some 64 MB.
pub(super) const MAX_WEIGHT: u32 = 4_000_000;
/// The budget of a lookup whose caller sets none: a second or two. Without it, data that multiplies itself would keep a
/// lookup busy forever.
pub(super) const DEFAULT_BUDGET: work_budget::Limits = work_budget::Limits {
    steps: 50_000_000,
    bytes: 256 * 1024 * 1024,
    time: Duration::MAX,
};
/// Bytes of the values in an explanation.
const MAX_EXPLAINED: usize = 16 * 1024 * 1024;

/// A lookup that exceeds a limit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LimitError {
    /// Lookups that wait for each other.
    #[error("lookups are nested more than {bound} deep, starting at `{start}`")]
    TooDeepChain {
        /// The bound.
        bound: usize,
        /// The key that was asked for.
        start: String,
    },
    /// A value that interpolation nested too deeply.
    #[error("the value of `{key}` is nested more than {bound} deep")]
    TooDeepValue {
        /// The key.
        key: String,
        /// The bound.
        bound: u16,
    },
    /// A value that interpolation made too large.
    #[error("the value of `{key}` is too large")]
    TooLargeValue {
        /// The key.
        key: String,
    },
    /// A large explanation.
    #[error("the explanation would be larger than {bound} bytes")]
    TooMuchToExplain {
        /// The bound.
        bound: usize,
    },
}

/// The error of a lookup whose budget is spent. The reason is known where the budget is; here it only ends the lookup.
pub(super) fn ended(_: Exhausted) -> LookupError {
    LookupError::Spent(Spent::Cancelled)
}

impl Walk<'_, '_> {
    /// Runs a part of the lookup of a key, unless the lookup is already under way.
    pub(super) fn guarded<R>(
        &mut self,
        key: &LookupKey,
        body: impl FnOnce(&mut Self) -> Result<R, LookupError>,
    ) -> Result<R, LookupError> {
        if self.names.iter().any(|name| name == key.as_str()) {
            return Err(LookupError::Recursion {
                chain: self.names.iter().map(ToString::to_string).collect(),
            });
        }
        self.names.push(key.text().clone());
        let result = body(self);
        self.names.pop();
        self.track_puppet_error(&result, PuppetError::leave_layer);
        result
    }

    /// Charges steps: files looked into, tokens filled in, pieces of text written.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), LookupError> {
        work_budget::charge(steps).map_err(ended)?;
        if self.explained > MAX_EXPLAINED {
            let bound = MAX_EXPLAINED;
            return Err(LimitError::TooMuchToExplain { bound }.into());
        }
        Ok(())
    }
}
