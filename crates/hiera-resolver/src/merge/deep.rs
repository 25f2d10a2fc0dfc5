//! The deep merge: hashes are merged key by key, lists are joined, the higher level wins elsewhere.
//!
//! Puppet leaves this to the library `deep_merge`, which changes the lists and hashes it is given while
//! it reads them. Where that shows in the result, [`Twin`] says which of its two situations is meant.

use lean_string::LeanStr;

use super::{MergeError, flag_option, has_repetitions, refuse_options, text_option, union};
use crate::Value;
use crate::hash::Hash;

/// The options of a deep merge.
#[derive(Clone, Debug, Default)]
pub struct DeepOptions {
    name: LeanStr,
    knockout_prefix: Option<LeanStr>,
    sort_merged_arrays: bool,
    merge_hash_arrays: bool,
    /// Hiera 3's `deep`: the lower level wins.
    is_reversed: bool,
    overwrite_arrays: bool,
    extend_existing_arrays: bool,
    unpack_arrays: Option<LeanStr>,
    preserve_unmergeables: bool,
}

/// A value that has no counterpart below is merged with itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    /// With a copy, whose parts are shared with the original.
    Copy,
    /// With the very same object: what is taken from one is gone from the other.
    Same,
}

impl DeepOptions {
    pub(super) fn parse(name: &str, options: Option<&Hash>) -> Result<Self, MergeError> {
        let mut deep = DeepOptions {
            name: name.into(),
            ..DeepOptions::default()
        };
        let Some(options) = options else {
            return Ok(deep);
        };
        refuse_options(
            options,
            &[
                "strategy",
                "knockout_prefix",
                "merge_debug",
                "merge_hash_arrays",
                "sort_merged_arrays",
            ],
        )?;
        flag_option(options, "merge_debug")?;
        deep.knockout_prefix = text_option(options, "knockout_prefix")?;
        deep.sort_merged_arrays = flag_option(options, "sort_merged_arrays")?;
        deep.merge_hash_arrays = flag_option(options, "merge_hash_arrays")?;
        Ok(deep)
    }

