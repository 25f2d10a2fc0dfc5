//! `lookup_key: hiera_http` and `data_hash: hiera_http`: documents of an HTTP server, as hiera-http 3 reads them.
//!
//! As a `lookup_key` function the server is asked for each key, or for a document that has the key. As a `data_hash`
//! function the document is the data of the level.

use std::sync::LazyLock;

use puppet_values::{Hash, Value};
use regex::{Captures, Regex};
use ruby_regex::RubyRegex;

use super::{
    DataFunction, FunctionKind, Question, RemoteCall, RemoteQuery, RemoteSource, Source,
    accept_options,
};
use crate::remote::{RemoteRequest, parse_address, without_user};

/// Documents of an HTTP server.
pub static HIERA_HTTP: DataFunction = DataFunction {
    name: "hiera_http",
    kinds: &[FunctionKind::LookupKey, FunctionKind::DataHash],
    backend: None,
    check_options: accept_options,
    source: Source::Remote(RemoteSource {
        file_options: &["ssl_ca_cert", "ssl_cert", "ssl_key"],
        ask,
        read,
        fetch_remark: |call| format!("Querying {}", call.shown),
        cached_remark: |call| format!("Returning cached value for {}", call.path),
    }),
};

/// The greedy match is intended: `__A__B__` is one tag, and not a known one.
static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("__([0-9A-Za-z_]+)__").ok());

fn ask(question: &Question<'_>) -> Result<RemoteQuery, String> {
    if !is_confined(question)? {
        return Ok(RemoteQuery::Skip(
            "Skipping hiera_http backend because key does not match confine_to_keys",
        ));
    }
    let mut options = question.options.clone();
    let uri = match question.kind {
        // The document is the same for every key, and JSON unless `output` says otherwise.
        FunctionKind::DataHash => {
            let mut with_output = options.as_hash().cloned().unwrap_or_default();
            if with_output.get("output").is_none() {
                with_output.insert("output".into(), Value::str("json"));
            }
            options = Value::hash(with_output);
            parse_address(question.uri)?
        }
        FunctionKind::LookupKey => parse_address(&fill_tags(question.uri, question.key))?,
    };
    let shown = without_user(&uri.to_string());
    let (server, path) = uri
        .request()
        .ok_or_else(|| format!("`{shown}`: not an http or https address"))?;
    let path = escape(&path);
    Ok(RemoteQuery::Call(RemoteCall {
        request: RemoteRequest {
            function: HIERA_HTTP.name,
            uri: server + &path,
            options,
        },
        shown,
        path,
    }))
}

fn read(
    question: &Question<'_>,
    call: &RemoteCall,
    document: Option<Value>,
) -> Result<Option<Value>, String> {
    match (question.kind, document) {
        (FunctionKind::DataHash, Some(document)) => match document.as_hash() {
            Some(hash) => Ok(get_written(hash, question.key).cloned()),
            None => Err(format!("`{}` does not hold a hash", call.shown)),
        },
        (_, document) => dig(question, document),
    }
}

/// The result of Ruby's `URI.escape` for a string; a `%` is escaped again.
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

/// The part of a document that is the value of a key: the one under `dig_key`, or all of it if `dig` is false.
fn dig(question: &Question<'_>, document: Option<Value>) -> Result<Option<Value>, String> {
    let key = question.key;
    let path = match question.option("dig_key") {
        None => key,
        Some(Value::Str(path)) => path,
        Some(_) => return Err("option `dig_key` must be a text".to_owned()),
    };
    let digs = question.option("dig").is_none_or(Value::is_truthy);
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

/// The value of a key as written in a document: interpolation comes later, and only for the value that is found.
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

/// May the level be asked for this key? The first match of the patterns, joined into one, has to be the whole key.
fn is_confined(question: &Question<'_>) -> Result<bool, String> {
    let patterns = match question.option("confine_to_keys") {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(true),
        Some(Value::Array(patterns)) => patterns.items(),
        Some(_) => return Err("confine_to_keys must be an array".to_owned()),
    };
    let mut all = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        let Value::Str(pattern) = pattern else {
            return Err("confine_to_keys must hold texts".to_owned());
        };
        // Each by itself first: `a)` and `(b` are wrong, and would be valid once they are joined.
        RubyRegex::new(pattern).map_err(|error| error.to_string())?;
        all.push(format!("(?-mix:{pattern})"));
    }
    if all.is_empty() {
        return Ok(false);
    }
    let together = RubyRegex::new(&format!("\\A(?>{})\\z", all.join("|")));
    let together = together.map_err(|error| error.to_string())?;
    together
        .is_match(question.key)
        .map_err(|error| error.to_string())
}

/// Fills in `__KEY__` and the other tags; unknown ones are removed.
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
            // The greedy match makes this one tag.
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
            is_confined(&Question {
                kind: FunctionKind::LookupKey,
                uri: "",
                options: &Value::hash([option].into_iter().collect()),
                key,
            })
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
