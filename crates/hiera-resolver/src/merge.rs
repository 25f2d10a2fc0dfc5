//! Merge strategies: several found values → one.
//!
//! Values meet two at a time, the higher level first, exactly as in Puppet; types are checked only where
//! two values meet, so a value found alone may be of any kind.

mod deep;

use std::hash::Hash as StdHash;
use std::sync::Arc;

use indexmap::IndexSet;
use lean_string::LeanStr;
use smallvec::SmallVec;

use crate::Value;
use crate::hash::Hash;
use crate::types;
use puppet_values::Rich;

pub use deep::DeepOptions;

/// How found values become one.
#[derive(Clone, Debug)]
pub struct MergeStrategy {
    kind: Kind,
    /// As given, for explanations.
    options: Option<Arc<Hash>>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Nothing was asked for: as `First`.
    Default,
    First,
    Unique,
    Hash,
    Deep(Arc<DeepOptions>),
}

/// A merge that cannot be done, or a strategy that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// An object without `strategy`.
    #[error("the hash given as `merge` must name a strategy under the key `strategy`")]
    NoStrategy,
    /// Not a strategy.
    #[error("unknown merge strategy `{name}`; there are first, unique, hash and deep")]
    UnknownStrategy {
        /// What was given.
        name: String,
    },
    /// An option the strategy does not have, or of the wrong kind.
    #[error("the merge options have wrong type: {problem}")]
    WrongOptions {
        /// Which option, and what is wrong with it.
        problem: String,
        /// The same in Puppet's words.
        puppet_text: String,
    },
    /// A value of a kind that the strategy cannot merge.
    #[error("{0}")]
    WrongType(String),
    /// An empty knockout prefix.
    #[error("`knockout_prefix` cannot be an empty string")]
    EmptyKnockoutPrefix,
    /// `sort_merged_arrays` over values that have no order.
    #[error("cannot sort the merged array: comparison of {left} with {right} failed")]
    NotSortable {
        /// The kind of one element.
        left: &'static str,
        /// The kind of another.
        right: &'static str,
    },
}

impl MergeStrategy {
    /// First found, since nothing was asked for.
    pub const DEFAULT: MergeStrategy = MergeStrategy {
        kind: Kind::Default,
        options: None,
    };
    /// The strategy that `lookup_options` are assembled with.
    pub const HASH: MergeStrategy = MergeStrategy {
        kind: Kind::Hash,
        options: None,
    };

    /// Reads a strategy as it stands in `lookup_options` or a request: a name, or a hash of a name and options.
    pub fn parse(value: &Value) -> Result<Self, MergeError> {
        MergeStrategy::read(value).map_err(|error| match error {
            MergeError::WrongOptions { problem, .. } => MergeError::WrongOptions {
                problem,
                puppet_text: describe_options(value),
            },
            other => other,
        })
    }

    fn read(value: &Value) -> Result<Self, MergeError> {
        let (name, options) = match value {
            Value::Null | Value::Bool(false) => return Ok(MergeStrategy::DEFAULT),
            Value::Hash(hash) => {
                let name = hash
                    .get("strategy")
                    .filter(|name| !matches!(name, Value::Null));
                (
                    name.ok_or(MergeError::NoStrategy)?,
                    (hash.len() > 1).then_some(hash),
                )
            }
            name => (name, None),
        };
        let unknown = || {
            let mut shown = String::new();
            crate::ruby_text::to_s(name, &mut shown);
            MergeError::UnknownStrategy { name: shown }
        };
        let name = name.as_str().ok_or_else(unknown)?;
        let kind = match name {
            "default" => Kind::Default,
            "first" => Kind::First,
            "unique" => Kind::Unique,
            "hash" => Kind::Hash,
            "deep" => Kind::Deep(Arc::new(DeepOptions::parse(
                name,
                options.map(Arc::as_ref),
            )?)),
            "unconstrained_deep" | "reverse_deep" => Kind::Deep(Arc::new(
                DeepOptions::parse_legacy(name, options.map(Arc::as_ref))?,
            )),
            _ => return Err(unknown()),
        };
        if let (Some(options), false) = (options, matches!(kind, Kind::Deep(_))) {
            refuse_options(options, &["strategy"])?;
        }
        Ok(MergeStrategy {
            kind,
            options: options.cloned(),
        })
    }

