//! [`Scope`]: the variables a lookup may use, answered one at a time.
//!
//! A request carries thousands of facts and a lookup asks for a handful, so a scope does not have to hold all of them as
//! values. [`RawNode`] and the `check_*` functions apply the rules for facts and variables, wherever they come from.

use puppet_values::{Value, ruby_text};

use crate::key::{DigError, Segment, dig};
use crate::template::{InterpolationError, Variable};

mod node;
mod rules;

pub use node::Node;
pub use rules::{NameKind, RawNode, ScopeError, check_certname, check_names, fact_value};

/// Top-scope variables by name.
pub trait Scope {
    /// The value of a variable; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<Value>;

    /// Digs into a variable. `Ok(None)`: it, or one of the segments, is not set.
    ///
    /// `key` is the whole expression, for messages.
    fn dig(&self, name: &str, segments: &[Segment], key: &str) -> Result<Option<Value>, DigError> {
        match self.variable(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => Ok(dig(&value, segments, key)?.cloned()),
        }
    }

    /// The text of a variable, or of a member of it, if it can be borrowed. `None` does not mean that it is not set.
    fn text(&self, _name: &str, _segments: &[Segment]) -> Option<&str> {
        None
    }

    /// Is a variable set, if only to null?
    fn is_set(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    /// Appends the text of a variable. Says whether there is one: the variable, and the member of it that is meant.
    fn write(&self, variable: &Variable, out: &mut String) -> Result<bool, InterpolationError> {
        let (name, segments) = variable.path.as_ref().map_err(|error| error.clone())?;
        if let Some(text) = self.text(name, segments) {
            out.push_str(text);
            return Ok(true);
        }
        let value = match segments.is_empty() {
            true => self.variable(name),
            false => self.dig(name, segments, &variable.text)?,
        };
        if let Some(value) = &value {
            ruby_text::to_s(value, out);
        }
        Ok(value.is_some())
    }
}

/// The variables of Hiera 3, which are set in data of a global layer of version 3 and nowhere else.
const HIERA_3_VARIABLES: [&str; 3] = ["calling_class", "calling_class_path", "calling_module"];

/// Is a variable undefined to Puppet? Some of its own count as set without a value, which is what they have here.
pub(crate) fn is_undefined(name: &str, scope: &dyn Scope, is_version_3: bool) -> bool {
    !(scope.is_set(name)
        || bare_name(name) == "module_name"
        || name == "caller_module_name"
        || is_match_variable(name)
        || is_version_3 && HIERA_3_VARIABLES.contains(&name))
}

/// `$0`, `$1`, ...: what a regular expression matched.
fn is_match_variable(name: &str) -> bool {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (name == "0" || !name.starts_with('0'))
}

/// Takes the leading `::` off: all variables here are of the top scope.
#[inline]
pub(crate) fn bare_name(mut name: &str) -> &str {
    while let Some(bare) = name.strip_prefix("::") {
        name = bare;
    }
    name
}

/// A name in the top scope of a node, by where its value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopScopeName<'a> {
    /// All facts. Neither a fact nor a variable can set this name and the next three.
    Facts,
    /// The trusted data.
    Trusted,
    /// What the server says of itself.
    ServerFacts,
    /// The environment's name.
    Environment,
    /// A variable of this name, else a fact, else what is [`built_in`].
    Other(&'a str),
}

impl<'a> TopScopeName<'a> {
    /// Reads a name, with or without leading `::`.
    #[inline]
    pub fn parse(name: &'a str) -> Self {
        match bare_name(name) {
            "facts" => TopScopeName::Facts,
            "trusted" => TopScopeName::Trusted,
            "server_facts" => TopScopeName::ServerFacts,
            "environment" => TopScopeName::Environment,
            bare => TopScopeName::Other(bare),
        }
    }
}

/// The variables that Puppet's top scope has by itself: its own name and title.
pub fn built_in(name: &str) -> Option<Value> {
    matches!(name, "title" | "name").then(|| Value::str("main"))
}

/// A scope with one more variable: the element that `mapped_paths` is at.
#[derive(Debug)]
pub(crate) struct WithLocal<'a, S: ?Sized> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a Value,
    pub(crate) outer: &'a S,
}

impl<S: Scope + ?Sized> Scope for WithLocal<'_, S> {
    fn variable(&self, name: &str) -> Option<Value> {
        // `%{::item}` names the top scope, where the element is not.
        if name == self.name {
            Some(self.value.clone())
        } else {
            self.outer.variable(name)
        }
    }

    fn dig(&self, name: &str, segments: &[Segment], key: &str) -> Result<Option<Value>, DigError> {
        if name == self.name {
            Ok(dig(self.value, segments, key)?.cloned())
        } else {
            self.outer.dig(name, segments, key)
        }
    }
}
