//! [`KeyOptions`]: what `lookup_options` say about one key or pattern.

use lean_string::LeanStr;
use puppet_values::Value;

use super::conversion::Conversion;
use super::error::OptionsError;
use crate::lookup::LookupError;
use crate::merge::{MergeError, MergeStrategy};

/// What `lookup_options` say about a key or a pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyOptions {
    name: LeanStr,
    is_null: bool,
    merge: Option<Result<MergeStrategy, MergeError>>,
    convert_to: Option<Conversion>,
    /// The class of the value if it cannot be used at all.
    not_a_hash: Option<&'static str>,
}

impl KeyOptions {
    /// Reads the value under a key or pattern.
    pub(crate) fn parse(name: &LeanStr, value: &Value) -> Self {
        KeyOptions {
            name: name.clone(),
            ..KeyOptions::of(value)
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => KeyOptions {
                is_null: true,
                ..KeyOptions::default()
            },
            Value::Hash(hash) => KeyOptions {
                merge: hash
                    .get("merge")
                    .filter(|merge| !matches!(merge, Value::Null))
                    .map(MergeStrategy::parse),
                convert_to: hash.get("convert_to").and_then(Conversion::parse),
                ..KeyOptions::default()
            },
            Value::Bool(false) => KeyOptions::default(),
            // Ruby's `"text"["merge"]` finds itself in a text that has it, and that is not a strategy.
            Value::Str(text) if text.contains("merge") => KeyOptions {
                merge: Some(MergeStrategy::parse(&Value::str("merge"))),
                ..KeyOptions::default()
            },
            Value::Str(_) => KeyOptions::default(),
            other => KeyOptions {
                not_a_hash: Some(other.ruby_class()),
                ..KeyOptions::default()
            },
        }
    }

    /// The key or pattern.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Is the value null? Puppet then goes on to the patterns.
    pub(super) fn is_null(&self) -> bool {
        self.is_null
    }

    /// The strategy that they name.
    pub(crate) fn merge(&self) -> Result<Option<&MergeStrategy>, LookupError> {
        self.check()?;
        match &self.merge {
            None => Ok(None),
            Some(Ok(strategy)) => Ok(Some(strategy)),
            Some(Err(error)) => Err(LookupError::Merge(error.clone())),
        }
    }

    /// Checks that they can be used at all. A strategy with mistakes passes: it matters only if it is needed.
    pub(crate) fn check(&self) -> Result<(), LookupError> {
        match self.not_a_hash {
            Some(found) => Err(OptionsError::KeyOptionsNotAHash { found }.into()),
            None => Ok(()),
        }
    }

    /// The conversion that they ask for.
    pub(crate) fn convert_to(&self) -> Option<&Conversion> {
        self.convert_to.as_ref()
    }
}
