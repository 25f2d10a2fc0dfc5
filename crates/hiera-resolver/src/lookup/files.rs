//! Most lookups: the values of a key directly from the files that the node sees, without going through levels.
//!
//! Only used if nothing is recorded. The result is the same as through `levels.rs`.

use puppet_values::Value;
use puppet_values::table_key::TableKey;

use super::Step;
use super::walk::Walk;
use crate::hierarchy::visible_files::VisibleContents;
use crate::lookup::LookupError;
use crate::merge::{Contribution, MergeStrategy};

impl<'a> Walk<'_, 'a> {
    /// The value of a key in these files. Outer `None` if it has to be found level by level, so that an error can say
    /// where it is.
    pub(super) fn in_files(
        &mut self,
        files: &VisibleContents<'a>,
        root: &TableKey,
        strategy: &MergeStrategy,
    ) -> Step<Option<Contribution>> {
        self.spend(files.existing.len() as u64)?;
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
        files: &VisibleContents<'a>,
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
        files: &VisibleContents<'a>,
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
}
