//! Knock-outs: texts with a prefix that remove what lower levels have.

use puppet_values::Value;

use super::DeepOptions;

impl DeepOptions {
    /// Does the knock-outs of a list in the list itself.
    ///
    /// Ruby's `delete_if` over a list from which its own block deletes: elements move up while it runs, so
    /// some are skipped. The result is what Puppet leaves.
    pub(super) fn knock_out_of_itself(&self, mut list: Vec<Value>) -> Vec<Value> {
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

    /// What is left of a value that is marked as a knock-out; `None` if it is not.
    pub(super) fn knocked_out(&self, value: &Value) -> Option<Value> {
        (!self.preserve_unmergeables && self.is_marked(value)).then(|| Value::str(""))
    }

    /// Is a value marked as a knock-out?
    pub(super) fn is_marked(&self, value: &Value) -> bool {
        self.unmarked(value).is_some()
    }

    /// The text without the prefix, if it has it.
    ///
    /// Puppet: the prefix is text here, not a pattern. It counts at the start of every line.
    pub(super) fn unmarked(&self, value: &Value) -> Option<Value> {
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
