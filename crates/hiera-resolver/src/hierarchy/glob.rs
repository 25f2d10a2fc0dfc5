//! Globs over an abstract tree, with the meaning and the order of Ruby's `Dir.glob`.
//!
//! The order is priority: a level searches its files in the order of its globs. Entries are sorted within their directory
//! and the walk is depth first, so `a/1.yaml` comes before `a.yaml`. Braces are expanded in written order where the walk
//! reaches them: `*/{b,a}.yaml` gives b before a in each directory. Below `**/` they are matched name by name instead, so
//! there the order is that of the names.

mod braces;
mod matching;
mod pattern;
mod walk;

use arcstr::ArcStr;

use self::walk::Walk;

/// How many alternatives the braces of one pattern may expand to.
const MAX_ALTERNATIVES: usize = 10_000;
/// How many characters of patterns may be compared with names in one expansion. A level with 10,000 files takes 100,000.
const MAX_WORK: usize = 5_000_000;
/// The longest path that Linux accepts. It limits the depth of the walk as well.
const MAX_PATH: usize = 4096;

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Anything that is not a directory, such as a link to a file and a dangling link.
    File,
    /// A directory.
    Directory,
    /// A symbolic link to a directory. `*/` goes through it, `**/` does not.
    LinkToDirectory,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name in the directory.
    pub name: ArcStr,
    /// What it is.
    pub kind: EntryKind,
}

/// What a glob needs of a tree.
pub trait Directory {
    /// The entries of the directory at this absolute path, in any order; none if it does not exist.
    ///
    /// The path has no `.`, `..` or doubled slashes, but may lead through links to directories.
    fn entries(&self, path: &str) -> Vec<DirectoryEntry>;

    /// Are the entries of this directory unknown?
    fn is_unreadable(&self, _path: &str) -> bool {
        false
    }
}

/// The files that an absolute pattern matches, by their paths, most important first.
///
/// That is `Pathname.glob(pattern).reject(&:directory?)`. A path is written as the pattern was, so
/// `/data//a/./*.yaml` gives `/data//a/./x.yaml`.
///
/// Puppet: goes from `link/..` to the parent of the link's target. The tree does not know targets, so that is an error.
///
/// A pattern that is not absolute matches nothing. One that goes through an unreadable directory returns that directory:
/// reading it gives the reason.
pub fn expand(pattern: &str, tree: &impl Directory) -> Result<Vec<String>, GlobError> {
    let mut walk = Walk::new(tree);
    let outcome = walk.start(pattern);
    if let Some(directory) = walk.unreadable {
        return Ok(vec![directory]);
    }
    if walk.leaves_link {
        return Err(GlobError::ParentOfLink);
    }
    outcome.map(|()| walk.found)
}

/// A pattern that exceeds a limit or is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Its braces expand to too many alternatives.
    #[error(
        "its braces have more than {MAX_ALTERNATIVES} alternatives; split the level into several"
    )]
    TooManyAlternatives,
    /// It goes to the parent of a link's target, which is not known.
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

/// Characters that are special in a pattern, except for the comma, which is special only inside braces.
const SPECIAL: [char; 10] = ['*', '?', '[', ']', '{', '}', '\\', '-', '!', '^'];

/// Appends text to a pattern so that it matches only itself.
///
/// A comma still separates alternatives if the pattern itself has braces around it.
pub(crate) fn escape_into(pattern: &mut String, text: &str) {
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

#[cfg(test)]
mod tests;
