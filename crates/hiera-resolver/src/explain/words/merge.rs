//! Merges that cannot be done.

use puppet_types::{Type, assert_instance};
use puppet_values::Value;

use super::subjects::Subject;
use crate::explain::PuppetError;
use crate::merge::MergeError;

pub(super) fn failed(error: &MergeError) -> PuppetError {
    match error {
        MergeError::WrongType(mismatch) => PuppetError::puppet(mismatch.to_string()),
        MergeError::WrongOptions { options, .. } => PuppetError::puppet(wrong_options(options)),
        MergeError::NoStrategy
        | MergeError::UnknownStrategy { .. }
        | MergeError::EmptyKnockoutPrefix
        | MergeError::NotSortable { .. } => PuppetError::unexpected(),
    }
}

/// Puppet checks the options of a strategy against a type.
fn wrong_options(options: &Value) -> String {
    let strategy = options
        .as_hash()
        .and_then(|options| options.get("strategy"));
    let expected = match strategy.and_then(Value::as_str).unwrap_or_default() {
        "deep" => "Struct[{strategy=>Optional[Pattern[deep]],knockout_prefix=>Optional[String],\
             merge_debug=>Optional[Boolean],merge_hash_arrays=>Optional[Boolean],\
             sort_merged_arrays=>Optional[Boolean],}]"
            .to_owned(),
        "unconstrained_deep" | "reverse_deep" => "Hash[String[1],Any]".to_owned(),
        name => format!("Struct[{{strategy=>Optional[Pattern[/{name}/]]}}]"),
    };
    let subject = Subject::MergeOptions.to_string();
    let mismatch = Type::parse(&expected)
        .ok()
        .and_then(|expected| assert_instance(&subject, &expected, options).err());
    mismatch.map_or_else(
        || format!("{subject} has wrong type, expects {expected}, got Hash"),
        |mismatch| mismatch.to_string(),
    )
}
