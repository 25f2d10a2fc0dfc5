//! Tree without references → [`Value`].

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use puppet_values::{Hash, Value};

use super::node::{Kind, Node};
use super::token::Text;
use super::{Failure, HoconProblem, MAX_DEPTH, fail};

/// Values that references may add to those that are written down.
const MAX_ADDED: usize = 1_000_000;

/// Makes the value of a document of `written` tokens.
pub(super) fn unwrap(
    root: &Rc<Node>,
    written: usize,
    text_of: &mut dyn FnMut(&str) -> Value,
) -> Result<Value, Failure> {
    let mut unwrapper = Unwrapper {
        text_of,
        made: IndexMap::default(),
        limit: written + MAX_ADDED,
    };
    Ok(unwrapper.value(root, 0)?.value)
}

struct Unwrapper<'a> {
    text_of: &'a mut dyn FnMut(&str) -> Value,
    /// Collections that exist already: values that several references have in common are shared.
    made: IndexMap<*const Node, Made, foldhash::fast::RandomState>,
    limit: usize,
}

#[derive(Clone)]
struct Made {
    value: Value,
    /// How many values it has, shared ones counted each time.
    size: usize,
}

impl Unwrapper<'_> {
    fn value(&mut self, node: &Rc<Node>, depth: usize) -> Result<Made, Failure> {
        if let Some(made) = self.made.get(&Rc::as_ptr(node)) {
            return Ok(made.clone());
        }
        if depth > MAX_DEPTH {
            return fail(node.at, HoconProblem::TooDeep);
        }
        let mut size = 1;
        let value = match &node.kind {
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number { value, .. } => value.clone(),
            Kind::Text { text, .. } => self.text(text),
            Kind::List { items, .. } => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    let made = self.value(item, depth + 1)?;
                    size += made.size;
                    values.push(made.value);
                }
                Value::array(values)
            }
            Kind::Object { fields, .. } => {
                let mut hash = Hash::with_capacity(fields.len());
                for (key, field) in fields {
                    let made = self.value(field, depth + 1)?;
                    size += made.size;
                    hash.insert(self.text(key), made.value);
                }
                Value::hash(hash)
            }
            // References do not get here.
            _ => Value::Null,
        };
        if size > self.limit {
            return fail(node.at, HoconProblem::TooMuchWork);
        }
        let made = Made { value, size };
        if size > 1 {
            self.made.insert(Rc::as_ptr(node), made.clone());
        }
        Ok(made)
    }

    fn text(&mut self, text: &Text) -> Value {
        match std::str::from_utf8(text) {
            Ok(text) => (self.text_of)(text),
            Err(_) => Value::Bytes(Arc::new(text.to_vec())),
        }
    }
}
