//! Globs over an abstract tree, with the meaning and the order of Ruby's `Dir.glob`.
//!
//! The order is priority: a hierarchy level searches its files in the order of its globs. Entries are sorted
//! within their directory and the walk goes depth first, so `a/1.yaml` comes before `a.yaml`. Braces are
//! expanded in written order where the walk meets them: `*/{b,a}.yaml` gives b before a in each directory.
//! Below `**/` they are matched name by name instead, so there the order is that of the names.
//!
//! As in Ruby's `dir.c`, the walk carries a list of places in the pattern, more than one below `**/`, and an
//! entry is visited once for all of them.

mod braces;
mod matching;
mod pattern;

use std::collections::BTreeMap;
use std::rc::Rc;

use arcstr::ArcStr;

use matching::matches;
use pattern::{Component, Pattern};

/// Alternatives that the braces of one pattern may expand to.
const MAX_ALTERNATIVES: usize = 10_000;
/// Characters of patterns held against names in one expansion. A level with 10,000 files takes 100,000.
const MAX_WORK: usize = 5_000_000;
/// The longest path that Linux accepts; bounds the depth of the walk as well.
const MAX_PATH: usize = 4096;

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Anything that is not a directory; a link to a file is one, as is a link to nothing.
    File,
    /// A directory.
    Directory,
    /// A symbolic link to a directory. `*/` goes through it, `**/` does not.
    LinkToDirectory,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the directory.
    pub name: ArcStr,
    /// What it is.
    pub kind: EntryKind,
}

/// What a glob may ask of a tree.
pub trait Directory {
    /// The entries of the directory at this absolute path, in any order; none where there is no directory.
    ///
    /// The path has no `.`, `..` or doubled slashes, but may lead through links to directories.
    fn entries(&self, path: &str) -> Vec<Entry>;

    /// Is it unknown what lies in this directory?
    fn is_unreadable(&self, _path: &str) -> bool {
        false
    }
}

/// The files that an absolute pattern matches, by their paths, most important first.
///
/// That is `Pathname.glob(pattern).reject(&:directory?)`. A path is written as the pattern was, so
/// `/data//a/./*.yaml` gives `/data//a/./x.yaml`.
///
/// Puppet: goes from `link/..` to the parent of the link's target. A tree that knows no targets cannot tell, so that is
/// an error.
///
/// A pattern that is not absolute matches nothing. One that goes through a directory which is unreadable gives that
/// directory: whoever opens it learns why.
pub fn expand(pattern: &str, tree: &impl Directory) -> Result<Vec<String>, GlobError> {
    let mut walk = Walk {
        tree,
        listings: BTreeMap::new(),
        alternatives: MAX_ALTERNATIVES,
        work: MAX_WORK,
        found: Vec::new(),
        unreadable: None,
        leaves_link: false,
    };
    let outcome = walk.start(pattern);
    if let Some(directory) = walk.unreadable {
        return Ok(vec![directory]);
    }
    if walk.leaves_link {
        return Err(GlobError::ParentOfLink);
    }
    outcome.map(|()| walk.found)
}

/// A pattern that asks for more than the bounds above allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Its braces stand for too many texts.
    #[error(
        "its braces have more than {MAX_ALTERNATIVES} alternatives; split the level into several"
    )]
    TooManyAlternatives,
    /// It goes on from the parent of what a link leads to, which is not known.
    #[error(
        "it has `..` behind a link to a directory, which is not supported; write the path without it"
    )]
    ParentOfLink,
    /// It takes too long to compare it with all names.
    #[error(
        "it takes more than {MAX_WORK} steps to compare it with the names of all files; make it more specific, or \
         split the level into several"
    )]
    TooMuchWork,
}

/// Characters that are special in a pattern, but for the comma, which is special only inside braces.
const SPECIAL: [char; 10] = ['*', '?', '[', ']', '{', '}', '\\', '-', '!', '^'];

/// Appends text to a pattern so that it stands for itself.
///
/// A comma still separates alternatives where the pattern itself has braces around it.
pub fn escape_into(pattern: &mut String, text: &str) {
    // A backslash that the pattern ends in escapes the first character already.
    let backslashes = pattern.len() - pattern.trim_end_matches('\\').len();
    let mut is_escaped = backslashes % 2 == 1;
    for letter in text.chars() {
        if SPECIAL.contains(&letter) && !is_escaped {
            pattern.push('\\');
        }
        pattern.push(letter);
        is_escaped = false;
    }
}

