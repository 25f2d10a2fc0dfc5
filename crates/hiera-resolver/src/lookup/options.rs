//! `lookup_options`: which merge and which conversion belong to a key.
//!
//! A file's options are compiled when the file is read. In Puppet, the options of all levels together are a hash merge of
//! theirs: a key's entry comes from the highest level that has it, and patterns are tried in the order of the lowest level
//! that has them. [`find`] answers from the compiled parts as that merge would, without ever making it.

mod check;
mod conversion;
mod diagnostics;
mod error;
mod key_options;
mod positions;

use indexmap::IndexMap;
use indexmap::map::RawEntryApiV1;
use lean_string::LeanStr;
use puppet_values::table_key::{TableKey, TableState};
use puppet_values::{Hash, Value};
use ruby_regex::{PatternSet, RubyRegex};

pub(crate) use self::conversion::Conversion;
pub(crate) use self::diagnostics::OptionsDiagnostics;
pub use self::error::OptionsError;
pub(crate) use self::key_options::KeyOptions;
use crate::lookup::LookupError;

/// The key that holds them.
pub(crate) const LOOKUP_OPTIONS: &str = "lookup_options";

/// The `lookup_options` of one file.
#[derive(Debug, Default)]
pub(crate) enum FileOptions {
    /// The file has none.
    #[default]
    None,
    /// Compiled: the same for every lookup.
    Ready(Box<LookupOptions>),
    /// They have tokens or mistakes, so every lookup works them out.
    PerLookup,
}

impl FileOptions {
    /// Compiles what a file has under `lookup_options`.
    pub(crate) fn compile(value: Option<&Value>) -> Self {
        match value {
            None => FileOptions::None,
            Some(Value::Hash(hash))
                if !hash.traits().has_templates && !hash.traits().is_beyond_data =>
            {
                match LookupOptions::compile(hash) {
                    Ok(options) => FileOptions::Ready(Box::new(options)),
                    Err(_) => FileOptions::PerLookup,
                }
            }
            Some(_) => FileOptions::PerLookup,
        }
    }
}

/// Compiled `lookup_options`.
#[derive(Debug)]
pub(crate) struct LookupOptions {
    /// By key and by pattern, in the order they were written.
    entries: IndexMap<LeanStr, KeyOptions, TableState>,
    patterns: PatternSet,
    /// For each pattern, its index among the entries.
    pattern_indexes: Vec<usize>,
    /// The module that all keys belong to.
    namespace: Option<LeanStr>,
}

impl LookupOptions {
    /// Compiles a hash of options.
    pub(crate) fn compile(hash: &Hash) -> Result<Self, OptionsError> {
        let mut entries = IndexMap::with_capacity_and_hasher(hash.len(), TableState);
        let (mut patterns, mut pattern_indexes) = (Vec::new(), Vec::new());
        for (key, value) in hash.iter() {
            let Value::Str(key) = key else {
                return Err(OptionsError::KeyNotText {
                    found: key.ruby_class(),
                });
            };
            if key.starts_with('^') {
                let pattern = RubyRegex::new(key).map_err(|error| OptionsError::BadPattern {
                    pattern: key.clone(),
                    problem: error.to_string(),
                })?;
                patterns.push(pattern);
                pattern_indexes.push(entries.len());
            }
            entries.insert(key.clone(), KeyOptions::parse(key, value));
        }
        let namespace = common_namespace(entries.keys());
        Ok(LookupOptions {
            entries,
            patterns: PatternSet::new(patterns),
            pattern_indexes,
            namespace,
        })
    }

    /// Checks that all keys and patterns belong to this module.
    pub(crate) fn check_namespace(&self, module: &str) -> Result<(), OptionsError> {
        if self.entries.is_empty() || self.namespace.as_deref() == Some(module) {
            return Ok(());
        }
        let mut keys = self.entries.keys();
        match keys.find(|key| namespace_of(key) != Some(module)) {
            Some(key) => Err(OptionsError::ForeignKey {
                module: module.into(),
                key: key.clone(),
            }),
            None => Ok(()),
        }
    }

    fn get(&self, key: &TableKey) -> Option<&KeyOptions> {
        self.entries
            .raw_entry_v1()
            .from_hash(key.hash(), |name| name == &**key)
            .map(|(_, entry)| entry)
    }

    /// The first pattern that matches a key.
    fn first_pattern(&self, key: &str) -> Result<Option<&LeanStr>, LookupError> {
        if self.pattern_indexes.is_empty() {
            return Ok(None);
        }
        let matching = self.patterns.first_match(key);
        let matching = matching.map_err(LookupError::PatternMatch)?;
        let index = matching.and_then(|pattern| self.pattern_indexes.get(pattern));
        let entry = index.and_then(|index| self.entries.get_index(*index));
        Ok(entry.map(|(pattern, _)| pattern))
    }
}

/// The options of a key in the `lookup_options` of several files, the highest level first.
pub(crate) fn find<'a>(
    all: &[&'a LookupOptions],
    key: &TableKey,
) -> Result<Option<&'a KeyOptions>, LookupError> {
    // A key that looks like a pattern is one.
    if !key.starts_with('^')
        && let Some(entry) = all.iter().find_map(|options| options.get(key))
        && !entry.is_null()
    {
        return Ok(Some(entry));
    }
    for options in all.iter().rev() {
        // A pattern that a lower level has too is tried there, and did not match.
        if let Some(pattern) = options.first_pattern(key)? {
            let mut highest = all.iter();
            return Ok(highest.find_map(|options| options.entries.get(pattern)));
        }
    }
    Ok(None)
}

fn namespace_of(key: &str) -> Option<&str> {
    let key = key.strip_prefix('^').unwrap_or(key);
    key.split_once("::").map(|(module, _)| module)
}

fn common_namespace<'a>(mut keys: impl Iterator<Item = &'a LeanStr>) -> Option<LeanStr> {
    let first = namespace_of(keys.next()?)?;
    keys.all(|key| namespace_of(key) == Some(first))
        .then(|| first.into())
}
