//! Levels whose data comes from another server: `lookup_key: hiera_http` and `data_hash: hiera_http`.

use std::sync::LazyLock;

use arcstr::ArcStr;
use regex::{Captures, Regex};

use super::Step;
use super::walk::Walk;
use crate::Value;
use crate::config::DataFunction;
use crate::error::LookupError;
use crate::explain::Event;
use crate::hash::Hash;
use crate::plan::{Location, PlannedLevel};
use crate::remote::{RemoteAnswer, RemoteRequest, no_options, parse_address, without_user};
use ruby_regex::RubyRegex;

/// As wide as it can be: `__A__B__` is one tag, and no known one.
static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("__([0-9A-Za-z_]+)__").ok());

/// What an explanation has told of the levels that ask other servers. Puppet's function remembers for each location
/// what it has found and what it has fetched, and says which of both it is.
#[derive(Default)]
pub(super) struct Told {
    found: Vec<(usize, ArcStr, Value)>,
    fetched: Vec<(usize, String)>,
}

impl Told {
    /// What was found for a key before.
    fn value(&self, location: &Location<'_>, key: &str) -> Option<Value> {
        let place = place(location);
        let mut found = self.found.iter();
        let known = found.find(|(known, name, _)| *known == place && name == key)?;
        Some(known.2.clone())
    }
}

impl<'a> Walk<'_, 'a> {
    /// What a server has for a key.
    pub(super) fn in_remote(
        &mut self,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
        key: &ArcStr,
    ) -> Step {
        let is_hash = *planned.level.function() == DataFunction::HttpHash;
        let failed = |reason: String| LookupError::Remote {
            level: planned.level.name().clone(),
            reason,
            told: None,
        };
        let options = planned.options.clone().unwrap_or_else(no_options);
        if !is_confined(&options, key).map_err(failed)? {
            self.remark("Skipping hiera_http backend because key does not match confine_to_keys");
            self.report_not_found(key);
            return Ok(None);
        }
        if let Some(told) = &self.told_of_remotes
            && let Some(value) = told.value(location, key)
        {
            self.report(Some(key), || Event::Found(value.clone()));
            return Ok(Some(value));
        }
        let asked = Asked::new(location, key, options, is_hash).map_err(failed)?;
        let answer = self.session.tree.remote(&asked.request);
        let Some(answer) = answer else {
            return Err(LookupError::NeedsRemote(Box::new(asked.request)));
        };
        self.tell(location, &asked);
        let document = match answer {
            RemoteAnswer::Failed { reason, told } => {
                return Err(LookupError::Remote {
                    level: planned.level.name().clone(),
                    reason,
                    told,
                });
            }
            RemoteAnswer::NotFound => None,
            RemoteAnswer::Found(document) => Some(document),
        };
        let found = match document {
            Some(document) if is_hash => match document.as_hash() {
                Some(hash) => get_written(hash, key).cloned(),
                None => return Err(failed(format!("`{}` does not hold a hash", asked.shown))),
            },
            document => answer_in(document, &asked.request, key).map_err(failed)?,
        };
        let Some(value) = found else {
            self.report_not_found(key);
            return Ok(None);
        };
        if value.traits().is_irregular {
            return Err(LookupError::IrregularValue {
                key: key.to_string(),
                path: asked.shown.into(),
            });
        }
        let value = self.interpolate(&value, key)?;
        self.report(Some(key), || Event::Found(value.clone()));
        if self.explanation.is_some() {
            let found = (place(location), key.clone(), value.clone());
            self.told_of_remotes
                .get_or_insert_default()
                .found
                .push(found);
        }
        Ok(Some(value))
    }

    /// Says what Puppet's function says before it asks.
    fn tell(&mut self, location: &Location<'a>, asked: &Asked) {
        if self.explanation.is_none() {
            return;
        }
        let fetched = (place(location), asked.path.clone());
        let told = self.told_of_remotes.get_or_insert_default();
        if told.fetched.contains(&fetched) {
            self.remark(&format!("Returning cached value for {}", asked.path));
        } else {
            told.fetched.push(fetched);
            self.remark(&format!("Querying {}", asked.shown));
        }
    }

    fn remark(&mut self, text: &str) {
        if let Some(explanation) = &mut self.explanation {
            explanation.remark(text.to_owned());
        }
    }
}

/// Which location it is: they lie in the session's plans, and stay there.
fn place(location: &Location<'_>) -> usize {
    std::ptr::from_ref(location).addr()
}

/// What a level asks for.
struct Asked {
    request: RemoteRequest,
    /// The address for people to see.
    shown: String,
    /// The part of the address that goes to the server.
    path: String,
}

impl Asked {
    /// A document that is the level's data is the same for every key, and JSON unless it is said to be something else.
    fn new(
        location: &Location<'_>,
        key: &str,
        options: Value,
        is_hash: bool,
    ) -> Result<Self, String> {
        let mut options = options;
        let uri = if is_hash {
            let mut with_output = options.as_hash().cloned().unwrap_or_default();
            if with_output.get("output").is_none() {
                with_output.insert("output".into(), Value::str("json"));
            }
            options = Value::hash(with_output);
            parse_address(&location.path)?
        } else {
            parse_address(&fill_tags(&location.path, key))?
        };
        let shown = without_user(&uri.to_string());
        let (server, path) = uri
            .request()
            .ok_or_else(|| format!("`{shown}`: not an http or https address"))?;
        let path = escape(&path);
        Ok(Asked {
            request: RemoteRequest {
                uri: server + &path,
                options,
            },
            shown,
            path,
        })
    }
}

