//! Functions that ask another server: what they ask for a key, and what the answer means for it.

use puppet_values::Value;

use super::FunctionKind;
use crate::remote::RemoteRequest;

/// How another server is asked.
///
/// A function is pure: it makes a request, and reads the answer once there is one. Who runs the lookup fetches it.
#[derive(Debug)]
pub struct RemoteSource {
    /// The options that name files on this machine, such as certificates. Where a variable leads such a path out of its
    /// directory, the option is replaced by an empty string.
    pub file_options: &'static [&'static str],
    /// What to ask for a key, or why that cannot be asked.
    pub ask: fn(&Question<'_>) -> Result<RemoteQuery, String>,
    /// Finds the value of the key in the answer.
    pub read: ReadAnswer,
    /// What an explanation says where the document is fetched.
    pub fetch_remark: fn(&RemoteCall) -> String,
    /// What an explanation says where the document was fetched before.
    pub cached_remark: fn(&RemoteCall) -> String,
}

/// The value of a key in a document; `None` if it has none. There is no document if the server has nothing.
pub type ReadAnswer =
    fn(&Question<'_>, &RemoteCall, document: Option<Value>) -> Result<Option<Value>, String>;

/// A key that a level is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The setting of the level that names the function.
    pub kind: FunctionKind,
    /// The address of the location, filled in for the node.
    pub uri: &'a str,
    /// The options of the level, filled in for the node.
    pub options: &'a Value,
    /// The key, without what is dug out of its value.
    pub key: &'a str,
}

/// What a level asks for a key.
#[derive(Debug)]
pub enum RemoteQuery {
    /// Nothing: the level does not answer for this key. The text is for explanations.
    Skip(&'static str),
    /// The answer to a request.
    Call(RemoteCall),
}

/// A request to another server.
#[derive(Debug)]
pub struct RemoteCall {
    /// The request.
    pub request: RemoteRequest,
    /// The address without user and password, for messages.
    pub shown: String,
    /// The part of the address that is sent to the server.
    pub path: String,
}

impl Question<'_> {
    /// An option of the level.
    pub fn option(&self, name: &str) -> Option<&Value> {
        self.options.as_hash().and_then(|options| options.get(name))
    }
}
