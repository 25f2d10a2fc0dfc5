//! [`Merger`]: collects the values of a key, the highest level first, and makes one of them.

use puppet_values::Value;
use smallvec::SmallVec;

use super::deep::DeepOptions;
use super::error::MergeError;
use super::strategy::{Kind, MergeStrategy};
use super::{hash, unique};

/// What a source has for a key. A source is a file, a level or a layer; merged levels are the sources of a layer.
#[derive(Debug)]
pub(crate) enum Contribution {
    /// A value. As large as a [`Value`], since nearly all contributions are this.
    Value(Value),
    /// A value with what it was merged from, if a merge further up has to start from that again.
    WithParts(Box<MergedParts>),
}

/// A merged value and the values of the files that it was merged from, the highest level first.
#[derive(Debug)]
pub(crate) struct MergedParts {
    merged: Value,
    parts: Vec<Value>,
}

impl Contribution {
    /// The value.
    pub(crate) fn value(&self) -> &Value {
        match self {
            Contribution::Value(value) => value,
            Contribution::WithParts(with_parts) => &with_parts.merged,
        }
    }

    /// The value alone.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Contribution::Value(value) => value,
            Contribution::WithParts(with_parts) => with_parts.merged,
        }
    }

    fn into_parts(self) -> Vec<Value> {
        match self {
            Contribution::Value(value) => vec![value],
            Contribution::WithParts(with_parts) => with_parts.parts,
        }
    }
}

impl From<Value> for Contribution {
    fn from(value: Value) -> Self {
        Contribution::Value(value)
    }
}

/// Is notified of what a merge does, to keep track of secrets and to correct explanations.
pub(crate) trait MergeObserver {
    /// What a failed merge ends in.
    type Error;

    /// Several values were merged into one.
    fn merged(&mut self, sources: &[&Value], merged: &Value);

    /// Values could not be merged.
    fn failed(&mut self, sources: &[&Value], error: MergeError) -> Self::Error;

    /// Does [`MergeObserver::changed`] have to be called? It takes work to find out.
    fn wants_changes(&self) -> bool;

    /// The merge of several values changed one of them; see [`DeepOptions::changed_source`].
    fn changed(&mut self, sources: &[&Value], old: &Value, new: &Value);
}

/// Makes one value of those that are pushed. One merger serves one group of sources: the files of a level, the levels
/// of a layer, or the layers.
#[derive(Debug)]
pub(crate) struct Merger<'s>(State<'s>);

#[derive(Debug)]
enum State<'s> {
    /// Checked one by one, merged in the end.
    Unique(SmallVec<[Value; 4]>),
    /// The same.
    Hash(SmallVec<[Value; 4]>),
    /// Merged as they come.
    Deep {
        options: &'s DeepOptions,
        merged: Option<Value>,
    },
    /// All values of all files, merged in the end from the lowest up, since what a level knocks out is gone from
    /// everything below it.
    Knockout {
        options: &'s DeepOptions,
        values: Vec<Value>,
    },
}

impl<'s> Merger<'s> {
    /// A merger for this many sources; `None` where nothing is merged, since the first value answers or there is one
    /// source. See [`MergeStrategy::single`].
    #[inline]
    pub(crate) fn new(strategy: &'s MergeStrategy, sources: usize) -> Option<Self> {
        Some(Merger(match &strategy.kind {
            Kind::Default | Kind::First => return None,
            _ if sources <= 1 => return None,
            Kind::Unique => State::Unique(SmallVec::new()),
            Kind::Hash => State::Hash(SmallVec::new()),
            Kind::Deep(options) if options.has_knockout() => State::Knockout {
                options,
                values: Vec::new(),
            },
            Kind::Deep(options) => State::Deep {
                options,
                merged: None,
            },
        }))
    }

