//! The way of a key through the levels of a layer and their locations to a value.

use puppet_values::table_key::TableKey;

use super::Step;
use super::walk::Walk;
use crate::explain::words::headings;
use crate::explain::{Event, NodeKind};
use crate::hierarchy::plan::{Location, Plan, PlannedLevel};
use crate::lookup::LookupError;
use crate::merge::{Contribution, MergeStrategy};
use crate::remote::without_user;

impl<'a> Walk<'_, 'a> {
    /// What a level has for a key.
    pub(super) fn in_level(
        &mut self,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        root: &TableKey,
        strategy: &MergeStrategy,
    ) -> Step<Contribution> {
        let level = planned.level;
        self.node(
            || (headings::level(level), None),
            |walk| {
                let Some(range) = planned.locations.clone() else {
                    let error = LookupError::from(plan.unusable(level));
                    walk.note_unknown_function(&error);
                    return Err(error);
                };
                let locations = plan.locations(range);
                walk.merge_over(locations.iter(), strategy, |walk, location| {
                    walk.in_location(plan, planned, location, root)
                })
            },
        )
    }

    fn in_location(
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
            .inspect_err(|error| self.note_unusable_file(error, plan, planned, location))?;
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
            self.note_irregular_value(raw, root, plan, planned, location);
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

    /// Adds the file to the error of a value that cannot be decrypted, and what is wrong with the keys of this node if
    /// they decrypt nothing.
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
