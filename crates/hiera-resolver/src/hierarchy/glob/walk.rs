//! The walk through the directories of a tree.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::matching::matches;
use super::pattern::{Component, Pattern};
use super::{
    Directory, DirectoryEntry, EntryKind, GlobError, MAX_ALTERNATIVES, MAX_PATH, MAX_WORK, braces,
};

/// A path that the walk has reached.
struct Visit {
    /// As the pattern writes it.
    path: String,
    /// What separates the path from a name below it.
    separator: &'static str,
    /// What is there, if a listing has shown it.
    kind: Option<EntryKind>,
    is_below_listing: bool,
}

impl Visit {
    fn root() -> Self {
        Visit {
            path: "/".to_owned(),
            separator: "",
            kind: None,
            is_below_listing: false,
        }
    }

    fn below(&self, name: &str, kind: Option<EntryKind>) -> Self {
        Visit {
            path: [&self.path, self.separator, name].concat(),
            separator: "/",
            kind,
            is_below_listing: self.is_below_listing,
        }
    }
}

/// One expansion of a pattern.
///
/// As in Ruby's `dir.c`, the walk has a list of positions in the pattern, more than one below `**/`, and an entry is
/// visited once for all of them.
pub(super) struct Walk<'t, T> {
    tree: &'t T,
    /// Sorted entries by path, since several alternatives may list the same directory.
    listings: BTreeMap<String, Rc<[DirectoryEntry]>>,
    alternatives: usize,
    work: usize,
    pub(super) found: Vec<String>,
    /// The first unreadable directory that the walk reached.
    pub(super) unreadable: Option<String>,
    /// There is a `..` behind a link to a directory.
    pub(super) leaves_link: bool,
}

impl<'t, T: Directory> Walk<'t, T> {
    pub(super) fn new(tree: &'t T) -> Self {
        Walk {
            tree,
            listings: BTreeMap::new(),
            alternatives: MAX_ALTERNATIVES,
            work: MAX_WORK,
            found: Vec::new(),
            unreadable: None,
            leaves_link: false,
        }
    }

    pub(super) fn start(&mut self, pattern: &str) -> Result<(), GlobError> {
        if pattern.starts_with('{') {
            for alternative in braces::expand(pattern, &mut self.alternatives)? {
                self.start(&alternative)?;
            }
            return Ok(());
        }
        match pattern.strip_prefix('/') {
            Some(rest) => self.walk_from(&Visit::root(), rest),
            None => Ok(()),
        }
    }

    /// Walks a pattern from a path on.
    fn walk_from(&mut self, visit: &Visit, pattern: &str) -> Result<(), GlobError> {
        let pattern = Pattern::new(pattern, &mut self.alternatives)?;
        self.walk(visit, &pattern, &[0])
    }

    /// Visits a path. `positions` are the components of the pattern that may come next.
    fn walk(
        &mut self,
        visit: &Visit,
        pattern: &Pattern,
        positions: &[usize],
    ) -> Result<(), GlobError> {
        if visit.path.len() > MAX_PATH {
            return Ok(());
        }
        let components = || {
            positions
                .iter()
                .filter_map(|position| pattern.component(*position))
        };
        let is_recursive = components().any(Component::is_recursive);
        if let Some(&position) = positions.first()
            && !is_recursive
            && components().any(Component::is_brace)
        {
            // Ruby goes on from the first position alone.
            for alternative in braces::expand(&pattern.text_from(position), &mut self.alternatives)?
            {
                self.walk_from(visit, &alternative)?;
            }
            return Ok(());
        }
        if positions.iter().any(|position| pattern.ends_at(*position))
            && visit.kind.or_else(|| self.kind_of(&visit.path)) == Some(EntryKind::File)
        {
            self.found.push(visit.path.clone());
        }
        if visit.kind == Some(EntryKind::File) {
            // What cannot be looked at may be a directory all the same.
            self.note_unreadable(&visit.path);
            return Ok(());
        }
        if components().any(|component| component.literal().is_none()) {
            return self.walk_entries(visit, pattern, positions, is_recursive);
        }
        for (index, position) in positions.iter().enumerate() {
            let name_at =
                |position: &usize| pattern.component(*position).and_then(Component::literal);
            let Some(name) = name_at(position) else {
                continue;
            };
            // A name that several positions ask for is visited once for all.
            let asks_too = |position: &&usize| name_at(position) == Some(name);
            if !positions
                .iter()
                .take(index)
                .any(|position| asks_too(&position))
            {
                let next = positions
                    .iter()
                    .filter(asks_too)
                    .map(|position| position + 1);
                let next: Vec<usize> = next.collect();
                self.walk(&visit.below(name, None), pattern, &next)?;
            }
        }
        Ok(())
    }

