//! Options of levels that name files, filled in for one node: facts lead to no file elsewhere.

use std::sync::Arc;

use super::{Filled, fill};
use crate::Value;
use crate::config::{DataFunction, Level};
use crate::data::{DataFile, KEY_OPTIONS};
use crate::error::LookupError;
use crate::hash::Hash;
use crate::scope::Scope;
use crate::template::{DecryptFault, Template};

impl Level {
    /// Do its keys depend on the node?
    pub(super) fn has_node_keys(&self) -> bool {
        let has_variables = |options: &Value| options.traits().has_templates;
        matches!(self.function(), DataFunction::Eyaml) && self.options().is_some_and(has_variables)
    }

    /// The options that name keys, filled in, or why there can be none; `None` where no variable stands in them.
    pub(super) fn node_keys(
        &self,
        scope: &dyn Scope,
    ) -> Result<Option<Result<Hash, DecryptFault>>, LookupError> {
        let options = match self.options() {
            Some(Value::Hash(options)) if self.has_node_keys() => options,
            _ => return Ok(None),
        };
        let mut keys = Hash::new();
        let mut filled = Filled::default();
        for name in KEY_OPTIONS {
            let value = match options.get(name) {
                None => continue,
                Some(Value::Template(template)) => {
                    fill(&Template::of(template), scope, &mut filled)?;
                    // Puppet: reads the key wherever that leads.
                    if filled.leads_out(template.source()) {
                        let reason = format!("a variable leads `{name}` out of its place");
                        return Ok(Some(Err(DecryptFault::new(&reason))));
                    }
                    Value::str(&filled.text)
                }
                Some(value) => value.clone(),
            };
            keys.insert(Value::str(name), value);
        }
        Ok(Some(Ok(keys)))
    }

    /// The options of `hiera_http`, filled in. Where a variable leads to a file of TLS elsewhere, it names none.
    pub(super) fn without_led_out(&self, mut filled: Value, scope: &dyn Scope) -> Value {
        let written = self.options().and_then(Value::as_hash);
        let leads_out = |name: &str| match written.and_then(|written| written.get(name)) {
            Some(Value::Template(template)) => {
                let mut text = Filled::default();
                fill(&Template::of(template), scope, &mut text).is_ok()
                    && text.leads_out(template.source())
            }
            _ => false,
        };
        for name in ["ssl_ca_cert", "ssl_cert", "ssl_key"] {
            if leads_out(name)
                && let Value::Hash(options) = &mut filled
            {
                // Nothing goes by this name, and so the request fails.
                Arc::make_mut(options).insert(name.into(), Value::str(""));
            }
        }
        filled
    }

    /// Why the keys that a node names open nothing of a file.
    pub(crate) fn why_sealed(&self, file: &DataFile, scope: &dyn Scope) -> Option<DecryptFault> {
        match self.node_keys(scope).ok()?? {
            Ok(keys) => file.why_sealed(&keys),
            Err(fault) => Some(fault),
        }
    }
}
