//! Data from elsewhere: what a lookup asks of an HTTP server, and what came back.
//!
//! A lookup does not wait. Where it needs an answer that is not there yet it ends with
//! [`LookupError::NeedsRemote`](crate::LookupError::NeedsRemote); whoever runs it fetches the answer and runs it
//! again.

use std::sync::Arc;

use crate::hash::Hash;
use crate::value::Value;

/// What to ask for. Equal requests have the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteRequest {
    /// The address, with everything filled in.
    pub uri: String,
    /// The options of the level, filled in, that say how to ask.
    pub options: Value,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum RemoteAnswer {
    /// A document.
    Found(Value),
    /// The server has nothing there, and the level says that this is no failure.
    NotFound,
    /// No answer could be had.
    Failed {
        /// Why.
        reason: String,
        /// What Puppet's explanation would say, where it says anything.
        told: Option<String>,
    },
}

impl RemoteRequest {
    /// An option of the level.
    pub fn option(&self, name: &str) -> Option<&Value> {
        self.options.as_hash().and_then(|options| options.get(name))
    }

    /// Is an option set to something other than false?
    pub fn is_set(&self, name: &str) -> bool {
        self.option(name).is_some_and(Value::is_truthy)
    }
}

/// Options that are there.
pub(crate) fn no_options() -> Value {
    Value::Hash(Arc::new(Hash::new()))
}
