//! [`LayerIndex`]: the files of a layer, found by the values of the variables in its paths.
//!
//! `nodes/%{trusted.certname}.yaml` is the same for every lookup except for a name. The name is computed and hashed once,
//! and its file is found by the hash, so that no path is built. Everything else is left to the plan.

mod names;
mod path_index;
mod path_pattern;

use std::ops::Range;
use std::sync::Arc;

use arcstr::ArcStr;
use smallvec::SmallVec;

use self::names::{NameSource, Names};
use self::path_index::PathIndex;
use self::path_pattern::PathPattern;
use crate::data::{DataFile, Format};
use crate::hierarchy::visible_files::{VisibleContents, VisibleFiles};
use crate::hierarchy::{HieraConfig, LayerKind, Level, Locations};
use crate::lookup::options::FileOptions;
use crate::scope::Scope;
use crate::snapshot::Tree;

/// Files in the order of their paths.
pub(super) type SortedFiles = indexmap::map::Slice<ArcStr, Arc<DataFile>>;

/// The files of a layer, by the paths of its hierarchy.
#[derive(Debug)]
pub struct LayerIndex {
    /// The sources of the names in all paths, each once.
    sources: Vec<NameSource>,
    paths: Vec<PathIndex>,
    /// The indices of the paths of each level; empty if they depend on the files that exist, or if there are too many
    /// paths for [`VisibleContents`].
    levels: Vec<Range<usize>>,
}

impl LayerIndex {
    /// Indexes a layer; `None` if it has levels that are not just plain paths. `files` returns all files of a format in
    /// the order of their paths.
    pub(super) fn build<'a>(
        config: &HieraConfig,
        files: impl Fn(Format) -> &'a SortedFiles,
    ) -> Option<Self> {
        if config.default_levels().is_some() || is_read_twice(config, &files) {
            return None;
        }
        let mut sources = Vec::new();
        let mut paths = Vec::new();
        let mut levels = Vec::new();
        for level in config.levels() {
            let start = paths.len();
            let Locations::Paths(texts) = level.locations() else {
                return None;
            };
            if !level.reads_plain_files() {
                return None;
            }
            for text in texts {
                let pattern = PathPattern::parse(level, text, &mut sources)?;
                paths.push(PathIndex::build(level, pattern, files(level.format())));
            }
            // The configuration that Puppet uses without a `hiera.yaml` has no level where there is no file.
            if config.path().is_some() {
                levels.push(start..paths.len());
            }
        }
        if paths.len() > u64::BITS as usize {
            levels.clear();
        }
        Some(LayerIndex {
            sources,
            paths,
            levels,
        })
    }

    /// The files that a node sees; `None` if the plan has to find them, or one of them has a fault.
    pub(crate) fn visible_files<'a>(
        &'a self,
        config: &HieraConfig,
        tree: &'a dyn Tree,
        scope: &dyn Scope,
    ) -> Option<VisibleFiles<'a>> {
        let names = Names::resolve(&self.sources, scope)?;
        let mut options = Some(SmallVec::new());
        let mut all = VisibleContents {
            levels: &self.levels,
            ..VisibleContents::default()
        };
        for (index, path) in self.paths.iter().enumerate() {
            let Some(file) = path.find(&names, tree)? else {
                continue;
            };
            let contents = file.contents().ok()?;
            if let LayerKind::Module(module) = config.kind() {
                if contents.has_other_keys() {
                    return None;
                }
                if let FileOptions::Ready(compiled) = contents.options() {
                    compiled.check_namespace(module).ok()?;
                }
            }
            match (contents.options(), &mut options) {
                (FileOptions::None, _) => {}
                (FileOptions::Ready(compiled), Some(options)) => options.push(compiled.as_ref()),
                _ => options = None,
            }
            all.existing.push(contents);
            all.existing_paths |= 1_u64.unbounded_shl(index as u32);
        }
        Some(VisibleFiles {
            options,
            contents: Some(all),
        })
    }
}

/// Is there a file that several functions read? The plan lets the first of them read it for all.
fn is_read_twice<'a>(config: &HieraConfig, files: &impl Fn(Format) -> &'a SortedFiles) -> bool {
    let formats = config.levels().iter().map(Level::format);
    let mut formats: Vec<Format> = formats.filter(|format| format.is_plain()).collect();
    formats.sort_unstable();
    formats.dedup();
    let mut others = formats.into_iter();
    while let Some(format) = others.next() {
        let is_here = |path: &ArcStr| files(format).binary_search_keys(path).is_ok();
        if others.clone().any(|other| files(other).keys().any(is_here)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
