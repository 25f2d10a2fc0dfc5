//! [`MergedRoots`]: a value whose parts are asked for is merged once in a session.

use arcstr::ArcStr;
use indexmap::IndexMap;
use puppet_values::Value;

use super::Step;
use super::walk::Walk;
use crate::key::LookupKey;
use crate::merge::{Contribution, MergeStrategy};

/// The values of root keys, with the strategy they were merged with; `None` if nothing was found.
type Roots = IndexMap<ArcStr, (MergeStrategy, Option<Value>), foldhash::fast::RandomState>;

/// Merged values whose parts were asked for. Boxed, since nearly no session has any.
#[derive(Debug, Default)]
pub(super) struct MergedRoots(Option<Box<Roots>>);

impl MergedRoots {
    fn get(&self, root: &str, strategy: &MergeStrategy) -> Option<Option<Value>> {
        let (merged_with, value) = self.0.as_ref()?.get(root)?;
        merged_with.is_same(strategy).then(|| value.clone())
    }

    fn insert(&mut self, root: &ArcStr, strategy: &MergeStrategy, value: Option<Value>) {
        let roots = self.0.get_or_insert_default();
        roots.insert(root.clone(), (strategy.clone(), value));
    }
}

impl Walk<'_, '_> {
    /// The value of a key's root from all layers. Kept for the next key that asks for a part of it.
    #[inline]
    pub(super) fn merged_root(
        &mut self,
        key: &LookupKey,
        module: Option<&str>,
        strategy: &MergeStrategy,
    ) -> Step {
        match key.segments().is_empty() || !self.is_reusable() {
            true => self.merge_layers(key, module, strategy),
            false => self.reused_root(key, module, strategy),
        }
    }

    fn reused_root(
        &mut self,
        key: &LookupKey,
        module: Option<&str>,
        strategy: &MergeStrategy,
    ) -> Step {
        let root = key.root().text();
        if let Some(merged) = self.session.merged_roots.get(root, strategy) {
            self.spend(1)?;
            return Ok(merged);
        }
        let merged = self.merge_layers(key, module, strategy)?;
        // What came of secrets or of other servers has left its traces in this walk, which the next one would miss.
        if self.secrets.is_none() && self.remote_history.is_none() {
            let roots = &mut self.session.merged_roots;
            roots.insert(root, strategy, merged.clone());
        }
        Ok(merged)
    }

    /// Does a value depend on nothing but the session?
    fn is_reusable(&self) -> bool {
        self.chain == 0
            && self.explanation.is_none()
            && self.overrides.is_none()
            && self.defaults.is_none()
    }

    #[inline]
    fn merge_layers(
        &mut self,
        key: &LookupKey,
        module: Option<&str>,
        strategy: &MergeStrategy,
    ) -> Step {
        let merged = if self.is_global_only {
            self.in_global(key, strategy)
        } else {
            self.merge_over([0, 1, 2].iter(), strategy, |walk, layer| match layer {
                0 => walk.in_global(key, strategy),
                1 => walk.in_environment(key, strategy),
                _ => walk.in_module(key, module, strategy),
            })
        };
        Ok(merged?.map(Contribution::into_value))
    }
}