    fn walk_entries(
        &mut self,
        visit: &Visit,
        pattern: &Pattern,
        positions: &[usize],
        is_recursive: bool,
    ) -> Result<(), GlobError> {
        let Some(directory) = self.normalize(&visit.path) else {
            return Ok(());
        };
        let entries = self.listing(&directory);
        let mut entries: Vec<_> = entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.kind))
            .collect();
        // Ruby sees `.` in the first directory that it lists, unless that is for a `**/`.
        if !visit.is_below_listing && !is_recursive && !entries.is_empty() {
            let position = entries.partition_point(|(name, _)| *name < ".");
            entries.insert(position, (".", EntryKind::Directory));
        }
        for (name, kind) in entries {
            let next = self.positions_after(pattern, positions, name, kind)?;
            if !next.is_empty() {
                let mut visit = visit.below(name, Some(kind));
                visit.is_below_listing = true;
                self.walk(&visit, pattern, &next)?;
            }
        }
        Ok(())
    }

    /// The positions at which the pattern goes on below an entry; none when it does not match.
    fn positions_after(
        &mut self,
        pattern: &Pattern,
        positions: &[usize],
        name: &str,
        kind: EntryKind,
    ) -> Result<Vec<usize>, GlobError> {
        let mut next: Vec<usize> = Vec::new();
        for &position in positions {
            let is_recursive = pattern
                .component(position)
                .is_some_and(Component::is_recursive);
            let is_entered = kind == EntryKind::Directory && !name.starts_with('.');
            if is_recursive && is_entered && !next.contains(&position) {
                next.push(position);
            }
            let position = position + usize::from(is_recursive);
            let Some(component) = pattern.component(position) else {
                continue;
            };
            let weight = component.weight();
            if work_budget::charge(weight as u64).is_err() {
                return Err(GlobError::TooMuchWork);
            }
            self.work = self
                .work
                .checked_sub(weight)
                .ok_or(GlobError::TooMuchWork)?;
            let mut texts = component.alternatives().iter();
            if !next.contains(&(position + 1)) && texts.any(|text| matches(text, name)) {
                next.push(position + 1);
            }
        }
        Ok(next)
    }

    /// What a path leads to, if it exists.
    fn kind_of(&mut self, path: &str) -> Option<EntryKind> {
        let (parent, name) = path.rsplit_once('/')?;
        if matches!(name, "" | "." | "..") {
            return None; // A directory, or nothing.
        }
        let directory = self.normalize(parent)?;
        let entries = self.listing(&directory);
        let index = entries.binary_search_by(|entry| entry.name.as_str().cmp(name));
        index
            .ok()
            .and_then(|index| entries.get(index))
            .map(|entry| entry.kind)
    }

    /// The path without `.`, `..` and doubled slashes. `None` when `..` leaves a directory that does not exist.
    fn normalize(&mut self, path: &str) -> Option<String> {
        let mut plain = String::with_capacity(path.len());
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    self.leaves_link |= self.kind_of(&plain) == Some(EntryKind::LinkToDirectory);
                    if self.leaves_link || !self.is_directory(&plain) {
                        return None;
                    }
                    plain.truncate(plain.rfind('/').unwrap_or(0));
                }
                name => {
                    plain.push('/');
                    plain.push_str(name);
                }
            }
        }
        if plain.is_empty() {
            plain.push('/');
        }
        Some(plain)
    }

    /// Is there a directory at this normalized path? Directories above the tree are known but not listed.
    fn is_directory(&mut self, path: &str) -> bool {
        path.is_empty()
            || !self.listing(path).is_empty()
            || self
                .kind_of(path)
                .is_some_and(|kind| kind != EntryKind::File)
    }

    fn listing(&mut self, path: &str) -> Rc<[DirectoryEntry]> {
        if let Some(entries) = self.listings.get(path) {
            return Rc::clone(entries);
        }
        let mut entries = self.tree.entries(path);
        self.note_unreadable(path);
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        let entries: Rc<[DirectoryEntry]> = entries.into();
        self.listings.insert(path.to_owned(), Rc::clone(&entries));
        entries
    }

    fn note_unreadable(&mut self, path: &str) {
        if self.unreadable.is_none() && self.tree.is_unreadable(path) {
            self.unreadable = Some(path.to_owned());
        }
    }
}
