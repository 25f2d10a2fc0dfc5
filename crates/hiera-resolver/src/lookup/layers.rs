//! The way of a key through layers, levels and locations to the values that files hold.

use super::Step;
use super::prepared::Prepared;
use super::walk::Walk;
use crate::config::{Layer, LayerKind};
use crate::error::LookupError;
use crate::explain::{Event, NodeKind};
use crate::key::LookupKey;
use crate::layer_index::SurveyedFiles;
use crate::merge::{Contribution, MergeStrategy};
use crate::options;
use crate::plan::{Location, Plan, PlannedLevel};
use crate::remote::without_user;
use crate::table_key::TableKey;
use crate::value::Value;

impl<'a> Walk<'_, 'a> {
    pub(super) fn in_global(
        &mut self,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        // An explanation tells of it all the same.
        if self.explanation.is_none() && !self.session.has_global() {
            return Ok(None);
        }
        let found = self.in_global_layer(key, strategy);
        self.telling_of(&found, |telling| telling.leave_global(key.as_str()));
        found
    }

    pub(super) fn in_global_layer(
        &mut self,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
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

    pub(super) fn in_layer(
        &mut self,
        prepared: &Prepared<'a>,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        // As long as no token is filled in, there is no lookup inside of this one to guard against.
        if self.names.is_empty()
            && let (true, Some(files)) = (strategy.is_first(), &prepared.survey.files)
        {
            let found = files.first(key.root());
            let traits = found.map(Value::traits).unwrap_or_default();
            if !traits.has_templates && !traits.is_irregular {
                self.spend(files.there.len() as u64)?;
                return Ok(found.cloned().map(Contribution::from));
            }
        }
        self.guarded(key, |walk| {
            if let Some(files) = &prepared.survey.files
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

    /// The value of a key in these files: what the way through all levels comes to, where nothing is told of it. Outer
    /// `None` where the value has to be found on that way, for what an error tells of it.
    fn in_files(
        &mut self,
        files: &SurveyedFiles<'a>,
        root: &TableKey,
        strategy: &MergeStrategy,
    ) -> Step<Option<Contribution>> {
        self.spend(files.there.len() as u64)?;
        let found = match strategy.is_first() {
            true => self.first_in_files(files, root),
            false => self.merged_in_files(files, root, strategy),
        };
        match found {
            Err(LookupError::Undecryptable { path: None, .. }) => Ok(None),
            Err(LookupError::Interpolation { path: None, .. }) if !self.has_named_file => {
                self.has_named_file = true;
                Ok(None)
            }
            found => found,
        }
    }

    fn first_in_files(
        &mut self,
        files: &SurveyedFiles<'a>,
        root: &TableKey,
    ) -> Step<Option<Contribution>> {
        match files.first(root) {
            None => Ok(Some(None)),
            Some(raw) if raw.traits().is_irregular => Ok(None),
            Some(raw) => Ok(Some(Some(self.interpolate(raw, root)?.into()))),
        }
    }

    fn merged_in_files(
        &mut self,
        files: &SurveyedFiles<'a>,
        root: &TableKey,
        strategy: &MergeStrategy,
    ) -> Step<Option<Contribution>> {
        if files.levels.is_empty() {
            return Ok(None);
        }
        let found = files.all(root);
        let is_irregular = |raw: &&Value| raw.traits().is_irregular;
        if found.iter().flatten().any(is_irregular) {
            return Ok(None);
        }
        let merged = self.merge_over(files.levels.iter(), strategy, |walk, level| {
            let found = found.get(level.clone()).unwrap_or_default();
            walk.merge_over(found.iter(), strategy, |walk, raw| {
                let Some(raw) = raw else { return Ok(None) };
                Ok(Some(walk.interpolate(raw, root)?.into()))
            })
        });
        Ok(Some(merged?))
    }

    /// The levels for keys that nothing else has. Puppet: a merge of the request does not reach them.
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
        let heading = || {
            (
                NodeKind::Scope {
                    name: format!("Searching default_hierarchy of module \"{module}\""),
                },
                None,
            )
        };
        let found = self.node(heading, |walk| {
            let options = walk
                .default_options(module, &prepared)
                .map_err(|error| walk.blame_options(error, None, Some(module)))?;
            let entry = match &options {
                Some(options) => options::find(&[options.as_ref()], key.root())?,
                None => None,
            };
            let strategy = match entry {
                Some(entry) => {
                    let name = Some(entry.name());
                    let strategy = entry.merge();
                    strategy
                        .map_err(|error| walk.blame_options(error, name, Some(module)))?
                        .cloned()
                        .unwrap_or(MergeStrategy::DEFAULT)
                }
                None => MergeStrategy::DEFAULT,
            };
            let heading = || {
                (
                    NodeKind::Scope {
                        name: format!("Searching for \"{}\"", key.as_str()),
                    },
                    None,
                )
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

    pub(super) fn in_level(
        &mut self,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        root: &TableKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        let level = planned.level;
        let kind = || NodeKind::Provider {
            name: match level.function().kind_and_name() {
                ("v4_data_hash", name) => format!("Deprecated API function \"{name}\""),
                _ => format!("Hierarchy entry \"{}\"", level.name()),
            },
            config_path: None,
            module: None,
        };
        self.node(
            || (kind(), None),
            |walk| {
                let Some(range) = planned.locations.clone() else {
                    let error = plan.unusable(level);
                    walk.tell_of_function(&error);
                    return Err(error);
                };
                let locations = plan.locations(range);
                walk.merge_over(locations.iter(), strategy, |walk, location| {
                    walk.in_location(plan, planned, location, root)
                })
            },
        )
    }

    pub(super) fn in_location(
        &mut self,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
        root: &TableKey,
    ) -> Step<Contribution> {
        self.spend(1)?;
        self.node(
            || (location_kind(location), None),
            |walk| {
                let found = match planned.level.function().remote() {
                    Some(remote) if location.is_uri => {
                        walk.in_remote(planned, location, remote, root.text())?
                    }
                    _ => walk.in_file(plan, planned, location, root)?,
                };
                Ok(found.map(Contribution::from))
            },
        )
    }

    fn in_file(
        &mut self,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
        root: &TableKey,
    ) -> Step {
        let contents = plan
            .contents(planned.level, location)
            .inspect_err(|error| self.tell_of_location(error, plan, planned, location))?;
        let Some(contents) = contents else {
            self.report(None, || Event::LocationNotFound);
            return Ok(None);
        };
        let Some(raw) = contents.get(root) else {
            self.report_not_found(root);
            return Ok(None);
        };
        if raw.traits().is_irregular {
            let path = location
                .file
                .map(|file| file.path().clone())
                .unwrap_or_default();
            self.tell_of_irregular(raw, root, plan, planned, location);
            return Err(LookupError::IrregularValue {
                key: root.to_string(),
                path,
            });
        }
        self.file = location.file.map(|file| file.path().clone());
        let value = self.interpolate(raw, root);
        self.file = None;
        let value = value.map_err(|error| self.with_file(error, planned, location))?;
        self.report(Some(root.text()), || Event::Found(value.clone()));
        Ok(Some(value))
    }

    /// The same error; of a value that cannot be decrypted also with its file, and with what is wrong with the keys of
    /// this node where they open nothing.
    fn with_file(
        &self,
        error: LookupError,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
    ) -> LookupError {
        match (error, location.file) {
            (
                LookupError::Undecryptable {
                    key,
                    text,
                    path: None,
                    fault,
                },
                Some(file),
            ) => {
                let why = planned.level.why_undecrypted(file, self.session.scope);
                LookupError::Undecryptable {
                    key,
                    text,
                    path: Some(file.path().clone()),
                    fault: why.unwrap_or(fault),
                }
            }
            (error, _) => error,
        }
    }
}

fn location_kind(location: &Location<'_>) -> NodeKind {
    let (original, path) = (location.original.clone(), location.path.clone());
    if location.is_uri {
        NodeKind::Uri {
            original: without_user(&original).into(),
            uri: without_user(&path),
        }
    } else {
        NodeKind::Path { original, path }
    }
}
