//! [`VisibleFiles`]: the files of a layer that one node sees. Most lookups need nothing else of the layer.
//!
//! The index of a layer finds them by name (`snapshot/layer_index.rs`), a plan by path (`hierarchy/plan.rs`).

use std::ops::Range;

use puppet_values::Value;
use puppet_values::table_key::TableKey;
use smallvec::SmallVec;

use crate::data::Contents;
use crate::lookup::options::LookupOptions;

/// What the files of a layer contain for a node.
#[derive(Default)]
pub(crate) struct VisibleFiles<'a> {
    /// Their `lookup_options`, compiled, the highest level first; `None` if some depend on the lookup.
    pub(crate) options: Option<SmallVec<[&'a LookupOptions; 4]>>,
    /// Their contents; `None` if the layer has more to search than files.
    pub(crate) contents: Option<VisibleContents<'a>>,
}

/// The contents of all files that a node sees.
#[derive(Default)]
pub(crate) struct VisibleContents<'a> {
    /// The files that exist, the highest level first.
    pub(crate) existing: SmallVec<[&'a Contents; 8]>,
    /// The paths that lead to them: the bit of each path, by its index.
    pub(crate) existing_paths: u64,
    /// The indices of the paths of each level; empty if only the plan knows them.
    pub(crate) levels: &'a [Range<usize>],
}

impl<'a> VisibleContents<'a> {
    /// The first value of a key.
    pub(crate) fn first(&self, key: &TableKey) -> Option<&'a Value> {
        self.existing.iter().find_map(|contents| contents.get(key))
    }

    /// The value of a key at each path.
    pub(crate) fn all(&self, key: &TableKey) -> SmallVec<[Option<&'a Value>; 8]> {
        let paths = self.levels.last().map_or(0, |level| level.end);
        let mut existing = self.existing.iter();
        let exists = |index| self.existing_paths >> index & 1 == 1;
        (0..paths)
            .map(|index| exists(index).then(|| existing.next())??.get(key))
            .collect()
    }
}
