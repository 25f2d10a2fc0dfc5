//! Which files a hierarchy may ever name: its paths with every variable as a wildcard, searched on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hiera_resolver::config::{Level, Locations, Text};
use hiera_resolver::glob::EntryKind;
use hiera_resolver::template::{Part, Template};
use hiera_resolver::{Format, Layer, path};

use super::absence::may_exist;
use super::listings::{Listings, nearest_directory};
use crate::environments::Fault;

/// Directories below each other that are followed. Real trees have fewer than ten.
const MAX_DEPTH: usize = 64;
/// Ways that lead to one directory which are followed. Links make more than one.
const MAX_VISITS: usize = 32;

/// The files that some lookup could come to, each with what it is read as.
pub(super) fn find_files<'a>(
    layers: impl Iterator<Item = &'a Layer>,
    listings: &Listings,
) -> Found {
    let mut found = Found::default();
    for (format, pattern) in patterns(layers) {
        found.search(&pattern, format, listings);
    }
    found.files.sort_unstable();
    found.files.dedup();
    found
}

/// What a file of this path is read as, in a directory that was searched (`is_listed`) or one in which only paths
/// without variables end. What [`find_files`] would come to, for one file that is new.
pub(super) fn formats_of<'a>(
    layers: impl Iterator<Item = &'a Layer>,
    path: &str,
    is_listed: bool,
) -> Vec<Format> {
    let mut formats: Vec<Format> = patterns(layers)
        .filter(|(_, pattern)| match pattern.as_path() {
            Some(only) => only == path,
            None => {
                pattern.root != "/"
                    && (pattern.root == path || is_listed && pattern.is_above(path))
                    && pattern.matches(path)
            }
        })
        .map(|(format, _)| format)
        .collect();
    formats.sort_unstable();
    formats.dedup();
    formats
}

fn patterns<'a>(
    layers: impl Iterator<Item = &'a Layer>,
) -> impl Iterator<Item = (Format, Pattern)> {
    layers
        .filter_map(|layer| layer.config())
        .flat_map(|config| config.all_levels())
        .flat_map(|level| {
            let format = level.format();
            patterns_of(level)
                .into_iter()
                .map(move |pattern| (format, pattern))
        })
}

/// The files that a path with variables could name, and the directories in which further ones could appear.
pub(super) fn find_named(
    base: &Text,
    path: &Text,
    listings: &Listings,
) -> (Vec<String>, Vec<PathBuf>) {
    let mut found = Found::default();
    let pattern = Pattern::of(base, path, None, false);
    found.search(&pattern, Format::Unknown, listings);
    let files = found.files.into_iter().map(|(path, _)| path);
    (files.collect(), found.directories)
}

/// A path with wildcards.
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    /// The directory that is sure to be in it.
    root: String,
    /// Its text; a gap stands before each piece but the first. The first alternative is the pattern as written,
    /// the others are what becomes of it where a variable between two slashes is empty.
    alternatives: Vec<Vec<String>>,
}

impl Pattern {
    fn of(datadir: &Text, location: &Text, extension: Option<&str>, is_glob: bool) -> Self {
        let mut joined = path::join(datadir.source(), location.source());
        if let Some(extension) = extension
            && !joined.ends_with(extension)
        {
            joined.push_str(extension);
        }
        let mut pieces = vec![String::new()];
        let parts = Template::parse(&joined);
        let parts = parts
            .as_ref()
            .map_or_else(Vec::new, |template| template.parts().to_vec());
        if parts.is_empty() {
            push_text(&mut pieces, &path::normalize(&joined), is_glob);
        }
        for part in parts {
            match part {
                Part::Text(text) => push_text(&mut pieces, &text, is_glob),
                Part::Token(_) => pieces.push(String::new()),
            }
        }
        let first = pieces.first().cloned().unwrap_or_default();
        let root = match first.rsplit_once('/') {
            Some((directory, _)) if !directory.is_empty() => {
                path::normalize(directory).into_owned()
            }
            _ => "/".to_owned(),
        };
        if let (Some(piece), Some((_, name))) = (pieces.first_mut(), first.rsplit_once('/')) {
            *piece = format!("{}/{name}", if root == "/" { "" } else { &root });
        }
        Pattern {
            root,
            alternatives: without_empty_components(pieces),
        }
    }