    /// The name it goes by in explanations.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Default => "default",
            Kind::First => "first",
            Kind::Unique => "unique",
            Kind::Hash => "hash",
            Kind::Deep(options) => options.name(),
        }
    }

    /// The options it was given, without the name of the strategy; `None` where there are none.
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

    /// Does the first value found answer?
    pub fn is_first(&self) -> bool {
        matches!(self.kind, Kind::Default | Kind::First)
    }

    /// Do the values of all levels have to be gathered before they are merged? See [`MergeStrategy::merge_all`].
    pub fn gathers(&self) -> bool {
        matches!(&self.kind, Kind::Deep(options) if options.has_knockout())
    }

    /// Can values be merged all together, once they have been checked one after the other? See
    /// [`MergeStrategy::check_next`] and [`MergeStrategy::join`].
    pub(crate) fn joins(&self) -> bool {
        matches!(self.kind, Kind::Unique | Kind::Hash)
    }

    /// What becomes of the value of a search with one place to look in.
    pub fn merge_single(&self, value: Value) -> Value {
        match (&self.kind, &value) {
            (Kind::Unique, Value::Array(array)) if has_repetitions(array.items()) => {
                Value::array(union(array.items().iter().cloned()))
            }
            _ => value,
        }
    }

    /// What becomes of the first value found in a search with several places to look in.
    pub fn convert_first(&self, value: Value) -> Value {
        match (&self.kind, &value) {
            // There is no list in it.
            (Kind::Unique, Value::Array(array)) if array.traits().depth == 1 => value,
            (Kind::Unique, _) => Value::array(flatten(&[value]).into_iter().cloned().collect()),
            _ => value,
        }
    }

    /// Merges two values, the one of the higher level first.
    pub fn merge(&self, higher: &Value, lower: &Value) -> Result<Value, MergeError> {
        match &self.kind {
            Kind::Default | Kind::First => Ok(higher.clone()),
            Kind::Unique | Kind::Hash => {
                let higher = self.convert_first(higher.clone());
                self.check_next(std::slice::from_ref(&higher), lower)?;
                Ok(self.join(&[higher, lower.clone()]))
            }
            Kind::Deep(options) => options.merge(higher, lower.clone()),
        }
    }

    /// Can a value be merged with those of the levels above it? Puppet asks where two values meet.
    pub(crate) fn check_next(&self, above: &[Value], value: &Value) -> Result<(), MergeError> {
        let (expected, fits): (_, fn(&Value) -> bool) = match self.kind {
            Kind::Unique => ("Variant[Scalar, Array[Data]]", is_list_or_scalar),
            _ => ("Hash[String, Data]", is_data_hash),
        };
        // What came of values that were merged before fits, unless a list of them is no longer data.
        let is_sure = match (&self.kind, above) {
            (Kind::Hash, [_]) => false,
            _ => !above.iter().any(|value| value.traits().is_beyond_data),
        };
        let check = |value: &Value, subject| match fits(value) {
            true => Ok(()),
            false => Err(MergeError::WrongType(describe_mismatch(
                subject, expected, value,
            ))),
        };
        if !is_sure {
            check(&self.join(above), "The first element of the merge")?;
        }
        check(value, "The second element of the merge")
    }

    /// Merges values that have been checked, the highest first.
    pub(crate) fn join(&self, values: &[Value]) -> Value {
        let (lowest, higher) = match values {
            [] => return Value::Null,
            [value] => return self.convert_first(value.clone()),
            [higher @ .., lowest] => (lowest, higher),
        };
        let Kind::Hash = self.kind else {
            let items = union(flatten(values).into_iter());
            return Value::array(items.into_iter().cloned().collect());
        };
        // Puppet computes `lower.merge(higher)`: values of the higher level win, keys of the
        // lower level come first. Clients see that order, so it is kept.
        let mut merged = lowest.as_hash().cloned().unwrap_or_default();
        for hash in higher.iter().rev().filter_map(Value::as_hash) {
            for (key, value) in hash.iter() {
                merged.insert(key.clone(), value.clone());
            }
        }
        Value::hash(merged)
    }

    /// What Puppet's explanations show as the higher value once it was merged; `None` where it is what it was.
    pub(crate) fn aftermath(
        &self,
        higher: &Value,
        lower: &Value,
        merged: &Value,
    ) -> Result<Option<Value>, MergeError> {
        match &self.kind {
            Kind::Deep(options) => options.aftermath(higher, lower, merged),
            _ => Ok(None),
        }
    }

    /// Merges the values of all levels, the highest first.
    ///
    /// Puppet: a knock-out is used up where two levels meet, so it never reaches the level below the next.
    /// Here the lowest level is the start and each higher one is laid over the result, so that what a level
    /// knocks out is gone from everything below it, and what a still higher level adds is there again. With
    /// one or two levels that is Puppet's result.
    pub fn merge_all(&self, values: &[Value]) -> Result<Option<Value>, MergeError> {
        let Some((lowest, higher)) = values.split_last() else {
            return Ok(None);
        };
        let mut merged = lowest.clone();
        for value in higher.iter().rev() {
            merged = self.merge(value, &merged)?;
        }
        Ok(Some(merged))
    }
}

