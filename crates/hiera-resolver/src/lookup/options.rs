//! `lookup_options`: which merge and which conversion belong to a key.
//!
//! A file's options are compiled when the file is read. The options of all levels together are, in Puppet, a
//! hash merge of theirs: a key's entry comes from the highest level that has it, and patterns stand in the
//! order of the lowest level that has them. [`find`] answers from the compiled parts as that merge would,
//! without ever making it.

mod check;
mod notes;
mod places;

use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::RawEntryApiV1;
use lean_string::LeanStr;

use crate::Value;
use crate::convert;
use crate::error::LookupError;
use crate::hash::Hash;
use crate::merge::{MergeError, MergeStrategy};
use crate::table_key::{TableKey, TableState};
use crate::types::Type;
use puppet_values::Rich;
use ruby_regex::{PatternSet, RubyRegex};

pub(crate) use self::notes::OptionsNotes;

/// The key that holds them.
pub const LOOKUP_OPTIONS: &str = "lookup_options";

/// The `lookup_options` of one file.
#[derive(Debug, Default)]
pub enum FileOptions {
    /// The file has none.
    #[default]
    None,
    /// Compiled: the same for every lookup.
    Ready(Box<Options>),
    /// They hold tokens or mistakes, and are worked out by every lookup.
    PerLookup,
}

/// Compiled options.
#[derive(Debug)]
pub struct Options {
    /// Entries by key and by pattern, in the order they were written.
    entries: IndexMap<LeanStr, Entry, TableState>,
    patterns: PatternSet,
    /// For each pattern, its place among the entries.
    pattern_places: Vec<usize>,
    /// The module that all keys belong to.
    namespace: Option<LeanStr>,
}

/// What the options say of a key.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The key or pattern it stands behind.
    name: LeanStr,
    /// Puppet goes on to the patterns where a key's own entry is null.
    is_null: bool,
    merge: Option<Result<MergeStrategy, MergeError>>,
    convert_to: Option<Conversion>,
    fault: Option<EntryFault>,
}

/// What `convert_to` asks for.
#[derive(Clone, Debug)]
pub struct Conversion {
    target: Target,
    arguments: Box<[Value]>,
    /// It makes a Sensitive of the value, or may.
    is_secret: bool,
}

#[derive(Clone, Debug)]
enum Target {
    Type(Arc<Type>),
    Other(Value),
    Unknown { source: LeanStr, problem: String },
}

/// An entry that no lookup can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lookup options of a key must be a hash, not {found}")]
pub struct EntryFault {
    found: &'static str,
}

/// Options that no lookup can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// `lookup_options` of another kind.
    #[error("value of lookup_options must be a hash, not {found}")]
    NotAHash {
        /// What it is.
        found: &'static str,
    },
    /// A key that is no text.
    #[error("the keys of lookup_options must be strings, but there is {found}")]
    KeyNotText {
        /// What it is.
        found: &'static str,
    },
    /// A module's options for a key outside its namespace.
    #[error("all lookup_options keys must start with module name '{module}', but there is `{key}`")]
    ForeignKey {
        /// The module.
        module: LeanStr,
        /// The key or pattern.
        key: LeanStr,
    },
    /// A pattern that is no regular expression.
    #[error("the lookup_options pattern `{pattern}` is not a regular expression: {problem}")]
    BadPattern {
        /// The pattern.
        pattern: LeanStr,
        /// What is wrong with it.
        problem: String,
    },
}

impl FileOptions {
    /// Compiles what a file holds under `lookup_options`.
    pub(crate) fn compile(value: Option<&Value>) -> Self {
        match value {
            None => FileOptions::None,
            Some(Value::Hash(hash))
                if !hash.traits().has_templates && !hash.traits().is_beyond_data =>
            {
                match Options::compile(hash) {
                    Ok(options) => FileOptions::Ready(Box::new(options)),
                    Err(_) => FileOptions::PerLookup,
                }
            }
            Some(_) => FileOptions::PerLookup,
        }
    }
}

impl Options {
    /// Compiles a hash of options.
    pub fn compile(hash: &Hash) -> Result<Self, OptionsError> {
        let mut entries = IndexMap::with_capacity_and_hasher(hash.len(), TableState);
        let (mut patterns, mut pattern_places) = (Vec::new(), Vec::new());
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
                pattern_places.push(entries.len());
            }
            entries.insert(key.clone(), Entry::parse(key, value));
        }
        let namespace = common_namespace(entries.keys());
        Ok(Options {
            entries,
            patterns: PatternSet::new(patterns),
            pattern_places,
            namespace,
        })
    }

    /// Do all of them belong to this module?
    pub fn check_namespace(&self, module: &str) -> Result<(), OptionsError> {
        if self.entries.is_empty() || self.namespace.as_deref() == Some(module) {
            return Ok(());
        }
        match self
            .entries
            .keys()
            .find(|key| namespace_of(key) != Some(module))
        {
            Some(key) => Err(OptionsError::ForeignKey {
                module: module.into(),
                key: key.clone(),
            }),
            None => Ok(()),
        }
    }

    fn get(&self, key: &TableKey) -> Option<&Entry> {
        self.entries
            .raw_entry_v1()
            .from_hash(key.hash(), |name| name == &**key)
            .map(|(_, entry)| entry)
    }

    /// The first pattern that matches a key.
    fn first_pattern(&self, key: &str) -> Result<Option<&LeanStr>, LookupError> {
        if self.pattern_places.is_empty() {
            return Ok(None);
        }
        let place = self
            .patterns
            .first_match(key)
            .map_err(LookupError::PatternMatch)?;
        let place = place.and_then(|place| self.pattern_places.get(place));
        Ok(place
            .and_then(|place| self.entries.get_index(*place))
            .map(|(pattern, _)| pattern))
    }
}

