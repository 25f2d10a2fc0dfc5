//! Data that a level cannot use: files, values, secrets.

use puppet_types as types;
use puppet_values::Value;

use crate::data::FileFault;
use crate::data_functions::FunctionKind;
use crate::explain::PuppetError;
use crate::hierarchy::plan::{Location, Plan, PlannedLevel};

/// A file that cannot be used at this location; `None` if the fault itself says all. `hides` leaves out what may quote
/// secrets.
pub(crate) fn unusable_file(
    fault: &FileFault,
    plan: &Plan<'_>,
    planned: &PlannedLevel<'_>,
    location: &Location<'_>,
    hides: impl FnOnce(&str) -> bool,
) -> Option<PuppetError> {
    let shown = &location.path;
    match fault {
        FileFault::Unparsable {
            path,
            puppet_text: Some(puppet_text),
            quotes_file,
            ..
        } => Some(PuppetError::lookup(
            match *quotes_file && hides(puppet_text) {
                true => format!(
                    "Unable to parse ({shown}): what exactly is not shown, since the data has secrets"
                ),
                false => puppet_text.replacen(path.as_str(), shown, 1),
            },
        )),
        FileFault::NotAHash { mismatch: None, .. } => Some(PuppetError::lookup(format!(
            "{shown}: file does not contain a valid yaml hash"
        ))),
        FileFault::NotAHash {
            mismatch: Some(mismatch),
            ..
        } => {
            let function = function_name(plan, planned);
            Some(PuppetError::puppet(format!(
                "Value returned from {function}, when using location '{shown}', {mismatch}"
            )))
        }
        FileFault::Unparsable { .. }
        | FileFault::Unreadable { .. }
        | FileFault::Directory { .. } => None,
    }
}

/// A value with something in it that is not data to Puppet.
pub(crate) fn irregular_value(
    key: &str,
    value: &Value,
    plan: &Plan<'_>,
    planned: &PlannedLevel<'_>,
    location: &Location<'_>,
) -> PuppetError {
    let (kind, _) = planned.level.function().kind_and_name();
    let in_hash = match kind == FunctionKind::DataHash.as_str() {
        true => " in hash",
        false => "",
    };
    let function = function_name(plan, planned);
    let (shown, found) = (&location.path, types::infer(value));
    PuppetError::puppet(format!(
        "Value for key '{key}',{in_hash} returned from {function}, when using location '{shown}', \
         has wrong type, expects Puppet::LookupValue, got {found}"
    ))
}

/// An encrypted value that cannot be decrypted.
pub(super) fn undecryptable(key: &str, text: &str, path: &str, message: &str) -> PuppetError {
    PuppetError::lookup(format!(
        "hiera-eyaml backend error decrypting {text} when looking up {key} in {path}. Error was {message}"
    ))
}

/// What Puppet calls the function of a level.
fn function_name(plan: &Plan<'_>, planned: &PlannedLevel<'_>) -> String {
    let (kind, name) = planned.level.function().kind_and_name();
    let version = match plan.config.version() {
        3 => "v3_",
        _ => "",
    };
    format!("{version}{kind} function '{name}'")
}
