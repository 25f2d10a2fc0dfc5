//! Options that name files, filled in for one node. Facts must not lead them out of their directories.

use std::sync::Arc;

use puppet_values::{Hash, Value};

use super::fill::{Filled, fill};
use crate::data::DataFile;
use crate::data_functions::DataFunction;
use crate::hierarchy::Level;
use crate::lookup::LookupError;
use crate::scope::Scope;
use crate::template::{DecryptFault, Template};

impl Level {
    /// The options that name the keys of its files, if these may depend on the node.
    fn node_key_options(&self) -> Option<&'static [&'static str]> {
        let files = self.function().known().and_then(DataFunction::files);
        let has_variables = |options: &Value| options.traits().has_templates;
        files
            .filter(|files| files.decrypts() && self.options().is_some_and(has_variables))
            .map(|files| files.key_options)
    }

    /// May its keys depend on the node?
    pub(super) fn has_node_keys(&self) -> bool {
        self.node_key_options().is_some()
    }

    /// The options that name keys, filled in, or why there can be no keys; `None` if no option has a variable.
    pub(super) fn node_keys(
        &self,
        scope: &dyn Scope,
    ) -> Result<Option<Result<Hash, DecryptFault>>, LookupError> {
        let (Some(names), Some(Value::Hash(options))) = (self.node_key_options(), self.options())
        else {
            return Ok(None);
        };
        let mut keys = Hash::new();
        let mut filled = Filled::default();
        for name in names {
            let value = match options.get(name) {
                None => continue,
                Some(Value::Template(template)) => {
                    fill(&Template::of(template), scope, &mut filled)?;
                    // Puppet: reads the key from any path.
                    if filled.leads_out(template.source()) {
                        let reason = format!("a variable leads `{name}` out of its directory");
                        return Ok(Some(Err(DecryptFault::new(&reason))));
                    }
                    Value::str(&filled.text)
                }
                Some(value) => value.clone(),
            };
            keys.insert(Value::str(*name), value);
        }
        Ok(Some(Ok(keys)))
    }

    /// The options of the level, filled in, without the paths that a variable leads out of their directories. `names` are
    /// the options that name files.
    pub(super) fn without_outside_files(
        &self,
        names: &[&str],
        mut filled: Value,
        scope: &dyn Scope,
    ) -> Value {
        let written = self.options().and_then(Value::as_hash);
        let leads_out = |name: &str| match written.and_then(|written| written.get(name)) {
            Some(Value::Template(template)) => {
                let mut text = Filled::default();
                fill(&Template::of(template), scope, &mut text).is_ok()
                    && text.leads_out(template.source())
            }
            _ => false,
        };
        for name in names.iter().copied() {
            if leads_out(name)
                && let Value::Hash(options) = &mut filled
            {
                // There is no file of this name, so the request fails.
                Arc::make_mut(options).insert(name.into(), Value::str(""));
            }
        }
        filled
    }

    /// Why the keys that a node names decrypt nothing of a file.
    pub(crate) fn why_undecrypted(
        &self,
        file: &DataFile,
        scope: &dyn Scope,
    ) -> Option<DecryptFault> {
        match self.node_keys(scope).ok()?? {
            Ok(keys) => file.why_undecrypted(&keys),
            Err(fault) => Some(fault),
        }
    }
}
