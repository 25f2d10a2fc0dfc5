//! [`Reach`]: every path that a location could be filled in to, for any values of its variables.
//!
//! A lookup fills in a location (`plan.rs`); loading has to read every file that this could lead to. Both work on the
//! same parsed [`ConfigText`]s, and the tests compare them: what can be filled in is within reach. A reach may contain
//! paths that no lookup names, which costs memory. It never lacks one that a lookup can name.

mod builder;

use self::builder::ReachBuilder;
use crate::hierarchy::{ConfigText, Level, Locations, path};
use crate::scope::bare_name;
use crate::template::Variable;

/// The paths that a location could be filled in to: fixed text with gaps, each of which stands for any text.
#[derive(Debug, PartialEq, Eq)]
pub struct Reach {
    /// The directory that contains all of the paths, or is the only one.
    root: String,
    /// The text before the first gap. Starts with the root.
    before: String,
    /// The text after each gap. Empty if there is no gap, and `before` is the only path.
    after: Vec<String>,
    is_glob: bool,
    /// The directories before each `..`: if one does not exist, the path does not either.
    before_parents: Vec<String>,
    /// It ends in a slash, and so names directories only.
    wants_directory: bool,
}

impl Level {
    /// What its locations could be filled in to in an environment.
    pub fn reaches(&self, environment: &str) -> Vec<Reach> {
        let reach = |text: &ConfigText, is_glob: bool, local: Option<&str>| {
            let known = KnownVariables { environment, local };
            Reach::build(
                self.datadir(),
                text,
                self.extension().filter(|_| !is_glob),
                is_glob,
                &known,
            )
        };
        match self.locations() {
            Locations::None | Locations::Uris(_) => Vec::new(),
            Locations::Paths(paths) => paths.iter().map(|it| reach(it, false, None)).collect(),
            Locations::Globs(globs) => globs.iter().map(|it| reach(it, true, None)).collect(),
            Locations::Mapped { name, path, .. } => vec![reach(path, false, Some(name))],
        }
    }
}

impl Reach {
    /// What a path in a directory could be filled in to; both may have tokens.
    pub fn of_path(directory: &ConfigText, path: &ConfigText, environment: &str) -> Self {
        let known = KnownVariables {
            environment,
            local: None,
        };
        Reach::build(directory, path, None, false, &known)
    }

    fn build(
        datadir: &ConfigText,
        location: &ConfigText,
        extension: Option<&str>,
        is_glob: bool,
        known: &KnownVariables<'_>,
    ) -> Self {
        let mut builder = ReachBuilder::new(is_glob);
        if !location.source().starts_with('/') {
            builder.push_all(datadir, known);
            builder.push_written("/");
        }
        builder.push_all(location, known);
        if let Some(extension) = extension {
            builder.push_extension(extension);
        }
        let mut reach = builder.build();
        let joined = path::join(datadir.source(), location.source());
        reach.wants_directory = joined.ends_with('/') || joined.ends_with("/.");
        reach
    }

    /// The directory that contains all of the paths, or is the only one.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The path, if there is only one.
    pub fn only_path(&self) -> Option<&str> {
        self.after.is_empty().then_some(&*self.before)
    }

    /// Is it the reach of a glob? Globs find no directories, and compare every name in a listing.
    pub fn is_glob(&self) -> bool {
        self.is_glob
    }

    /// What is left to match below a directory. Two directories with equal progress have the same matches below them.
    pub fn progress(&self, directory: &str) -> ReachProgress<'_> {
        let path = [directory.trim_end_matches('/'), "/"].concat();
        let Some(mut rest) = path.strip_prefix(self.before.as_str()) else {
            let left = self.before.strip_prefix(path.as_str());
            return left.map_or(ReachProgress::None, ReachProgress::Before);
        };
        let mut is_after_slash = self.before.ends_with('/');
        let mut after = self.after.as_slice();
        while let [text, _, ..] = after {
            let Some(behind) = match_text(rest, text, is_after_slash) else {
                break;
            };
            rest = behind;
            is_after_slash = text.ends_with('/');
            after = after.get(1..).unwrap_or_default();
        }
        let next = after.first().map(String::as_str).unwrap_or_default();
        let is_begun = |end: &usize| next.get(..*end).is_some_and(|start| rest.ends_with(start));
        ReachProgress::After {
            left: after,
            begun: (1..next.len()).filter(is_begun).collect(),
            collapsed: next
                .strip_prefix('/')
                .and_then(|tail| tail.strip_prefix(rest))
                .filter(|_| is_after_slash),
        }
    }

    /// The directories whose listings decide whether its paths exist, in addition to those below the root that gaps may
    /// lead to.
    pub fn listings(&self) -> impl Iterator<Item = &str> {
        let root = self.is_glob || self.wants_directory;
        let listed = self.before_parents.iter().map(|it| path::parent(it));
        listed.chain(root.then_some(self.root()))
    }

    /// Does it contain a path? The path is absolute and has no `.`, `..` or doubled slashes.
    pub fn contains(&self, path: &str) -> bool {
        let Some(last) = self.after.last() else {
            return path == self.before;
        };
        // An empty gap at the end leaves a slash before it, which paths do not end in.
        self.fits(path) || last.is_empty() && self.fits(&[path, "/"].concat())
    }

    fn fits(&self, path: &str) -> bool {
        let (Some(mut rest), Some((last, middle))) = (
            path.strip_prefix(self.before.as_str()),
            self.after.split_last(),
        ) else {
            return false;
        };
        let mut is_after_slash = self.before.ends_with('/');
        for text in middle {
            let Some(behind) = match_text(rest, text, is_after_slash) else {
                return false;
            };
            rest = behind;
            is_after_slash = text.ends_with('/');
        }
        rest.ends_with(last.as_str()) || is_after_slash && last.strip_prefix('/') == Some(rest)
    }
}

/// The rest behind a gap and a text, matched as early as possible.
fn match_text<'r>(rest: &'r str, text: &str, is_after_slash: bool) -> Option<&'r str> {
    // An empty gap between two slashes leaves one of them.
    let collapsed = text.strip_prefix('/').filter(|_| is_after_slash);
    let behind = collapsed.and_then(|tail| rest.strip_prefix(tail));
    behind.or_else(|| Some(rest.split_once(text)?.1))
}

/// The part of a [`Reach`] that is left to match.
#[derive(Debug, PartialEq, Eq)]
pub enum ReachProgress<'a> {
    /// Nothing can match.
    None,
    /// The rest of the text before the first gap.
    Before(&'a str),
    /// What comes after a gap.
    After {
        /// The texts that are left.
        left: &'a [String],
        /// How much of the first of them may have been matched.
        begun: Vec<usize>,
        /// What is left of it if the gap is empty and between two slashes.
        collapsed: Option<&'a str>,
    },
}

/// The variables that are known before a request comes.
struct KnownVariables<'a> {
    environment: &'a str,
    /// The variable that `mapped_paths` sets, which hides others.
    local: Option<&'a str>,
}

impl KnownVariables<'_> {
    /// The value of a variable that no request can set.
    fn value(&self, variable: &Variable) -> Option<&str> {
        let (name, segments) = variable.path.as_ref().ok()?;
        if self.local.is_some_and(|local| local == name.as_str()) {
            return None;
        }
        let is_environment = segments.is_empty() && bare_name(name) == "environment"
            || bare_name(&variable.text) == "server_facts.environment";
        is_environment.then_some(self.environment)
    }
}

#[cfg(test)]
mod tests;
