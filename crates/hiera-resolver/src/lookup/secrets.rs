//! What is secret in a lookup: decrypted texts, and everything that is derived from them.
//!
//! A secret is recognized by its value: a scalar that equals one is never shown. So secrets stay hidden through merges and
//! when a key selects a part of a value, and everything beside them stays readable.

use indexmap::IndexSet;
use puppet_values::Value;

use super::walk::Walk;
use crate::explain::{Event, Explanation, REDACTED};
use crate::lookup::LookupError;

/// The shortest text that is looked for in messages. Shorter ones are part of too many words.
const SHORTEST_QUOTE: usize = 4;

/// The scalars that must not be shown.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    scalars: IndexSet<Value, foldhash::fast::RandomState>,
}

impl Secrets {
    /// Takes everything in a value for secret.
    fn add(&mut self, value: &Value) {
        each_scalar(value, &mut |scalar| {
            if !self.scalars.contains(scalar) {
                self.scalars.insert(scalar.clone());
            }
        });
    }

    /// Adds everything in a value that was not in the values it was made from, if one of these has secrets.
    fn add_derived(&mut self, sources: &[&Value], made: &Value) {
        if !sources.iter().any(|source| self.is_in(source)) {
            return;
        }
        let mut known: IndexSet<&Value, foldhash::fast::RandomState> = IndexSet::default();
        for source in sources {
            each_scalar(source, &mut |scalar| _ = known.insert(scalar));
        }
        each_scalar(made, &mut |scalar| {
            if !known.contains(scalar) {
                self.scalars.insert(scalar.clone());
            }
        });
    }

    /// Is there a secret in a value?
    fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::Array(array) => array.items().iter().any(|item| self.is_in(item)),
            Value::Hash(hash) => {
                let mut entries = hash.iter();
                entries.any(|(key, value)| self.is_in(key) || self.is_in(value))
            }
            Value::Sensitive(_) => true,
            scalar => self.scalars.contains(scalar),
        }
    }

    /// The value without its secrets.
    fn hidden(&self, value: &Value) -> Value {
        if !self.is_in(value) {
            return value.clone();
        }
        match value {
            Value::Array(array) => {
                Value::array(array.items().iter().map(|item| self.hidden(item)).collect())
            }
            Value::Hash(hash) => Value::hash(
                hash.iter()
                    .map(|(key, value)| (self.hidden(key), self.hidden(value)))
                    .collect(),
            ),
            _ => Event::secret(),
        }
    }

    /// Does a message quote a secret?
    fn are_quoted(&self, text: &str) -> bool {
        self.scalars.iter().any(|secret| match secret {
            Value::Str(secret) => secret.len() >= SHORTEST_QUOTE && text.contains(secret.as_str()),
            _ => false,
        })
    }

    /// Takes the secrets out of an explanation.
    fn hide_in(&self, explanation: &mut Explanation) {
        explanation.change_values(|value| *value = self.hidden(value));
        explanation.change_remarks(|text| {
            if self.are_quoted(text) {
                REDACTED.clone_into(text);
            }
        });
    }
}

/// Goes through the scalars of a value, the keys of hashes among them.
fn each_scalar<'v>(value: &'v Value, visit: &mut impl FnMut(&'v Value)) {
    match value {
        Value::Array(array) => {
            for item in array.items() {
                each_scalar(item, visit);
            }
        }
        Value::Hash(hash) => {
            for (key, value) in hash.iter() {
                each_scalar(key, visit);
                each_scalar(value, visit);
            }
        }
        scalar => visit(scalar),
    }
}

impl Walk<'_, '_> {
    /// Takes a value for secret.
    pub(super) fn add_secret(&mut self, value: &Value) {
        self.secrets.get_or_insert_default().add(value);
    }

    /// Is there a secret in a value?
    pub(super) fn has_secret(&self, value: &Value) -> bool {
        value.traits().has_sensitive
            || self
                .secrets
                .as_ref()
                .is_some_and(|secrets| secrets.is_in(value))
    }

    /// What came of these values: as secret as they are, and an error shows nothing of them.
    pub(super) fn made_of<E: Into<LookupError>>(
        &mut self,
        sources: &[&Value],
        made: Result<Value, E>,
    ) -> Result<Value, LookupError> {
        let made = made.map_err(|error| self.of_values(sources, error))?;
        self.add_derived_secrets(sources, &made);
        Ok(made)
    }

    /// Treats the results of a conversion of these values as secret, if the values are.
    pub(super) fn add_derived_secrets(&mut self, sources: &[&Value], made: &Value) {
        if let Some(secrets) = &mut self.secrets {
            secrets.add_derived(sources, made);
        }
    }

    /// An error of these values; what it says of secrets is left out.
    pub(super) fn of_values(
        &self,
        sources: &[&Value],
        error: impl Into<LookupError>,
    ) -> LookupError {
        let error = error.into();
        match self.hides || sources.iter().any(|source| self.has_secret(source)) {
            true => error.withheld(),
            false => error,
        }
    }

    /// The error, unless it quotes a secret nevertheless, for example one in `lookup_options`.
    pub(super) fn without_quotes(&self, error: LookupError) -> LookupError {
        let quotes = match &error {
            LookupError::InOptions { error, .. } => self.quotes_secret(&error.to_string()),
            LookupError::Options(_)
            | LookupError::Merge(_)
            | LookupError::Conversion { .. }
            | LookupError::ConversionType { .. }
            | LookupError::TypeMismatch(_)
            | LookupError::Interpolation { .. }
            | LookupError::Key(_)
            | LookupError::Dig(_)
            | LookupError::Recursion { .. } => self.quotes_secret(&error.to_string()),
            // These name files, servers and keys.
            _ => false,
        };
        match quotes {
            true => LookupError::Withheld { what: "the lookup" },
            false => error,
        }
    }

    /// Does a message quote a secret?
    pub(super) fn quotes_secret(&self, text: &str) -> bool {
        let secrets = self.secrets.as_ref();
        secrets.is_some_and(|secrets| secrets.are_quoted(text))
    }

    /// Takes the secrets out of the explanation, once it is complete.
    pub(super) fn hide_secrets(&mut self) {
        if let (Some(secrets), Some(explanation)) = (&self.secrets, &mut self.explanation) {
            secrets.hide_in(explanation);
        }
    }
}
