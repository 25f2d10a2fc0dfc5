//! The way of a key into the global, environment and module layers.

use puppet_values::Value;

use super::Step;
use super::prepared::Prepared;
use super::walk::Walk;
use crate::explain::{Event, NodeKind};
use crate::hierarchy::{Layer, LayerKind};
use crate::key::LookupKey;
use crate::merge::{Contribution, MergeStrategy};

impl<'a> Walk<'_, 'a> {
    /// What the global layer has for a key.
    pub(super) fn in_global(
        &mut self,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        // An explanation shows it all the same.
        if self.explanation.is_none() && !self.session.has_global() {
            return Ok(None);
        }
        let found = self.in_global_layer(key, strategy);
        self.track_puppet_error(&found, |error| error.leave_global(key.as_str()));
        found
    }

    fn in_global_layer(&mut self, key: &LookupKey, strategy: &MergeStrategy) -> Step<Contribution> {
        let prepared = match self.session.global() {
            Ok(prepared) => prepared,
            Err(error) => {
                let layer = self.session.tree.global();
                return self.fail_in_layer(&LayerKind::Global, layer, key, error);
            }
        };
        if prepared.config.version() != 3 {
            return self.in_layer(&prepared, key, strategy);
        }
        // Puppet: what data of version 3 refers to is found in the global layer alone, as it was with Hiera 3,
        // unless the environment has a layer of version 5.
        let version = match self.session.tree.environment() {
            Layer::Configured(config) => Some(config.version()),
            Layer::Faulty(faults) if faults.refusal().late.is_some() => faults.refusal().late,
            Layer::Faulty(faults) => {
                return self.guarded(key, |_| Err(faults.clone().into()));
            }
            Layer::Absent | Layer::Ignored(_) => None,
        };
        let has_environment = version.is_some_and(|version| version >= 5);
        let outer = (self.is_global_only, self.is_version_3);
        self.is_global_only |= !has_environment;
        self.is_version_3 = true;
        let found = self.in_layer(&prepared, key, strategy);
        (self.is_global_only, self.is_version_3) = outer;
        found
    }

    /// What the environment's layer has for a key.
    pub(super) fn in_environment(
        &mut self,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        match self.session.environment() {
            Ok(Some(prepared)) => self.in_layer(&prepared, key, strategy),
            Ok(None) => Ok(None),
            Err(error) => {
                let layer = self.session.tree.environment();
                self.fail_in_layer(&LayerKind::Environment, layer, key, error)
            }
        }
    }

    /// What a module's layer has for a key.
    pub(super) fn in_module(
        &mut self,
        key: &LookupKey,
        module: Option<&str>,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        let Some(module) = module else {
            return Ok(None);
        };
        match self.session.module(module) {
            Ok(Some(prepared)) => return self.in_layer(&prepared, key, strategy),
            Ok(None) => {}
            Err(error) => {
                let layer = self.session.tree.module(module).unwrap_or(&Layer::Absent);
                let kind = LayerKind::Module(module.into());
                return self.fail_in_layer(&kind, layer, key, error);
            }
        }
        if let Some(explanation) = &mut self.explanation {
            let event = match self.session.tree.module(module) {
                None => Event::ModuleNotFound,
                Some(_) => Event::ModuleProviderNotFound,
            };
            explanation.open(
                NodeKind::Module {
                    name: module.into(),
                },
                None,
            );
            explanation.report(None, event);
            explanation.close();
        }
        Ok(None)
    }

    fn in_layer(
        &mut self,
        prepared: &Prepared<'a>,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        // As long as no token is filled in, there is no nested lookup to guard against.
        if self.names.is_empty()
            && let (true, Some(files)) = (strategy.is_first(), &prepared.visible_files.contents)
        {
            let found = files.first(key.root());
            let traits = found.map(Value::traits).unwrap_or_default();
            if !traits.has_templates && !traits.is_irregular {
                self.spend(files.existing.len() as u64)?;
                return Ok(found.cloned().map(Contribution::from));
            }
        }
        self.guarded(key, |walk| {
            if let Some(files) = &prepared.visible_files.contents
                && let Some(found) = walk.in_files(files, key.root(), strategy)?
            {
                return Ok(found);
            }
            let plan = walk.session.plan(prepared)?;
            walk.layer_node(plan, |walk| {
                if plan.levels().is_empty() {
                    walk.report_not_found(key.as_str());
                    return Ok(None);
                }
                walk.merge_over(plan.levels().iter(), strategy, |walk, level| {
                    walk.in_level(plan, level, key.root(), strategy)
                })
            })
        })
    }
}
