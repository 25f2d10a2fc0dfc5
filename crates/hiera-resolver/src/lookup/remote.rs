//! Levels whose data comes from another server: `lookup_key: hiera_http` and `data_hash: hiera_http`.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Step;
use super::walk::Walk;
use crate::config::DataFunction;
use crate::error::LookupError;
use crate::explain::Event;
use crate::plan::{Location, PlannedLevel};
use crate::remote::{RemoteAnswer, RemoteRequest, no_options};
use crate::ruby_regex::RubyRegex;
use crate::value::Value;

static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("__([0-9A-Za-z_]+?)__").ok());

impl<'a> Walk<'_, 'a> {
    /// What a server has for a key.
    pub(super) fn in_remote(
        &mut self,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
        key: &arcstr::ArcStr,
    ) -> Step {
        let is_hash = *planned.level.function() == DataFunction::HttpHash;
        let request = request_for(planned, location, key, is_hash);
        let failed = |reason: String| LookupError::Remote {
            level: planned.level.name().clone(),
            reason,
        };
        if !is_confined(&request, key).map_err(failed)? {
            self.remark("Skipping hiera_http backend because key does not match confine_to_keys");
            self.report_not_found(key);
            return Ok(None);
        }
        let failed = |reason: String| LookupError::Remote {
            level: planned.level.name().clone(),
            reason,
        };
        let document = match self.session.tree.remote(&request) {
            None => return Err(LookupError::NeedsRemote(Box::new(request))),
            Some(RemoteAnswer::Failed(reason)) => return Err(failed(reason)),
            Some(RemoteAnswer::NotFound) => None,
            Some(RemoteAnswer::Found(document)) => Some(document),
        };
        self.remark(&format!("Querying {}", without_user(&request.uri)));
        let found = match document {
            Some(document) if is_hash => match document.as_hash() {
                Some(hash) => hash.get(key).cloned(),
                None => return Err(failed(format!("`{}` does not hold a hash", request.uri))),
            },
            document => document.and_then(|document| answer_in(document, &request, key)),
        };
        let Some(value) = found else {
            self.report_not_found(key);
            return Ok(None);
        };
        let value = self.interpolate(&value, key)?;
        self.report(Some(key), || Event::Found(value.clone()));
        Ok(Some(value))
    }

    fn remark(&mut self, text: &str) {
        if let Some(explanation) = &mut self.explanation {
            explanation.remark(text.to_owned());
        }
    }
}

/// What a level asks for. A document that is the level's data is the same for every key, and JSON unless it is said
/// to be something else.
fn request_for(
    planned: &PlannedLevel<'_>,
    location: &Location<'_>,
    key: &str,
    is_hash: bool,
) -> RemoteRequest {
    let options = planned.options.clone().unwrap_or_else(no_options);
    if !is_hash {
        return RemoteRequest {
            uri: fill_tags(&location.path, key),
            options,
        };
    }
    let mut with_output = options.as_hash().cloned().unwrap_or_default();
    if with_output.get("output").is_none() {
        with_output.insert("output".into(), Value::str("json"));
    }
    RemoteRequest {
        uri: location.path.clone(),
        options: Value::hash(with_output),
    }
}

/// An address without the name and password that may stand in it.
pub(crate) fn without_user(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.split_at_checked(end) {
        Some((authority, path)) => {
            let host = authority
                .rsplit_once('@')
                .map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => uri.to_owned(),
    }
}

/// The part of a document that answers for a key: the one under `dig_key`, unless the whole is wanted.
fn answer_in(document: Value, request: &RemoteRequest, key: &str) -> Option<Value> {
    let digs = request.option("dig").is_none_or(Value::is_truthy);
    match document {
        Value::Null => None,
        Value::Hash(_) if digs => {
            let path = request
                .option("dig_key")
                .and_then(Value::as_str)
                .unwrap_or(key);
            let mut current = &document;
            for name in path.split('.') {
                current = current.as_hash()?.get(&fill_tags(name, key))?;
            }
            Some(current.clone())
        }
        whole => Some(whole),
    }
}

/// May the level be asked for this key?
fn is_confined(request: &RemoteRequest, key: &str) -> Result<bool, String> {
    let patterns = match request.option("confine_to_keys") {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(true),
        Some(Value::Array(patterns)) => patterns,
        Some(_) => return Err("confine_to_keys must be an array".to_owned()),
    };
    for pattern in patterns.items().iter().filter_map(Value::as_str) {
        let whole =
            RubyRegex::new(&format!("\\A(?:{pattern})\\z")).map_err(|error| error.to_string())?;
        if whole.is_match(key).map_err(|error| error.to_string())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Fills in `__KEY__` and its like; what is not known vanishes.
fn fill_tags(text: &str, key: &str) -> String {
    let Some(tag) = TAG.as_ref() else {
        return text.to_owned();
    };
    let parts: Vec<&str> = key.split("::").collect();
    let filled = tag.replace_all(text, |found: &Captures<'_>| {
        match found.get(1).map(|name| name.as_str()) {
            Some("KEY") => key.to_owned(),
            Some("MODULE") if parts.len() > 1 => {
                parts.first().copied().unwrap_or_default().to_owned()
            }
            Some("CLASS") => parts
                .split_last()
                .map(|(_, class)| class.join("::"))
                .unwrap_or_default(),
            Some("PARAMETER") => parts.last().copied().unwrap_or_default().to_owned(),
            _ => String::new(),
        }
    });
    filled.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_not_shown() {
        for (uri, expected) in [
            ("http://u:p@host:1/x?y=a@b", "http://host:1/x?y=a@b"),
            ("http://host/x", "http://host/x"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_user(uri), expected);
        }
    }

    #[test]
    fn tags_are_parts_of_the_key() {
        for (text, expected) in [
            ("/a/__KEY__", "/a/ntp::server::port"),
            (
                "/__MODULE__/__CLASS__/__PARAMETER__",
                "/ntp/ntp::server/port",
            ),
            ("/__NOPE__x", "/x"),
        ] {
            assert_eq!(fill_tags(text, "ntp::server::port"), expected);
        }
        assert_eq!(fill_tags("/__MODULE__", "plain"), "/");
    }
}
