//! Values that have no counterpart in the lower level: the library merges them with themselves.

use puppet_values::{Hash, Value};

use super::DeepOptions;
use super::sort::sort;
use crate::merge::error::MergeError;
use crate::merge::union::{may_repeat, union};

/// What a value that has no counterpart below is merged with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Twin {
    /// With a copy, whose parts are shared with the original.
    Copy,
    /// With the very same object: what is taken from one is gone from the other.
    Same,
}

impl DeepOptions {
    /// What becomes of a value that has no counterpart in the lower level: its lists lose repetitions and are
    /// sorted if that is asked for, and its knock-outs are done.
    pub(super) fn merge_with_itself(&self, value: &Value, twin: Twin) -> Result<Value, MergeError> {
        let changed = self.changed_by_itself(value, twin)?;
        Ok(changed.unwrap_or_else(|| value.clone()))
    }

    /// The same; `None` if it stays as it is.
    fn changed_by_itself(&self, value: &Value, twin: Twin) -> Result<Option<Value>, MergeError> {
        match value {
            Value::Hash(hash) => {
                let mut merged: Option<Hash> = None;
                for (key, inner) in hash.iter().filter(|(_, inner)| inner.is_truthy()) {
                    if let Some(changed) = self.changed_by_itself(inner, Twin::Same)? {
                        merged
                            .get_or_insert_with(|| Hash::clone(hash))
                            .insert(key.clone(), changed);
                    }
                }
                Ok(merged.map(Value::hash))
            }
            Value::Array(_) if self.overwrite_arrays => Ok(None),
            Value::Array(array) if twin == Twin::Same && self.has_knockout() => {
                let left = self.knock_out_of_itself(array.items().to_vec());
                let joined = self.join_with_itself(&left)?;
                Ok(Some(Value::array(joined.unwrap_or(left))))
            }
            Value::Array(array) if self.has_knockout() || self.unpack_arrays.is_some() => {
                self.join(array.items().to_vec(), value.clone()).map(Some)
            }
            Value::Array(array) => Ok(self.join_with_itself(array.items())?.map(Value::array)),
            Value::Null | Value::Bool(false) => Ok(None),
            scalar => Ok(self.knocked_out(scalar)),
        }
    }

    fn join_with_itself(&self, items: &[Value]) -> Result<Option<Vec<Value>>, MergeError> {
        let mut list =
            if self.merge_hash_arrays && items.iter().all(|item| matches!(item, Value::Hash(_))) {
                items
                    .iter()
                    .map(|item| self.merge_with_itself(item, Twin::Same))
                    .collect::<Result<_, _>>()?
            } else if self.sort_merged_arrays || may_repeat(items) {
                union(items.iter().cloned())
            } else {
                return Ok(None);
            };
        if self.sort_merged_arrays {
            sort(&mut list)?;
        }
        let is_same = |(old, new): (&Value, &Value)| old.is_same_object(new);
        let is_unchanged = items.len() == list.len() && items.iter().zip(&list).all(is_same);
        Ok((!is_unchanged).then_some(list))
    }
}
