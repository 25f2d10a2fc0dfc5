//! `lookup_options` that cannot be used.

use puppet_types::convert::ConversionError;

use crate::explain::PuppetError;
use crate::lookup::options::OptionsError;

pub(super) fn unusable(error: &OptionsError) -> PuppetError {
    match error {
        OptionsError::NotAHash { .. } => {
            PuppetError::lookup("value of lookup_options must be a hash")
        }
        OptionsError::ForeignKey { module, key } => {
            let what = match key.starts_with('^') {
                true => "patterns must match a key starting",
                false => "keys must start",
            };
            PuppetError::lookup(format!(
                "all lookup_options {what} with module name '{module}'"
            ))
        }
        OptionsError::KeyNotText { .. }
        | OptionsError::KeyOptionsNotAHash { .. }
        | OptionsError::BadPattern { .. } => PuppetError::unexpected(),
    }
}

pub(super) fn not_converted(key: &str, error: &ConversionError) -> PuppetError {
    PuppetError::lookup(format!(
        "The convert_to lookup_option for key '{key}' raised error: {error}"
    ))
}

/// A type in `convert_to` that cannot be parsed. Puppet leaves the last quote open.
pub(super) fn not_a_type(key: &str, source: &str, problem: &str) -> PuppetError {
    PuppetError::lookup(format!(
        "Invalid data type in lookup_options for key '{key}' could not parse '{source}', error: '{problem}"
    ))
}