    /// The path, where there is nothing to fill in.
    fn as_path(&self) -> Option<&str> {
        match self.alternatives.as_slice() {
            [pieces] => match pieces.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// Does a path lie in the directory that is searched?
    fn is_above(&self, path: &str) -> bool {
        path.strip_prefix(self.root.as_str())
            .is_some_and(|rest| rest.starts_with('/'))
    }

    fn matches(&self, path: &str) -> bool {
        self.alternatives
            .iter()
            .any(|pieces| Pattern::fits(pieces, path))
    }

    fn fits(pieces: &[String], path: &str) -> bool {
        let Some((first, rest)) = pieces.split_first() else {
            return false;
        };
        let Some(mut left) = path.strip_prefix(first.as_str()) else {
            // A gap may be empty where it stands for a whole path: then the directory itself is meant.
            return !rest.is_empty()
                && rest.iter().all(String::is_empty)
                && first.strip_suffix('/') == Some(path);
        };
        let Some((last, middle)) = rest.split_last() else {
            return left.is_empty();
        };
        for piece in middle {
            match left.split_once(piece.as_str()) {
                Some((_, behind)) => left = behind,
                None => return false,
            }
        }
        left.ends_with(last.as_str())
    }
}

/// Variables between slashes that are taken into account for being empty.
const MAX_EMPTY: usize = 4;

/// The pattern as it is, and with every choice of gaps between two slashes closed.
fn without_empty_components(pieces: Vec<String>) -> Vec<Vec<String>> {
    let mut alternatives = vec![pieces];
    let mut place = 0;
    while let Some(pieces) = alternatives.get(place).cloned()
        && alternatives.len() < 1 << MAX_EMPTY
    {
        for gap in 1..pieces.len() {
            let (before, behind) = (pieces.get(gap - 1), pieces.get(gap));
            let (Some(before), Some(behind)) =
                (before, behind.and_then(|piece| piece.strip_prefix('/')))
            else {
                continue;
            };
            if before.ends_with('/') {
                let mut closed = pieces.clone();
                closed.splice(gap - 1..=gap, [format!("{before}{behind}")]);
                if !alternatives.contains(&closed) {
                    alternatives.push(closed);
                }
            }
        }
        place += 1;
    }
    alternatives
}

/// Appends text; in a glob, whatever is special in it is a gap.
fn push_text(pieces: &mut Vec<String>, text: &str, is_glob: bool) {
    let mut rest = text;
    if is_glob && let Some(place) = text.find(['*', '?', '[', '{', '\\']) {
        let (before, special) = text.split_at_checked(place).unwrap_or((text, ""));
        append(pieces, before);
        pieces.push(String::new());
        // What follows the last special character is sure again, unless it ends in a brace or bracket.
        rest = special
            .rsplit(['*', '?', ']', '}', ',', '{', '[', '\\'])
            .next()
            .unwrap_or_default();
    }
    append(pieces, rest);
}

fn append(pieces: &mut [String], text: &str) {
    if let Some(last) = pieces.last_mut() {
        last.push_str(text);
    }
}

fn patterns_of(level: &Level) -> Vec<Pattern> {
    let of = |text: &Text, is_glob| Pattern::of(level.datadir(), text, level.extension(), is_glob);
    match level.locations() {
        Locations::None | Locations::Uris(_) => Vec::new(),
        Locations::Paths(paths) => paths.iter().map(|text| of(text, false)).collect(),
        Locations::Globs(globs) => globs.iter().map(|text| of(text, true)).collect(),
        Locations::Mapped { path, .. } => vec![of(path, false)],
    }
}

/// What a search came to.
#[derive(Default)]
pub(super) struct Found {
    /// The files, each with what it is read as, sorted.
    pub(super) files: Vec<(String, Format)>,
    /// The directories in which further ones could appear, beside those that were listed.
    pub(super) directories: Vec<PathBuf>,
    /// Where the search ended early, and why: what lies at or below these paths is unknown.
    pub(super) faults: Vec<Fault>,
    /// How often each directory was come to in this search.
    visits: HashMap<(u64, u64), usize>,
}

impl Found {
    fn search(&mut self, pattern: &Pattern, format: Format, listings: &Listings) {
        if let Some(only) = pattern.as_path() {
            if may_exist(Path::new(only)) {
                self.files.push((only.to_owned(), format));
            }
            self.directories.extend(nearest_directory(Path::new(only)));
            return;
        }
        if pattern.root == "/" {
            // A variable right below the root of the disk: nobody means that, and it would be searched whole.
            return;
        }
        if pattern.matches(&pattern.root) && may_exist(Path::new(&pattern.root)) {
            self.files.push((pattern.root.clone(), format));
        }
        self.directories
            .extend(nearest_directory(&Path::new(&pattern.root).join("x")));
        self.descend(&pattern.root, pattern, format, listings, &mut Vec::new());
    }

    fn descend(
        &mut self,
        directory: &str,
        pattern: &Pattern,
        format: Format,
        listings: &Listings,
        above: &mut Vec<(u64, u64)>,
    ) {
        let Some(identity) = listings.identity(directory) else {
            return;
        };
        // A link to a directory it lies in would go on forever, and many links to each other nearly so.
        let visits = self.visits.entry(identity).or_default();
        *visits += 1;
        if above.contains(&identity) || above.len() >= MAX_DEPTH || *visits > MAX_VISITS {
            return;
        }
        above.push(identity);
        for entry in listings.list(directory).iter() {
            let path = [directory, "/", &entry.name].concat();
            if entry.kind != EntryKind::File {
                self.descend(&path, pattern, format, listings, above);
            }
            if pattern.matches(&path) {
                self.files.push((path, format));
            }
        }
        above.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(location: &str, is_glob: bool) -> Pattern {
        Pattern::of(&Text::new("/env/data"), &Text::new(location), None, is_glob)
    }

    fn check(location: &str, is_glob: bool, root: &str, fits: &[&str], does_not: &[&str]) {
        let pattern = pattern(location, is_glob);
        assert_eq!(pattern.root, root, "{location}");
        for path in fits {
            assert!(pattern.matches(path), "{location} fits {path}");
        }
        for path in does_not {
            assert!(!pattern.matches(path), "{location} does not fit {path}");
        }
    }

    #[test]
    fn a_variable_may_stand_for_anything() {
        check(
            "nodes/%{trusted.certname}.yaml",
            false,
            "/env/data/nodes",
            &["/env/data/nodes/a.yaml", "/env/data/nodes/a/b.yaml"],
            &["/env/data/nodes/a.json", "/env/data/other/a.yaml"],
        );
        check(
            "os/%{a}/%{b}.yaml",
            false,
            "/env/data/os",
            &["/env/data/os/x/y.yaml", "/env/data/os/y.yaml"],
            &["/env/data/os/x/y.json"],
        );
        check(
            "os/%{a}/c.yaml",
            false,
            "/env/data/os",
            &["/env/data/os/c.yaml", "/env/data/os/x/c.yaml"],
            &["/env/data/os/xc.yaml"],
        );
        check(
            "%{x}",
            false,
            "/env/data",
            &["/env/data/a", "/env/data"],
            &["/env/other"],
        );
        check(
            "../%{x}.yaml",
            false,
            "/env",
            &["/env/a.yaml"],
            &["/a.yaml"],
        );
    }

    #[test]
    fn a_path_without_variables_is_itself() {
        check(
            "common.yaml",
            false,
            "/env/data",
            &["/env/data/common.yaml"],
            &["/env/data/common2.yaml"],
        );
    }

    #[test]
    fn globs_are_searched_from_their_first_special_character() {
        check(
            "g/*.yaml",
            true,
            "/env/data/g",
            &["/env/data/g/a.yaml"],
            &["/env/data/g/a.json"],
        );
        check(
            "{a,b}/c.yaml",
            true,
            "/env/data",
            &["/env/data/a/c.yaml"],
            &["/env/data/a/d.yaml"],
        );
        check(
            "x/**/c.{yaml,yml}",
            true,
            "/env/data/x",
            &["/env/data/x/c.yaml", "/env/data/x/y/c.yml"],
            &[],
        );
    }
}
