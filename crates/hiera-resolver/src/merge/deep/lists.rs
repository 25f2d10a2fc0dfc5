//! Lists in a deep merge.

use puppet_values::{Value, ruby_text};

use super::DeepOptions;
use super::sort::sort;
use crate::merge::error::MergeError;
use crate::merge::union::union;

impl DeepOptions {
    /// Are these lists merged element by element?
    pub(super) fn merges_elements(&self, source: &[Value], target: &[Value]) -> bool {
        let all_hashes = |list: &[Value]| list.iter().all(|item| matches!(item, Value::Hash(_)));
        self.merge_hash_arrays && all_hashes(source) && all_hashes(target)
    }

    /// Lays a list over a value.
    pub(super) fn join(
        &self,
        mut source: Vec<Value>,
        mut target: Value,
    ) -> Result<Value, MergeError> {
        if let Some(separator) = &self.unpack_arrays {
            source = unpack(&source, separator);
            if let Value::Array(list) = &target {
                target = Value::array(unpack(list.items(), separator));
            }
        }
        if let Some(prefix) = &self.knockout_prefix
            && source.iter().any(|item| item.as_str() == Some(prefix))
        {
            // The prefix alone clears what is below.
            source.retain(|item| item.as_str() != Some(prefix));
            target = match target {
                Value::Array(_) => Value::array(Vec::new()),
                _ => Value::Null,
            };
        }
        let Value::Array(target) = target else {
            if self.preserve_unmergeables {
                return Ok(target);
            }
            source.retain(|item| !self.is_marked(item));
            return Ok(Value::array(source));
        };
        let mut target = target.items().to_vec();
        if self.has_knockout() {
            source.retain(|item| match self.unmarked(item) {
                Some(bare) => {
                    target.retain(|other| other != &bare && other != item);
                    false
                }
                None => true,
            });
        }
        self.join_lists(source, target)
    }

    /// Joins two lists whose knock-outs are done.
    fn join_lists(&self, source: Vec<Value>, target: Vec<Value>) -> Result<Value, MergeError> {
        let mut joined = if self.merges_elements(&source, &target) {
            let mut source = source.into_iter();
            let mut list = Vec::with_capacity(target.len().max(source.len()));
            for lower in target {
                list.push(match source.next() {
                    Some(higher) => self.lay_over(&higher, lower)?,
                    None => lower,
                });
            }
            list.extend(source);
            list
        } else {
            union(target.into_iter().chain(source))
        };
        if self.sort_merged_arrays {
            sort(&mut joined)?;
        }
        Ok(Value::array(joined))
    }
}

/// Joins the elements of a list and splits them again, so that `a,b` becomes two elements.
fn unpack(list: &[Value], separator: &str) -> Vec<Value> {
    let mut joined = String::new();
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        ruby_text::to_s(item, &mut joined);
    }
    let mut parts: Vec<Value> = joined.split(separator).map(Value::str).collect();
    while parts.last().is_some_and(|part| part.as_str() == Some("")) {
        parts.pop();
    }
    parts
}