    /// The strategies that Hiera 3's `merge_behavior` stands for, which take any option of the library.
    pub(super) fn parse_legacy(name: &str, options: Option<&Hash>) -> Result<Self, MergeError> {
        let mut deep = DeepOptions {
            name: name.into(),
            is_reversed: name == "reverse_deep",
            ..DeepOptions::default()
        };
        let Some(options) = options else {
            return Ok(deep);
        };
        let is_set = |name| options.get(name).is_some_and(Value::is_truthy);
        let text = |name| options.get(name).and_then(Value::as_str).map(LeanStr::from);
        deep.knockout_prefix = text("knockout_prefix");
        deep.sort_merged_arrays = is_set("sort_merged_arrays");
        deep.merge_hash_arrays = is_set("merge_hash_arrays");
        deep.overwrite_arrays = is_set("overwrite_arrays");
        deep.extend_existing_arrays = is_set("extend_existing_arrays");
        deep.unpack_arrays = text("unpack_arrays");
        deep.preserve_unmergeables = is_set("preserve_unmergeables");
        Ok(deep)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has_knockout(&self) -> bool {
        self.knockout_prefix.is_some()
    }

    /// Merges two values, the one of the higher level first.
    pub(super) fn merge(&self, higher: &Value, lower: Value) -> Result<Value, MergeError> {
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
    fn lay_over(&self, source: &Value, target: Value) -> Result<Value, MergeError> {
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
                // The first key finds no hash and puts the source in its place; the others then find the
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

    /// Is a hash that is laid over another all that there is then? So it is where they have the same keys and plain
    /// values, as the entries of most hashes of hashes have.
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

    /// What has become of the higher value when a merge with the lower one is done, where `merged` came of it.
    ///
    /// Puppet: the library changes what it merges, and explanations then show the value of a level as it was left
    /// behind. `None` where it is what it was.
    pub(super) fn aftermath(
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
                            self.aftermath(value, below, merged)?
                        }
                        None => self.aftermath_of_copy(value)?,
                    };
                    if let Some(left) = left {
                        after
                            .get_or_insert_with(|| Hash::clone(source))
                            .insert(key.clone(), left);
                    }
                }
                Ok(after.map(Value::hash))
            }
            // The first key put the source in the place of the target, so that the result is the source itself.
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
                    if let Some(left) = self.aftermath(item, below, merged)? {
                        *item = left;
                    }
                }
                Ok(Some(Value::array(after)))
            }
            _ => Ok(None),
        }
    }

    /// The same for a value that was merged with a copy of itself: the hashes inside are shared with the copy.
    fn aftermath_of_copy(&self, value: &Value) -> Result<Option<Value>, MergeError> {
        match value {
            Value::Hash(hash) => {
                let mut after: Option<Hash> = None;
                for (key, inner) in hash.iter().filter(|(_, inner)| inner.is_truthy()) {
                    let left = match inner {
                        Value::Hash(_) => Some(self.merge_with_itself(inner, Twin::Same)?),
                        other => self.aftermath_of_copy(other)?,
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

    /// Are these lists merged element by element?
    fn merges_elements(&self, source: &[Value], target: &[Value]) -> bool {
        let all_hashes = |list: &[Value]| list.iter().all(|item| matches!(item, Value::Hash(_)));
        self.merge_hash_arrays && all_hashes(source) && all_hashes(target)
    }

    /// Lays a list over a value.
    fn join(&self, mut source: Vec<Value>, mut target: Value) -> Result<Value, MergeError> {
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

    /// Joins two lists of which the knock-outs are done.
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

    /// What becomes of a value that has no counterpart in the lower level: its lists lose repetitions, are
    /// sorted where that was asked for, and its knock-outs are done.
    fn merge_with_itself(&self, value: &Value, twin: Twin) -> Result<Value, MergeError> {
        let changed = self.changed_by_itself(value, twin)?;
        Ok(changed.unwrap_or_else(|| value.clone()))
    }

    /// The same; `None` where it stays as it is.
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
            } else if self.sort_merged_arrays || has_repetitions(items) {
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

    /// Ruby's `delete_if` over a list from which its own block deletes: elements move up while it runs, so
    /// some are passed over. What is left is what Puppet leaves.
    fn knock_out_of_itself(&self, mut list: Vec<Value>) -> Vec<Value> {
        let prefix = self.knockout_prefix.as_deref().unwrap_or_default();
        if list.iter().any(|item| item.as_str() == Some(prefix)) {
            return Vec::new();
        }
        let (mut read, mut written) = (0, 0);
        while let Some(item) = list.get(read).cloned() {
            if let Some(bare) = self.unmarked(&item) {
                list.retain(|other| other != &bare && other != &item);
            } else {
                if let Some(slot) = list.get_mut(written) {
                    *slot = item;
                }
                written += 1;
            }
            read += 1;
        }
        if written < list.len() && written < read {
            list.drain(written..read.min(list.len()));
        }
        list
    }

    /// Puts a value in the place of another. One that is marked as a knock-out leaves an empty text.
    fn overwrite(&self, source: &Value, target: Value) -> Value {
        if self.preserve_unmergeables {
            return target;
        }
        self.knocked_out(source).unwrap_or_else(|| source.clone())
    }

    /// What is left of a value that is marked as a knock-out; `None` where it is not.
    fn knocked_out(&self, value: &Value) -> Option<Value> {
        (!self.preserve_unmergeables && self.is_marked(value)).then(|| Value::str(""))
    }

    fn is_marked(&self, value: &Value) -> bool {
        self.unmarked(value).is_some()
    }

    /// The text without the prefix, where it has it.
    ///
    /// Puppet: the prefix is text here, not a pattern. It counts at the start of every line.
    fn unmarked(&self, value: &Value) -> Option<Value> {
        let (prefix, text) = (self.knockout_prefix.as_deref()?, value.as_str()?);
        if !text.split('\n').any(|line| line.starts_with(prefix)) {
            return None;
        }
        let bare: Vec<&str> = text
            .split('\n')
            .map(|line| line.strip_prefix(prefix).unwrap_or(line))
            .collect();
        Some(Value::str(bare.join("\n")))
    }
}

fn unpack(list: &[Value], separator: &str) -> Vec<Value> {
    let mut joined = String::new();
    for (place, item) in list.iter().enumerate() {
        if place > 0 {
            joined.push_str(separator);
        }
        crate::ruby_text::to_s(item, &mut joined);
    }
    let mut parts: Vec<Value> = joined.split(separator).map(Value::str).collect();
    while parts.last().is_some_and(|part| part.as_str() == Some("")) {
        parts.pop();
    }
    parts
}

/// Sorts as Ruby does: texts by their bytes, numbers by value, lists element by element, nothing else.
fn sort(list: &mut [Value]) -> Result<(), MergeError> {
    let mut failure = None;
    list.sort_by(|left, right| {
        compare(left, right).unwrap_or_else(|| {
            failure = Some(MergeError::NotSortable {
                left: left.ruby_class(),
                right: right.ruby_class(),
            });
            std::cmp::Ordering::Equal
        })
    });
    failure.map_or(Ok(()), Err)
}

/// Ruby's `<=>`.
fn compare(left: &Value, right: &Value) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::BigInt(left), Value::BigInt(right)) => Some(left.cmp(right)),
        (Value::BigInt(big), Value::Int(_) | Value::Float(_)) => Some(sign_order(big)),
        (Value::Int(_) | Value::Float(_), Value::BigInt(big)) => Some(sign_order(big).reverse()),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => (*left as f64).partial_cmp(right),
        (Value::Float(left), Value::Int(right)) => left.partial_cmp(&(*right as f64)),
        (Value::Array(left), Value::Array(right)) => {
            for (left, right) in left.items().iter().zip(right.items()) {
                match compare(left, right)? {
                    std::cmp::Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(left.items().len().cmp(&right.items().len()))
        }
        (left, right) => (left == right).then_some(std::cmp::Ordering::Equal),
    }
}

/// How an integer beyond 64 bits compares with any that is not.
fn sign_order(big: &num_bigint::BigInt) -> std::cmp::Ordering {
    match big.sign() {
        num_bigint::Sign::Minus => std::cmp::Ordering::Less,
        _ => std::cmp::Ordering::Greater,
    }
}
