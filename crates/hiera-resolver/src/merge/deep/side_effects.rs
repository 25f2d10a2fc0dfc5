//! What the library `deep_merge` changes in the values it is given.
//!
//! Puppet: explanations show the value of a level as the merge left it, so this is computed for explanations, and for
//! nothing else.

use puppet_values::{Hash, Value};

use super::DeepOptions;
use super::itself::Twin;
use crate::merge::error::MergeError;

impl DeepOptions {
    /// The value of the higher level after it was merged with that of the lower one to `merged`. `None` if it is
    /// unchanged.
    pub(in crate::merge) fn changed_source(
        &self,
        source: &Value,
        target: &Value,
        merged: &Value,
    ) -> Result<Option<Value>, MergeError> {
        if !target.is_truthy() || self.is_reversed {
            return Ok(None);
        }
        match (source, target) {
            (Value::Hash(source), Value::Hash(target)) => {
                let mut after: Option<Hash> = None;
                for (key, value) in source.iter() {
                    let left = match target.get_value(key).filter(|value| value.is_truthy()) {
                        Some(below) => {
                            let merged = merged
                                .as_hash()
                                .and_then(|merged| merged.get_value(key))
                                .unwrap_or(value);
                            self.changed_source(value, below, merged)?
                        }
                        None => self.changed_copy(value)?,
                    };
                    if let Some(left) = left {
                        after
                            .get_or_insert_with(|| Hash::clone(source))
                            .insert(key.clone(), left);
                    }
                }
                Ok(after.map(Value::hash))
            }
            // The first key replaced the target by the source, so that the result is the source itself.
            (Value::Hash(source), _) => Ok((!source.is_empty()).then(|| merged.clone())),
            (Value::Array(source), Value::Array(target))
                if self.merges_elements(source.items(), target.items()) =>
            {
                let mut after = source.items().to_vec();
                for ((item, below), merged) in after
                    .iter_mut()
                    .zip(target.items())
                    .zip(merged.as_array().unwrap_or_default())
                {
                    if let Some(left) = self.changed_source(item, below, merged)? {
                        *item = left;
                    }
                }
                Ok(Some(Value::array(after)))
            }
            _ => Ok(None),
        }
    }

    /// The same for a value that was merged with a copy of itself: the hashes inside are shared with the copy.
    fn changed_copy(&self, value: &Value) -> Result<Option<Value>, MergeError> {
        match value {
            Value::Hash(hash) => {
                let mut after: Option<Hash> = None;
                for (key, inner) in hash.iter().filter(|(_, inner)| inner.is_truthy()) {
                    let left = match inner {
                        Value::Hash(_) => Some(self.merge_with_itself(inner, Twin::Same)?),
                        other => self.changed_copy(other)?,
                    };
                    if let Some(left) = left {
                        after
                            .get_or_insert_with(|| Hash::clone(hash))
                            .insert(key.clone(), left);
                    }
                }
                Ok(after.map(Value::hash))
            }
            Value::Array(array) if self.merges_elements(array.items(), array.items()) => {
                let items = array
                    .items()
                    .iter()
                    .map(|item| self.merge_with_itself(item, Twin::Same));
                Ok(Some(Value::array(items.collect::<Result<_, _>>()?)))
            }
            _ => Ok(None),
        }
    }
}