/// Refuses options that are not among the known ones.
fn refuse_options(options: &Hash, known: &[&str]) -> Result<(), MergeError> {
    for (key, _) in options.iter() {
        if !key.as_str().is_some_and(|key| known.contains(&key)) {
            let mut name = String::new();
            crate::ruby_text::to_s(key, &mut name);
            return Err(MergeError::WrongOptions {
                problem: format!("unrecognized key '{name}'"),
                puppet_text: String::new(),
            });
        }
    }
    Ok(())
}

fn describe_mismatch(subject: &str, expected: &str, value: &Value) -> String {
    types::Type::parse(expected)
        .ok()
        .and_then(|expected| types::assert_instance(subject, &expected, value).err())
        .map_or_else(
            || {
                format!(
                    "{subject} has wrong type, expects {expected}, got {}",
                    value.ruby_class()
                )
            },
            |mismatch| mismatch.to_string(),
        )
}

fn is_data_hash(value: &Value) -> bool {
    matches!(value, Value::Hash(hash) if !hash.traits().is_beyond_data)
}

fn is_list_or_scalar(value: &Value) -> bool {
    match value {
        Value::Array(array) => !array.traits().is_beyond_data,
        Value::Null
        | Value::Hash(_)
        | Value::Sensitive(_)
        | Value::Symbol(_)
        | Value::Template(_) => false,
        Value::Rich(rich) => {
            matches!(
                **rich,
                Rich::Regexp(_) | Rich::Timestamp(_) | Rich::Timespan(_) | Rich::SemVer(_)
            )
        }
        _ => true,
    }
}

/// All that stands in these values, and in lists in them.
fn flatten(values: &[Value]) -> SmallVec<[&Value; 32]> {
    fn add<'a>(values: &'a [Value], out: &mut SmallVec<[&'a Value; 32]>) {
        for value in values {
            match value {
                Value::Array(inner) => add(inner.items(), out),
                other => out.push(other),
            }
        }
    }
    let mut out = SmallVec::new();
    add(values, &mut out);
    out
}

/// Lists up to this long are searched from the front.
const SHORT: usize = 24;

/// The values without repetitions, each where it stood first.
fn union<V: Eq + StdHash>(values: impl Iterator<Item = V>) -> Vec<V> {
    let values: SmallVec<[V; SHORT]> = values.collect();
    if values.len() > SHORT {
        let set: IndexSet<V, foldhash::fast::RandomState> = values.into_iter().collect();
        return set.into_iter().collect();
    }
    let mut out = Vec::with_capacity(values.len());
    for value in values {
        if !out.contains(&value) {
            out.push(value);
        }
    }
    out
}

fn has_repetitions(values: &[Value]) -> bool {
    // Whether a long list has some is not found out faster than it is made without.
    values.len() > SHORT
        || (1..values.len()).any(|place| {
            let (before, from) = values.split_at(place);
            from.first().is_some_and(|value| before.contains(value))
        })
}

/// A text option of a strategy.
fn text_option(options: &Hash, name: &str) -> Result<Option<LeanStr>, MergeError> {
    match options.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Str(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong_option(name, "a value of type Undef or String", other)),
    }
}

/// A boolean option of a strategy.
fn flag_option(options: &Hash, name: &str) -> Result<bool, MergeError> {
    match options.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(wrong_option(
            name,
            "a value of type Undef or Boolean",
            other,
        )),
    }
}

fn wrong_option(name: &str, expected: &str, value: &Value) -> MergeError {
    MergeError::WrongOptions {
        problem: format!(
            "entry '{name}' expects {expected}, got {}",
            value.ruby_class()
        ),
        puppet_text: String::new(),
    }
}

/// What Puppet says of options that a strategy does not take.
fn describe_options(options: &Value) -> String {
    let strategy = options
        .as_hash()
        .and_then(|options| options.get("strategy"));
    let expected = match strategy.and_then(Value::as_str).unwrap_or_default() {
        "deep" => "Struct[{strategy=>Optional[Pattern[deep]],knockout_prefix=>Optional[String],\
             merge_debug=>Optional[Boolean],merge_hash_arrays=>Optional[Boolean],\
             sort_merged_arrays=>Optional[Boolean],}]"
            .to_owned(),
        "unconstrained_deep" | "reverse_deep" => "Hash[String[1],Any]".to_owned(),
        name => format!("Struct[{{strategy=>Optional[Pattern[/{name}/]]}}]"),
    };
    describe_mismatch("The merge options", &expected, options)
}

#[cfg(test)]
mod tests;