/// A path that the walk has come to.
struct Visit {
    /// As the pattern writes it.
    path: String,
    /// What stands between the path and a name below it.
    separator: &'static str,
    /// What is there, once a listing has told.
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

struct Walk<'t, T> {
    tree: &'t T,
    /// Sorted entries by path, since every pattern that comes by asks for them.
    listings: BTreeMap<String, Rc<[Entry]>>,
    alternatives: usize,
    work: usize,
    found: Vec<String>,
    /// The first directory come to that is unreadable.
    unreadable: Option<String>,
    /// There is a `..` behind a link to a directory.
    leaves_link: bool,
}

impl<T: Directory> Walk<'_, T> {
    fn start(&mut self, pattern: &str) -> Result<(), GlobError> {
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

    /// Visits a path. `places` are the components of the pattern that may come next.
    fn walk(
        &mut self,
        visit: &Visit,
        pattern: &Pattern,
        places: &[usize],
    ) -> Result<(), GlobError> {
        if visit.path.len() > MAX_PATH {
            return Ok(());
        }
        let components = || places.iter().filter_map(|place| pattern.component(*place));
        let is_recursive = components().any(Component::is_recursive);
        if let Some(&place) = places.first()
            && !is_recursive
            && components().any(Component::is_brace)
        {
            // Ruby goes on from the first place alone.
            for alternative in braces::expand(&pattern.text_from(place), &mut self.alternatives)? {
                self.walk_from(visit, &alternative)?;
            }
            return Ok(());
        }
        if places.iter().any(|place| pattern.ends_at(*place))
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
            return self.walk_entries(visit, pattern, places, is_recursive);
        }
        for (index, place) in places.iter().enumerate() {
            let name_at = |place: &usize| pattern.component(*place).and_then(Component::literal);
            let Some(name) = name_at(place) else {
                continue;
            };
            // A name that several places ask for is visited once for all.
            let asks_too = |place: &&usize| name_at(place) == Some(name);
            if !places.iter().take(index).any(|place| asks_too(&place)) {
                let next = places.iter().filter(asks_too).map(|place| place + 1);
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
        places: &[usize],
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
            let place = entries.partition_point(|(name, _)| *name < ".");
            entries.insert(place, (".", EntryKind::Directory));
        }
        for (name, kind) in entries {
            let next = self.places_after(pattern, places, name, kind)?;
            if !next.is_empty() {
                let mut visit = visit.below(name, Some(kind));
                visit.is_below_listing = true;
                self.walk(&visit, pattern, &next)?;
            }
        }
        Ok(())
    }

    /// The places at which the pattern goes on below an entry; none when it does not match.
    fn places_after(
        &mut self,
        pattern: &Pattern,
        places: &[usize],
        name: &str,
        kind: EntryKind,
    ) -> Result<Vec<usize>, GlobError> {
        let mut next: Vec<usize> = Vec::new();
        for &place in places {
            let is_recursive = pattern
                .component(place)
                .is_some_and(Component::is_recursive);
            let is_entered = kind == EntryKind::Directory && !name.starts_with('.');
            if is_recursive && is_entered && !next.contains(&place) {
                next.push(place);
            }
            let place = place + usize::from(is_recursive);
            let Some(component) = pattern.component(place) else {
                continue;
            };
            self.work = self
                .work
                .checked_sub(component.weight())
                .ok_or(GlobError::TooMuchWork)?;
            let mut texts = component.alternatives().iter();
            if !next.contains(&(place + 1)) && texts.any(|text| matches(text, name)) {
                next.push(place + 1);
            }
        }
        Ok(next)
    }

    /// What stands at a path, if anything does.
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

    /// The path without `.`, `..` and doubled slashes. Nothing when `..` leaves a directory that is not there.
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

    /// Is there a directory at this normalized path? What lies above the tree is not listed, only known.
    fn is_directory(&mut self, path: &str) -> bool {
        path.is_empty()
            || !self.listing(path).is_empty()
            || self
                .kind_of(path)
                .is_some_and(|kind| kind != EntryKind::File)
    }

    fn listing(&mut self, path: &str) -> Rc<[Entry]> {
        if let Some(entries) = self.listings.get(path) {
            return Rc::clone(entries);
        }
        let mut entries = self.tree.entries(path);
        self.note_unreadable(path);
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        let entries: Rc<[Entry]> = entries.into();
        self.listings.insert(path.to_owned(), Rc::clone(&entries));
        entries
    }

    fn note_unreadable(&mut self, path: &str) {
        if self.unreadable.is_none() && self.tree.is_unreadable(path) {
            self.unreadable = Some(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