/// The entry for a key in the options of several files, the highest level first.
pub fn find<'a>(all: &[&'a Options], key: &TableKey) -> Result<Option<&'a Entry>, LookupError> {
    // A key that looks like a pattern is one.
    if !key.starts_with('^')
        && let Some(entry) = all.iter().find_map(|options| options.get(key))
        && !entry.is_null
    {
        return Ok(Some(entry));
    }
    for options in all.iter().rev() {
        // A pattern that stands in a lower level too has its place there, and did not match.
        if let Some(pattern) = options.first_pattern(key)? {
            let mut highest = all.iter();
            return Ok(highest.find_map(|options| options.entries.get(pattern)));
        }
    }
    Ok(None)
}

impl Entry {
    /// Reads what stands behind a key or pattern.
    pub fn parse(name: &LeanStr, value: &Value) -> Self {
        Entry {
            name: name.clone(),
            ..Entry::of(value)
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Entry {
                is_null: true,
                ..Entry::default()
            },
            Value::Hash(hash) => Entry {
                merge: hash
                    .get("merge")
                    .filter(|merge| !matches!(merge, Value::Null))
                    .map(MergeStrategy::parse),
                convert_to: hash.get("convert_to").and_then(Conversion::parse),
                ..Entry::default()
            },
            Value::Bool(false) => Entry::default(),
            // Puppet asks a text for a part of itself: `merge` finds itself, and is no strategy.
            Value::Str(text) if text.contains("merge") => Entry {
                merge: Some(MergeStrategy::parse(&Value::str("merge"))),
                ..Entry::default()
            },
            Value::Str(_) => Entry::default(),
            other => Entry {
                fault: Some(EntryFault {
                    found: other.ruby_class(),
                }),
                ..Entry::default()
            },
        }
    }

    /// The key or pattern it stands behind.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The strategy it names.
    pub fn merge(&self) -> Result<Option<&MergeStrategy>, LookupError> {
        if let Some(fault) = &self.fault {
            return Err(LookupError::OptionsEntry(fault.clone()));
        }
        match &self.merge {
            None => Ok(None),
            Some(Ok(strategy)) => Ok(Some(strategy)),
            Some(Err(error)) => Err(LookupError::Merge(error.clone())),
        }
    }

    /// The same where the strategy does not matter, and so its mistakes do not either.
    pub fn merge_or_fault(&self) -> Result<Option<&MergeStrategy>, LookupError> {
        match &self.fault {
            Some(fault) => Err(LookupError::OptionsEntry(fault.clone())),
            None => Ok(None),
        }
    }

    /// The conversion it asks for.
    pub fn convert_to(&self) -> Option<&Conversion> {
        self.convert_to.as_ref()
    }
}

impl Conversion {
    fn parse(value: &Value) -> Option<Self> {
        let (target, arguments) = match value {
            Value::Null => return None,
            Value::Array(array) => match array.items().split_first() {
                Some((target, arguments)) => (target.clone(), arguments.into()),
                None => (Value::Null, Box::default()),
            },
            other => (other.clone(), Box::default()),
        };
        let target = match &target {
            Value::Str(source) => match Type::parse(source) {
                Ok(parsed) => Target::Type(Arc::new(parsed)),
                Err(error) => Target::Unknown {
                    source: source.clone(),
                    problem: error.to_string(),
                },
            },
            other => Target::Other(other.clone()),
        };
        // It may stand anywhere in the type: `Optional[Sensitive]` makes one too.
        let is_secret =
            matches!(&target, Target::Type(target) if target.to_string().contains("Sensitive"));
        Some(Conversion {
            target,
            arguments,
            is_secret,
        })
    }

    /// Converts a value. `key` is for messages.
    pub fn apply(&self, key: &str, value: Value) -> Result<Value, LookupError> {
        let converted = match &self.target {
            Target::Type(target) => convert::new_instance(target, value, &self.arguments),
            Target::Other(target) => convert::new_instance_of(target, value, &self.arguments),
            Target::Unknown { source, problem } => {
                return Err(LookupError::ConversionType {
                    key: key.to_owned(),
                    source_text: source.to_string(),
                    problem: problem.clone(),
                });
            }
        };
        converted.map_err(|error| LookupError::Conversion {
            key: key.to_owned(),
            error,
        })
    }

    /// Why it converts nothing, whatever the value.
    pub(crate) fn problem(&self) -> Option<String> {
        match &self.target {
            Target::Type(target) => match target.as_ref() {
                Type::Reference(name) => Some(format!("there is no type `{name}` here")),
                _ => None,
            },
            Target::Unknown { source, problem } => {
                Some(format!("`{source}` is not a type: {problem}"))
            }
            Target::Other(Value::Rich(rich)) if matches!(**rich, Rich::Type(_)) => None,
            Target::Other(other) => Some(format!(
                "`convert_to` must name a type, not {}",
                other.ruby_class()
            )),
        }
    }

    /// Does it make a secret of the value?
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// The type and the arguments as an explanation shows them.
    pub fn shown(&self) -> String {
        let target = match &self.target {
            Target::Type(target) => Value::from(Type::clone(target)),
            Target::Other(target) => target.clone(),
            Target::Unknown { source, .. } => Value::Str(source.clone()),
        };
        let all: Vec<Value> = std::iter::once(target)
            .chain(self.arguments.iter().cloned())
            .collect();
        convert::program_text(&all)
    }
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
