//! The deep merge: hashes are merged key by key, lists are joined, the higher level wins elsewhere.
//!
//! Puppet leaves this to the library `deep_merge`, which changes the lists and hashes it is given while it reads them.
//! Where that shows in the result, [`Twin`] says which of its two situations is meant; where it shows in an explanation,
//! `deep/side_effects.rs` works it out.

mod itself;
mod knockout;
mod lists;
mod options;
mod side_effects;
mod sort;

use puppet_values::{Hash, Value};

use self::itself::Twin;
pub(super) use self::options::DeepOptions;
use super::error::MergeError;

impl DeepOptions {
    /// Merges two values, the one of the higher level first.
    pub(in crate::merge) fn merge(
        &self,
        higher: &Value,
        lower: Value,
    ) -> Result<Value, MergeError> {
        if self
            .knockout_prefix
            .as_ref()
            .is_some_and(|prefix| prefix.is_empty())
        {
            return Err(MergeError::EmptyKnockoutPrefix);
        }
        if self.is_reversed {
            self.lay_over(&lower, higher.clone())
        } else {
            self.lay_over(higher, lower)
        }
    }

    /// Lays `source` over `target`.
    pub(super) fn lay_over(&self, source: &Value, target: Value) -> Result<Value, MergeError> {
        if matches!(source, Value::Null) {
            return Ok(target);
        }
        if !target.is_truthy() && !self.preserve_unmergeables {
            return Ok(source.clone());
        }
        match (source, target) {
            (Value::Hash(source), Value::Hash(target)) => {
                if source.is_empty() {
                    return Ok(Value::Hash(target));
                }
                if self.replaces(source, &target) {
                    return Ok(Value::Hash(source.clone()));
                }
                let mut merged = std::sync::Arc::unwrap_or_clone(target);
                for (key, value) in source.iter() {
                    match merged.get_value_mut(key) {
                        Some(slot) if slot.is_truthy() => {
                            *slot = self.lay_over(value, std::mem::take(slot))?
                        }
                        _ => {
                            let value = self.merge_with_itself(value, Twin::Copy)?;
                            merged.insert(key.clone(), value);
                        }
                    }
                }
                Ok(Value::hash(merged))
            }
            (Value::Hash(source), Value::Array(target)) if self.extend_existing_arrays => {
                // Once for every key of the source, as the library does.
                let copies = std::iter::repeat_n(Value::Hash(source.clone()), source.len());
                Ok(Value::array(
                    target.items().iter().cloned().chain(copies).collect(),
                ))
            }
            (Value::Hash(source), target) => {
                if source.is_empty() || self.preserve_unmergeables {
                    return Ok(target);
                }
                // The first key finds no hash and replaces it by the source; the others then find the
                // source itself, and are merged with themselves.
                let mut merged = Hash::clone(source);
                for (key, value) in source.iter().skip(1) {
                    let twin = if value.is_truthy() {
                        Twin::Same
                    } else {
                        Twin::Copy
                    };
                    merged.insert(key.clone(), self.merge_with_itself(value, twin)?);
                }
                Ok(Value::hash(merged))
            }
            (Value::Array(source), target) => {
                if self.overwrite_arrays {
                    return Ok(Value::Array(source.clone()));
                }
                self.join(source.items().to_vec(), target)
            }
            (source, Value::Array(target)) if self.extend_existing_arrays => Ok(Value::array(
                target
                    .items()
                    .iter()
                    .cloned()
                    .chain([source.clone()])
                    .collect(),
            )),
            (source, target) => Ok(self.overwrite(source, target)),
        }
    }

    /// Is the result of laying a hash over another the hash itself? It is if both have the same keys and the values
    /// are scalars, which is common among the entries of hashes of hashes.
    fn replaces(&self, source: &Hash, target: &Hash) -> bool {
        let is_plain =
            |value: &Value| value.is_truthy() && !matches!(value, Value::Hash(_) | Value::Array(_));
        !self.preserve_unmergeables
            && !self.extend_existing_arrays
            && !self.has_knockout()
            && source.len() == target.len()
            && source
                .iter()
                .zip(target)
                .all(|((key, value), (other, _))| is_plain(value) && key == other)
    }

    /// Replaces a value by another. One that is marked as a knock-out leaves an empty text.
    fn overwrite(&self, source: &Value, target: Value) -> Value {
        if self.preserve_unmergeables {
            return target;
        }
        self.knocked_out(source).unwrap_or_else(|| source.clone())
    }
}
