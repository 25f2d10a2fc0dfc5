//! [`MergeStrategy`]: what `merge:` asks for, parsed and checked once.

use std::sync::Arc;

use puppet_values::{Hash, Value, ruby_text};

use super::deep::DeepOptions;
use super::error::{MergeError, OptionProblem};
use super::merger::Contribution;
use super::unique;

/// How the values of several sources become one.
#[derive(Clone, Debug)]
pub struct MergeStrategy {
    pub(super) kind: Kind,
    /// As given, for explanations.
    options: Option<Arc<Hash>>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Nothing was asked for. Merges as `First`, and has another name in explanations.
    Default,
    First,
    Unique,
    Hash,
    Deep(Arc<DeepOptions>),
}

impl MergeStrategy {
    /// First found, since nothing was asked for.
    pub(crate) const DEFAULT: MergeStrategy = MergeStrategy {
        kind: Kind::Default,
        options: None,
    };
    /// The strategy that `lookup_options` are assembled with.
    pub const HASH: MergeStrategy = MergeStrategy {
        kind: Kind::Hash,
        options: None,
    };

    /// Parses a strategy as written in `lookup_options` or a request: a name, or a hash of a name and options.
    pub fn parse(value: &Value) -> Result<Self, MergeError> {
        let (name, options) = match value {
            Value::Null | Value::Bool(false) => return Ok(MergeStrategy::DEFAULT),
            Value::Hash(hash) => {
                let name = hash.get("strategy");
                let name = name.filter(|name| !matches!(name, Value::Null));
                let name = name.ok_or(MergeError::NoStrategy)?;
                (name, (hash.len() > 1).then_some(hash))
            }
            name => (name, None),
        };
        let kind = Kind::named(name, options.map(Arc::as_ref))?;
        let kind = kind.map_err(|problem| MergeError::WrongOptions {
            problem,
            options: value.clone(),
        })?;
        Ok(MergeStrategy {
            kind,
            options: options.cloned(),
        })
    }

    /// The name it has in explanations.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Default => "default",
            Kind::First => "first",
            Kind::Unique => "unique",
            Kind::Hash => "hash",
            Kind::Deep(options) => options.name(),
        }
    }

    /// The options it was given, without the name of the strategy; `None` if there are none.
    pub fn options(&self) -> Option<Hash> {
        let options: Hash = self
            .options
            .as_ref()?
            .iter()
            .filter(|(key, _)| key.as_str() != Some("strategy"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        (!options.is_empty()).then_some(options)
    }

    /// Does the first value found answer? A lookup may then stop searching, or search in another way.
    pub(crate) fn is_first(&self) -> bool {
        matches!(self.kind, Kind::Default | Kind::First)
    }

    /// Does the other strategy merge in the same way?
    pub(crate) fn is_same(&self, other: &MergeStrategy) -> bool {
        self.name() == other.name() && self.options == other.options
    }

    /// The result where there is nothing to merge a value with.
    #[inline]
    pub(crate) fn single(&self, found: Contribution) -> Contribution {
        match self.kind {
            Kind::Unique => unique::single(found.into_value()).into(),
            _ => found,
        }
    }
}

impl Kind {
    /// The strategy of a name. Inner error: the strategy exists, and its options are wrong.
    fn named(
        name: &Value,
        options: Option<&Hash>,
    ) -> Result<Result<Self, OptionProblem>, MergeError> {
        let without_options = |kind| match options {
            Some(options) => refuse_others(options, &["strategy"]).map(|()| kind),
            None => Ok(kind),
        };
        let deep = |options| Kind::Deep(Arc::new(options));
        Ok(match name.as_str() {
            Some("default") => without_options(Kind::Default),
            Some("first") => without_options(Kind::First),
            Some("unique") => without_options(Kind::Unique),
            Some("hash") => without_options(Kind::Hash),
            Some(name @ "deep") => DeepOptions::parse(name, options).map(deep),
            Some(name @ ("unconstrained_deep" | "reverse_deep")) => {
                Ok(deep(DeepOptions::parse_legacy(name, options)))
            }
            _ => {
                let mut shown = String::new();
                ruby_text::to_s(name, &mut shown);
                return Err(MergeError::UnknownStrategy { name: shown });
            }
        })
    }
}

/// Refuses options that are not among the known ones.
pub(super) fn refuse_others(options: &Hash, known: &[&str]) -> Result<(), OptionProblem> {
    for (key, _) in options.iter() {
        if !key.as_str().is_some_and(|key| known.contains(&key)) {
            let mut name = String::new();
            ruby_text::to_s(key, &mut name);
            return Err(OptionProblem::UnrecognizedKey { name });
        }
    }
    Ok(())
}