/// What Ruby's `URI.escape` makes of a text; a `%` is escaped once more.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,[]".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// The part of a document that answers for a key: the one under `dig_key`, unless the whole is wanted.
fn answer_in(
    document: Option<Value>,
    request: &RemoteRequest,
    key: &str,
) -> Result<Option<Value>, String> {
    let path = match request.option("dig_key") {
        None => key,
        Some(Value::Str(path)) => path,
        Some(_) => return Err("option `dig_key` must be a text".to_owned()),
    };
    let digs = request.option("dig").is_none_or(Value::is_truthy);
    let document = match document {
        None | Some(Value::Null) => return Ok(None),
        Some(document) if document.as_hash().is_none() || !digs => return Ok(Some(document)),
        Some(document) => document,
    };
    let names = split(path, ".");
    if names.is_empty() {
        return Ok(None);
    }
    let mut current = &document;
    for name in names {
        let name = fill_tags(name, key);
        match current.as_hash().and_then(|hash| get_written(hash, &name)) {
            Some(value) => current = value,
            None => return Ok(None),
        }
    }
    Ok(Some(current.clone()))
}

/// The value of a key as it is written in a document: tokens are filled in afterwards, in what was found.
fn get_written<'h>(hash: &'h Hash, name: &str) -> Option<&'h Value> {
    let is_written = |key: &Value| matches!(key, Value::Template(key) if key.source() == name);
    hash.get(name).or_else(|| {
        let mut entries = hash.iter();
        entries.find_map(|(key, value)| is_written(key).then_some(value))
    })
}

/// Ruby's `split`, which leaves out empty parts at the end.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts: Vec<&str> = text.split(separator).collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}

/// May the level be asked for this key? The first match of the patterns, taken together, has to be the whole of it.
fn is_confined(options: &Value, key: &str) -> Result<bool, String> {
    let option = options
        .as_hash()
        .and_then(|options| options.get("confine_to_keys"));
    let patterns = match option {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(true),
        Some(Value::Array(patterns)) => patterns.items(),
        Some(_) => return Err("confine_to_keys must be an array".to_owned()),
    };
    let mut all = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        let Value::Str(pattern) = pattern else {
            return Err("confine_to_keys must hold texts".to_owned());
        };
        // By itself first: only together with its neighbours it might make sense.
        RubyRegex::new(pattern).map_err(|error| error.to_string())?;
        all.push(format!("(?-mix:{pattern})"));
    }
    if all.is_empty() {
        return Ok(false);
    }
    let together = RubyRegex::new(&format!("\\A(?>{})\\z", all.join("|")));
    let together = together.map_err(|error| error.to_string())?;
    together.is_match(key).map_err(|error| error.to_string())
}

/// Fills in `__KEY__` and its like; what is not known vanishes.
fn fill_tags(text: &str, key: &str) -> String {
    let Some(tag) = TAG.as_ref() else {
        return text.to_owned();
    };
    let parts = split(key, "::");
    let filled = tag.replace_all(text, |found: &Captures<'_>| {
        let name = found.get(1).map(|name| name.as_str());
        match (name, parts.as_slice()) {
            (Some("KEY"), _) => key.to_owned(),
            (Some("MODULE"), [module, _, ..]) => (*module).to_owned(),
            (Some("CLASS"), [class @ .., _]) => class.join("::"),
            (Some("PARAMETER"), [.., parameter]) => (*parameter).to_owned(),
            _ => String::new(),
        }
    });
    filled.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (text, key, expected) in [
            ("/__MODULE__", "plain", "/"),
            ("/__CLASS__", "plain", "/"),
            ("/__PARAMETER__", "plain", "/plain"),
            ("/__MODULE__-__PARAMETER__", "a::", "/-a"),
            ("/__MODULE__-__CLASS__", "::a", "/-"),
            ("/__CLASS__", "a::::b", "/a::"),
            ("/__PARAMETER__", "::", "/"),
            // One tag, as wide as it can be.
            ("/__MODULE____PARAMETER__", "a::b", "/"),
            ("/x__KEY__y__CLASS__", "a::b", "/x"),
            ("/__key__", "a::b", "/"),
        ] {
            assert_eq!(fill_tags(text, key), expected, "{text} {key}");
        }
    }

    #[test]
    fn keys_are_confined_as_ruby_matches_them() {
        let confined = |patterns: &[&str], key| {
            let patterns = patterns.iter().map(Value::str);
            let option = (
                Value::str("confine_to_keys"),
                Value::array(patterns.collect()),
            );
            is_confined(&Value::hash([option].into_iter().collect()), key)
        };
        for (patterns, key, expected) in [
            (vec!["k.*"], "k", true),
            (vec!["k.*"], "ak", false),
            (vec!["^k$", "x"], "k", true),
            // The first match is shorter.
            (vec!["k", "kk"], "kk", false),
            (vec!["kk", "k"], "kk", true),
            (vec!["k.*?"], "kk", false),
            (vec!["(?i)K", "x"], "k", true),
            (vec![], "k", false),
        ] {
            assert_eq!(confined(&patterns, key), Ok(expected), "{patterns:?} {key}");
        }
        assert!(confined(&["("], "k").is_err());
        assert!(confined(&["a)", "(b"], "k").is_err());
    }

    #[test]
    fn a_path_is_escaped_as_ruby_does_it() {
        assert_eq!(escape("/a%20b?c=[d]&e='f'"), "/a%2520b?c=[d]&e='f'");
        assert_eq!(escape("/a^b`|\"<>"), "/a%5Eb%60%7C%22%3C%3E");
    }
}
