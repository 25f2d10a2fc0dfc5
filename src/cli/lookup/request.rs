//! The arguments of `hierad lookup` → a checked request.

use std::path::Path;

use anyhow::{Context, bail};
use hiera_resolver::data::{json, read_yaml};
use hiera_resolver::scope::RawNode;
use hiera_resolver::{Explain, Hash, Node, Value};

use crate::cli::arguments::{LookupArgs, Usage};
use crate::lookup::{LookupRequest, RawLookupRequest, RequestError, RequestedKeys};

/// The key to look up if only the options are explained, as in Puppet.
const NO_KEY: &str = "__global__";

/// Checks the arguments.
pub(super) fn check(arguments: &LookupArgs) -> anyhow::Result<LookupRequest<'_, Node>> {
    let explain = match (arguments.explain, arguments.explain_options) {
        (true, _) => Some(Explain::Value),
        (false, true) => Some(Explain::Options),
        (false, false) => None,
    };
    let keys = match arguments.keys.as_slice() {
        [] if explain == Some(Explain::Options) => vec![NO_KEY.into()],
        [] => return Err(Usage::error("no keys were given to look up")),
        keys => keys.iter().map(Into::into).collect(),
    };
    let merge = merge_value(arguments)?;
    let environment = arguments.environment.as_str();
    let facts = arguments.facts.as_deref().map(read_facts).transpose()?;
    let node = RawNode {
        facts: facts.unwrap_or_default(),
        name: arguments.node.clone(),
        ..RawNode::default()
    };
    let node = node.check(environment)?;
    let request = RawLookupRequest {
        merge,
        value_type: arguments.value_type.as_deref().map(Into::into),
        default: arguments.default.as_deref().map(Value::str),
        explain,
        ..RawLookupRequest::new(environment.into(), RequestedKeys::FirstFound(keys), node)
    };
    request.check(usize::MAX).map_err(|error| match error {
        RequestError::Type(error) => Usage::error(format!("--type: {error}")),
        RequestError::Merge(error) => error.into(),
        error => error.into(),
    })
}

/// The flags of a merge, as the value that a request has.
fn merge_value(arguments: &LookupArgs) -> anyhow::Result<Option<Value>> {
    let deep_options = arguments.sort_merged_arrays
        || arguments.merge_hash_arrays
        || arguments.knock_out_prefix.is_some();
    if deep_options && arguments.merge.as_deref() != Some("deep") {
        return Err(Usage::error(
            "the options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'",
        ));
    }
    let Some(name) = &arguments.merge else {
        return Ok(None);
    };
    if !matches!(name.as_str(), "first" | "unique" | "hash" | "deep") {
        return Err(Usage::error(
            "the --merge option only accepts 'first', 'hash', 'unique', or 'deep'",
        ));
    }
    let mut options = Hash::new();
    options.insert("strategy".into(), Value::str(name));
    if name == "deep" {
        options.insert(
            "sort_merged_arrays".into(),
            Value::Bool(arguments.sort_merged_arrays),
        );
        options.insert(
            "merge_hash_arrays".into(),
            Value::Bool(arguments.merge_hash_arrays),
        );
        if let Some(prefix) = &arguments.knock_out_prefix {
            options.insert("knockout_prefix".into(), Value::str(prefix));
        }
    }
    Ok(Some(Value::hash(options)))
}

/// Reads a file of facts: JSON or YAML by its extension, otherwise whichever it can be parsed as.
fn read_facts(path: &Path) -> anyhow::Result<Hash> {
    let shown = path.display();
    let bytes =
        std::fs::read(path).with_context(|| format!("cannot read the facts in `{shown}`"))?;
    let as_json = || {
        json::parse(&bytes, &mut |text| Value::str(text)).with_context(|| format!("in `{shown}`"))
    };
    let as_yaml = || {
        let value =
            read_yaml(&bytes, &mut Default::default()).with_context(|| format!("in `{shown}`"))?;
        Ok::<_, anyhow::Error>(value.unwrap_or_default())
    };
    let extension = path.extension().and_then(|extension| extension.to_str());
    let facts = match extension {
        Some("json") => as_json()?,
        Some("yaml" | "yml") => as_yaml()?,
        _ => as_json().or_else(|_| as_yaml())?,
    };
    match facts {
        Value::Hash(hash) => Ok(Hash::clone(&hash)),
        _ => bail!("the facts in `{shown}` are not a hash"),
    }
}
