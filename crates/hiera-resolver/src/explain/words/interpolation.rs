//! Tokens that cannot be filled in, and keys that cannot be followed into a value.

use super::in_file;
use crate::explain::PuppetError;
use crate::key::{DigError, KeyError};
use crate::template::InterpolationError;

pub(super) fn failed(error: &InterpolationError, template: &str) -> PuppetError {
    match error {
        InterpolationError::AliasNotWholeString => PuppetError::named_lookup(
            "'alias' interpolation is only permitted if the expression is equal to the entire string",
        ),
        InterpolationError::UnknownFunction { name } => {
            PuppetError::named_lookup(format!("Unknown interpolation method '{name}'"))
        }
        InterpolationError::FunctionNotAllowed { config } => {
            let text = "Interpolation using method syntax is not allowed in this context";
            let file = in_file(config.as_deref().unwrap_or_default());
            PuppetError::named_lookup(format!("{text}{file}"))
        }
        // Puppet does not expect it in data.
        InterpolationError::UndefinedVariable { .. } => PuppetError::unexpected(),
        InterpolationError::Key(KeyError::Syntax { .. }) => {
            PuppetError::lookup(format!("Syntax error in string: {template}"))
        }
        InterpolationError::Key(KeyError::NumberFirst { number, .. }) => PuppetError::puppet(
            format!("Scope variable name {number} is a Integer, not a string"),
        ),
        InterpolationError::Dig(error) => cannot_dig(error),
    }
}

/// Ruby's integers can be asked for their bits, and that then fails in a way that Puppet does not expect.
pub(super) fn cannot_dig(error: &DigError) -> PuppetError {
    match error.class {
        "Integer" => PuppetError::unexpected(),
        _ => PuppetError::lookup(error.to_string()),
    }
}
