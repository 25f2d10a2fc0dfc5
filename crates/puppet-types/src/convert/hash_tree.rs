//! `Hash` from an array of paths and values: the options `tree` and `hash_tree`.

use indexmap::IndexMap;
use puppet_values::{Hash, Value};

use super::{ConversionError, MAX_SIZE, unusable};

/// The maximum length of a path.
const MAX_DEPTH: usize = 500;

/// A value that later paths can still change.
enum TreeNode {
    Leaf(Value),
    Array(Vec<TreeNode>),
    Hash(IndexMap<Value, TreeNode, foldhash::fast::RandomState>),
}

/// Builds a tree. With `all_hashes`, arrays become hashes with the indices as keys.
pub(super) fn build(entries: &[Value], all_hashes: bool) -> Result<Value, ConversionError> {
    let mut root = TreeNode::Hash(IndexMap::default());
    for entry in entries {
        let Some([path, value]) = entry.as_array() else {
            continue;
        };
        match path.as_array().unwrap_or_default() {
            long if long.len() > MAX_DEPTH => {
                return Err(ConversionError::TooLarge { limit: MAX_DEPTH });
            }
            [] => root.merge(value)?,
            [front @ .., last] => {
                let mut node = &mut root;
                for index in front {
                    node = node.step(index)?;
                }
                let value = if all_hashes {
                    array_as_hash(value)
                } else {
                    value.clone()
                };
                node.set(last, value)?;
            }
        }
    }
    Ok(root.into_value())
}

fn array_as_hash(value: &Value) -> Value {
    let Value::Array(array) = value else {
        return value.clone();
    };
    let entries = array.items().iter().zip(0..);
    Value::hash(
        entries
            .map(|(item, index)| (Value::Int(index), array_as_hash(item)))
            .collect(),
    )
}

impl TreeNode {
    /// Turns a collection into nodes, so that paths can continue in it.
    fn open(&mut self) {
        if let TreeNode::Leaf(value) = self {
            *self = match value {
                Value::Array(array) => {
                    TreeNode::Array(array.items().iter().cloned().map(TreeNode::Leaf).collect())
                }
                Value::Hash(hash) => TreeNode::Hash(
                    hash.iter()
                        .map(|(key, value)| (key.clone(), TreeNode::Leaf(value.clone())))
                        .collect(),
                ),
                value => TreeNode::Leaf(value.clone()),
            };
        }
    }

    fn step(&mut self, index: &Value) -> Result<&mut TreeNode, ConversionError> {
        self.open();
        match self {
            TreeNode::Hash(entries) => Ok(entries
                .entry(index.clone())
                .or_insert_with(|| TreeNode::Hash(IndexMap::default()))),
            TreeNode::Array(items) => {
                let index = array_index(index, items.len())?;
                let nothing = || unusable("undefined method `[]=' for nil:NilClass");
                index
                    .and_then(|index| items.get_mut(index))
                    .ok_or_else(nothing)
            }
            TreeNode::Leaf(value) => Err(no_method("has_key?", value)),
        }
    }

    fn set(&mut self, index: &Value, value: Value) -> Result<(), ConversionError> {
        self.open();
        match self {
            TreeNode::Hash(entries) => {
                entries.insert(index.clone(), TreeNode::Leaf(value));
                Ok(())
            }
            TreeNode::Array(items) => {
                let length = items.len();
                let Some(position) = array_index(index, length)? else {
                    let index = super::stringify(index);
                    return Err(unusable(format!(
                        "index {index} too small for array; minimum: -{length}"
                    )));
                };
                if position > MAX_SIZE {
                    return Err(ConversionError::TooLarge { limit: MAX_SIZE });
                }
                while items.len() <= position {
                    items.push(TreeNode::Leaf(Value::Null));
                }
                if let Some(item) = items.get_mut(position) {
                    *item = TreeNode::Leaf(value);
                }
                Ok(())
            }
            TreeNode::Leaf(Value::Str(text)) => {
                *self = TreeNode::Leaf(Value::str(replace_character(text, index, &value)?));
                Ok(())
            }
            TreeNode::Leaf(value) => Err(no_method("[]=", value)),
        }
    }

    fn merge(&mut self, value: &Value) -> Result<(), ConversionError> {
        let TreeNode::Hash(root) = self else {
            return Ok(());
        };
        match value {
            Value::Array(array) => {
                for (item, index) in array.items().iter().zip(0..) {
                    root.insert(Value::Int(index), TreeNode::Leaf(item.clone()));
                }
            }
            Value::Hash(hash) => {
                for (key, value) in hash.iter() {
                    root.insert(key.clone(), TreeNode::Leaf(value.clone()));
                }
            }
            Value::Null => return Err(unusable("no implicit conversion of nil into Hash")),
            other => {
                let class = other.ruby_class();
                return Err(unusable(format!(
                    "no implicit conversion of {class} into Hash"
                )));
            }
        }
        Ok(())
    }

    fn into_value(self) -> Value {
        match self {
            TreeNode::Leaf(value) => value,
            TreeNode::Array(items) => {
                Value::array(items.into_iter().map(TreeNode::into_value).collect())
            }
            TreeNode::Hash(entries) => {
                let entries = entries.into_iter();
                let hash: Hash = entries
                    .map(|(key, node)| (key, node.into_value()))
                    .collect();
                Value::hash(hash)
            }
        }
    }
}

/// A string with the character at an index replaced or, if the index is a string, its first occurrence.
fn replace_character(text: &str, index: &Value, value: &Value) -> Result<String, ConversionError> {
    if let Value::Str(piece) = index {
        if !text.contains(piece.as_str()) {
            return Err(unusable("string not matched"));
        }
    } else {
        array_index(index, text.chars().count())?;
    }
    let Value::Str(value) = value else {
        let class = value.ruby_class();
        return Err(unusable(format!(
            "no implicit conversion of {class} into String"
        )));
    };
    if let Value::Str(piece) = index {
        return Ok(text.replacen(piece.as_str(), value, 1));
    }
    let length = text.chars().count();
    match array_index(index, length)?.filter(|position| *position <= length) {
        Some(position) => {
            let before = text.chars().take(position);
            let after = text.chars().skip(position + 1);
            Ok(before.chain(value.chars()).chain(after).collect())
        }
        None => {
            let index = super::stringify(index);
            Err(unusable(format!("index {index} out of string")))
        }
    }
}

/// The position of an index, which counts from the end if it is negative; `None` if it is before the start.
fn array_index(index: &Value, length: usize) -> Result<Option<usize>, ConversionError> {
    let index = match index {
        Value::Int(index) => *index,
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as Ruby converts a float to an index"
        )]
        Value::Float(index) => *index as i64,
        other => {
            let class = match other {
                Value::Null => "from nil to integer".to_owned(),
                other => format!("of {} into Integer", other.ruby_class()),
            };
            return Err(unusable(format!("no implicit conversion {class}")));
        }
    };
    Ok(match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| length.checked_sub(back)),
    })
}

fn no_method(method: &str, value: &Value) -> ConversionError {
    let value = match value {
        Value::Null => "nil:NilClass".to_owned(),
        value => format!("a {}", value.ruby_class()),
    };
    unusable(format!("undefined method `{method}' for {value}"))
}
