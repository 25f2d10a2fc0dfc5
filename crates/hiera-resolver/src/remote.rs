//! Requests of a lookup to other servers, and their answers.
//!
//! A lookup does not wait. Where it needs an answer that it does not have, it ends with
//! [`LookupError::NeedsRemote`](crate::LookupError::NeedsRemote); the caller fetches the answer and runs the lookup again.

use std::sync::Arc;

use puppet_values::uri::Uri;
use puppet_values::{Hash, Value};

/// A request. Equal requests have the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteRequest {
    /// The name of the data function that asks. It says what can fetch the answer.
    pub function: &'static str,
    /// The address, with everything filled in.
    pub uri: String,
    /// The options of the level, filled in, that say how to ask.
    pub options: Value,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum RemoteAnswer {
    /// A document.
    Found(Value),
    /// The server has nothing, and the level says that this is not a failure.
    NotFound,
    /// There is no answer.
    Failed {
        /// Why.
        reason: String,
        /// The last line of Puppet's explanation, if it has one.
        puppet_text: Option<String>,
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

/// The options of a level that has none.
pub(crate) fn no_options() -> Value {
    Value::Hash(Arc::new(Hash::new()))
}

/// An address for messages: without user and password, filled in or not.
///
/// With a `/` in the password, the string is another address, or none. Where the part before the path cannot be a host,
/// everything up to the last `@` may belong to the password.
pub fn without_user(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let shown = match (authority.rsplit_once('@'), path.rsplit_once('@')) {
        (Some((_, host)), _) => format!("{host}{path}"),
        (None, Some((_, behind))) if scheme.is_none() || !may_be_host(authority) => {
            behind.to_owned()
        }
        _ => rest.to_owned(),
    };
    match scheme {
        Some(scheme) => format!("{scheme}://{shown}"),
        None => shown,
    }
}

/// Can this be what is between `//` and the path of an address without a user: a host, perhaps with a port?
fn may_be_host(authority: &str) -> bool {
    let behind_brackets = authority.rsplit(']').next().unwrap_or_default();
    match behind_brackets.rsplit_once(':') {
        // A variable has its own colons: `%{::port}`.
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()) || port.ends_with('}'),
        None => true,
    }
}

/// Parses an address. Errors show neither user nor password.
pub(crate) fn parse_address(address: &str) -> Result<Uri, String> {
    Uri::parse(address).map_err(|problem| match address.contains('@') {
        true => format!("bad URI(is not URI?): {:?}", without_user(address)),
        false => problem.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_are_not_shown() {
        for (uri, expected) in [
            ("http://u:p@host:1/x?y=a@b", "http://host:1/x?y=a@b"),
            ("http://host/x", "http://host/x"),
            ("http://host/a@b?c", "http://host/a@b?c"),
            ("http://host:81/a@b", "http://host:81/a@b"),
            ("http://[::1]:81/a@b", "http://[::1]:81/a@b"),
            ("http://me:se@cret@host/a", "http://host/a"),
            ("http://me:se/cret@host/a", "http://host/a"),
            ("http://me:se?cret@host/a", "http://host/a"),
            ("http://me:se#cret@host", "http://host"),
            ("me:secret@host", "host"),
            ("me:se/cret@host", "host"),
            (
                "http://%{facts.u}:%{facts.p}@%{facts.h}/x",
                "http://%{facts.h}/x",
            ),
            ("http://%{::h}:%{::p}/a@b", "http://%{::h}:%{::p}/a@b"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_user(uri), expected);
        }
    }

    #[test]
    fn an_invalid_address_is_refused_without_showing_its_user() {
        for address in [
            "http://me:hunter2@ho st/x",
            "http://me:hun ter2@host/x",
            "http://me:hunt/er2@host",
            "me:hunter2@host",
        ] {
            let problem = parse_address(address).err().unwrap_or_default();
            assert!(
                !problem.contains("hun") && !problem.contains("er2"),
                "{problem}"
            );
        }
        let problem = parse_address("http://ho st/x").unwrap_err();
        assert_eq!(problem, "bad URI(is not URI?): \"http://ho st/x\"");
    }
}
