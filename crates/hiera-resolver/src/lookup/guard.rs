//! Bounds of a lookup: recursion, depth, work.

use super::walk::Walk;
use crate::error::{LookupError, Telling};
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
        self.telling_of(&result, Telling::leave_layer);
        result
    }

    /// Counts work, so that a lookup of data that multiplies itself ends.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), LookupError> {
        self.session.work += steps;
        if self.session.work > MAX_WORK {
            return Err(LookupError::TooMuchWork { bound: MAX_WORK });
        }
        if self.explained > MAX_EXPLAINED {
            return Err(LookupError::TooMuchToExplain {
                bound: MAX_EXPLAINED,
            });
        }
        Ok(())
    }
}
