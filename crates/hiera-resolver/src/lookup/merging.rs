//! Sources visited one after the other, what they have merged: files of a level, levels of a layer, layers.

use puppet_values::Value;

use super::Step;
use super::walk::Walk;
use crate::explain::{Event, NodeKind};
use crate::lookup::LookupError;
use crate::merge::{Contribution, MergeError, MergeObserver, MergeStrategy, Merger};

impl Walk<'_, '_> {
    /// Visits sources from the highest to the lowest and merges what they have. An explanation shows the merge if
    /// there is more than one source.
    #[inline]
    pub(super) fn merge_over<T>(
        &mut self,
        sources: impl ExactSizeIterator<Item = T>,
        strategy: &MergeStrategy,
        mut visit: impl FnMut(&mut Self, T) -> Step<Contribution>,
    ) -> Step<Contribution> {
        let Some(merger) = Merger::new(strategy, sources.len()) else {
            for source in sources {
                if let Some(found) = visit(self, source)? {
                    return Ok(Some(strategy.single(found)));
                }
            }
            return Ok(None);
        };
        let kind = || NodeKind::Merge {
            strategy: strategy.name().to_owned(),
            options: strategy.options(),
        };
        self.node(
            || (kind(), None),
            |walk| {
                let merged = walk.collect(merger, sources, visit)?;
                if let Some(merged) = &merged {
                    walk.report(None, || Event::Result(merged.value().clone()));
                }
                Ok(merged)
            },
        )
    }

    fn collect<T>(
        &mut self,
        mut merger: Merger<'_>,
        sources: impl Iterator<Item = T>,
        mut visit: impl FnMut(&mut Self, T) -> Step<Contribution>,
    ) -> Step<Contribution> {
        for source in sources {
            if let Some(found) = visit(self, source)? {
                merger.push(found, self)?;
            }
        }
        merger.finish(self)
    }
}

/// What is merged from secrets is secret, and no error quotes them.
impl MergeObserver for Walk<'_, '_> {
    type Error = LookupError;

    fn merged(&mut self, sources: &[&Value], merged: &Value) {
        self.add_derived_secrets(sources, merged);
    }

    fn failed(&mut self, sources: &[&Value], error: MergeError) -> LookupError {
        self.of_values(sources, error)
    }

    fn wants_changes(&self) -> bool {
        self.explanation.is_some()
    }

    fn changed(&mut self, sources: &[&Value], old: &Value, new: &Value) {
        self.add_derived_secrets(sources, new);
        if let Some(explanation) = &mut self.explanation {
            explanation.replace(old, new);
        }
    }
}
