//! `default_hierarchy`: the levels of a module for keys that nothing else has.

use super::Step;
use super::prepared::Prepared;
use super::walk::Walk;
use crate::explain::words::headings;
use crate::key::LookupKey;
use crate::lookup::{LookupError, options};
use crate::merge::{Contribution, MergeStrategy};

impl<'a> Walk<'_, 'a> {
    /// Searches them. Puppet: the merge of a request does not apply here.
    pub(super) fn search_default_levels(&mut self, key: &LookupKey) -> Step {
        if self.is_global_only {
            return Ok(None);
        }
        let Some(module) = key.module() else {
            return Ok(None);
        };
        let Some(prepared) = self.session.module(module)? else {
            return Ok(None);
        };
        if prepared.config.default_levels().is_none() {
            return Ok(None);
        }
        let heading = || (headings::default_hierarchy(module), None);
        let found = self.node(heading, |walk| {
            let strategy = walk.default_strategy(key, module, &prepared)?;
            let heading = || {
                let heading = headings::search_in_default_hierarchy(key.as_str());
                (heading, None)
            };
            walk.node(heading, |walk| {
                walk.in_default_levels(&prepared, key, &strategy)
            })
        })?;
        match found {
            Some(found) => self.dig(found.into_value(), key.segments(), key.as_str()),
            None => Ok(None),
        }
    }

    /// The strategy that the options of the default hierarchy name for a key.
    fn default_strategy(
        &mut self,
        key: &LookupKey,
        module: &str,
        prepared: &Prepared<'a>,
    ) -> Result<MergeStrategy, LookupError> {
        let options = self
            .default_options(module, prepared)
            .map_err(|error| self.locate_in_options(error, None, Some(module)))?;
        let entry = match &options {
            Some(options) => options::find(&[options.as_ref()], key.root())?,
            None => None,
        };
        let Some(entry) = entry else {
            return Ok(MergeStrategy::DEFAULT);
        };
        let strategy = entry
            .merge()
            .map_err(|error| self.locate_in_options(error, Some(entry.name()), Some(module)))?;
        Ok(strategy.cloned().unwrap_or(MergeStrategy::DEFAULT))
    }

    /// What the default levels of a module have for a key.
    pub(super) fn in_default_levels(
        &mut self,
        prepared: &Prepared<'a>,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        let plan = self.session.plan(prepared)?;
        if plan.default_levels().is_empty() {
            self.report_not_found(key.as_str());
            return Ok(None);
        }
        self.guarded(key, |walk| {
            walk.layer_node(plan, |walk| {
                walk.merge_over(plan.default_levels().iter(), strategy, |walk, level| {
                    walk.in_level(plan, level, key.root(), strategy)
                })
            })
        })
    }
}