    /// Adds what the next lower source has.
    pub(crate) fn push<O: MergeObserver>(
        &mut self,
        found: Contribution,
        observer: &mut O,
    ) -> Result<(), O::Error> {
        // The weight is that of what is looked at, and often copied. Once the budget is spent, the result is discarded.
        if work_budget::charge(1 + u64::from(found.value().traits().weight)).is_err() {
            return Ok(());
        }
        match &mut self.0 {
            State::Unique(values) => {
                push_checked(values, found.into_value(), unique::check, observer)?
            }
            State::Hash(values) => push_checked(values, found.into_value(), hash::check, observer)?,
            State::Deep { options, merged } => {
                let value = found.into_value();
                *merged = Some(match merged.take() {
                    None => value,
                    Some(higher) => merge_deep(options, &higher, &value, observer)?,
                });
            }
            State::Knockout { values, .. } => values.extend(found.into_parts()),
        }
        Ok(())
    }

    /// The result of what was pushed; `None` if no source has a value.
    pub(crate) fn finish<O: MergeObserver>(
        self,
        observer: &mut O,
    ) -> Result<Option<Contribution>, O::Error> {
        let merged = match self.0 {
            State::Unique(values) => (!values.is_empty()).then(|| unique::join(&values)),
            State::Hash(values) => (!values.is_empty()).then(|| hash::join(&values)),
            State::Deep { merged, .. } => merged,
            State::Knockout { options, values } => {
                let merged = merge_upwards(options, &values, observer)?;
                let with_parts = |merged| MergedParts {
                    merged,
                    parts: values,
                };
                return Ok(
                    merged.map(|merged| Contribution::WithParts(Box::new(with_parts(merged))))
                );
            }
        };
        Ok(merged.map(Contribution::from))
    }
}

/// Adds a value that can be merged with those above it.
fn push_checked<O: MergeObserver>(
    values: &mut SmallVec<[Value; 4]>,
    value: Value,
    check: fn(&[Value], &Value) -> Result<(), MergeError>,
    observer: &mut O,
) -> Result<(), O::Error> {
    if !values.is_empty()
        && let Err(error) = check(values, &value)
    {
        let sources: SmallVec<[&Value; 4]> = values.iter().chain([&value]).collect();
        return Err(observer.failed(&sources, error));
    }
    values.push(value);
    Ok(())
}

/// Merges what the levels above came to with the value of the next lower one.
fn merge_deep<O: MergeObserver>(
    options: &DeepOptions,
    higher: &Value,
    lower: &Value,
    observer: &mut O,
) -> Result<Value, O::Error> {
    let sources = [higher, lower];
    // Everything is merged with what the levels above came to.
    _ = work_budget::charge(u64::from(higher.traits().weight));
    let merged = options.merge(higher, lower.clone());
    let merged = merged.map_err(|error| observer.failed(&sources, error))?;
    observer.merged(&sources, &merged);
    if observer.wants_changes() {
        let changed = options.changed_source(higher, lower, &merged);
        let changed = changed.map_err(|error| observer.failed(&sources, error))?;
        if let Some(changed) = changed {
            observer.changed(&sources, higher, &changed);
        }
    }
    Ok(merged)
}

/// Merges values with knock-outs, the highest level first.
///
/// Puppet: a knock-out is used up where two levels meet, so it never reaches the level below the next.
/// Here the lowest level is the start and each higher one is laid over the result, so that what a level
/// knocks out is gone from everything below it, and what a still higher level adds is there again. With
/// one or two levels that is Puppet's result.
fn merge_upwards<O: MergeObserver>(
    options: &DeepOptions,
    values: &[Value],
    observer: &mut O,
) -> Result<Option<Value>, O::Error> {
    let Some((lowest, higher)) = values.split_last() else {
        return Ok(None);
    };
    let mut merged = Ok(lowest.clone());
    for value in higher.iter().rev() {
        merged = merged.and_then(|below| options.merge(value, below));
    }
    let sources: Vec<&Value> = values.iter().collect();
    let merged = merged.map_err(|error| observer.failed(&sources, error))?;
    observer.merged(&sources, &merged);
    Ok(Some(merged))
}
