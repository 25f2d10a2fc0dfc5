//! Limits of a lookup: recursion, depth, work. Without them, data could keep a lookup busy forever.

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
/// Steps of all lookups of a session: files looked into, tokens filled in, pieces of text written.
const MAX_WORK: u64 = 1_000_000;
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
    /// Data that multiplies itself.
    #[error("the request needs more than {bound} steps")]
    TooMuchWork {
        /// The bound.
        bound: u64,
    },
    /// A large explanation.
    #[error("the explanation would be larger than {bound} bytes")]
    TooMuchToExplain {
        /// The bound.
        bound: usize,
    },
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

    /// Counts work, so that a lookup of data that multiplies itself ends.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), LookupError> {
        self.session.work += steps;
        if self.session.work > MAX_WORK {
            return Err(LimitError::TooMuchWork { bound: MAX_WORK }.into());
        }
        if self.explained > MAX_EXPLAINED {
            let bound = MAX_EXPLAINED;
            return Err(LimitError::TooMuchToExplain { bound }.into());
        }
        Ok(())
    }
}
