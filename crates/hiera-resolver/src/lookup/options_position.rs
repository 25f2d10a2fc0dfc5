//! Where the `lookup_options` are written that a lookup fails on. Worked out only then.

use super::error::LookupError;
use super::walk::Walk;
use crate::hierarchy::Layer;
use crate::hierarchy::plan::Plan;
use crate::lookup::options::OptionsError;

impl Walk<'_, '_> {
    /// The error with the position in the `lookup_options` that cause it: those of the highest file that has the entry.
    /// The same error if they have none.
    pub(super) fn locate_in_options(
        &self,
        error: LookupError,
        entry: Option<&str>,
        module: Option<&str>,
    ) -> LookupError {
        let tree = self.session.tree;
        let of_module = module.and_then(|module| tree.module(module));
        let mut layers = vec![Some(tree.global()), Some(tree.environment()), of_module];
        let entry = match &error {
            LookupError::Options(OptionsError::BadPattern { pattern, .. }) => Some(&**pattern),
            LookupError::Options(OptionsError::ForeignKey { key, .. }) => {
                layers.drain(..2);
                Some(&**key)
            }
            LookupError::Options(OptionsError::KeyOptionsNotAHash { .. })
            | LookupError::Merge(_)
            | LookupError::ConversionType { .. }
            | LookupError::Conversion { .. } => entry,
            LookupError::Options(_) => None,
            _ => return error,
        };
        let configs = layers.into_iter().flatten().filter_map(Layer::config);
        for config in configs {
            let Ok(plan) = Plan::make(config, tree, self.session.scope, false) else {
                continue;
            };
            let position = plan.all_files().find_map(|file| {
                let mark = file
                    .contents()
                    .ok()?
                    .options_diagnostics()?
                    .position(entry)?;
                Some((file.path().clone(), mark))
            });
            if let Some((path, mark)) = position {
                return LookupError::InOptions {
                    path,
                    line: mark.line,
                    column: mark.column,
                    error: Box::new(error),
                };
            }
        }
        error
    }
}
