//! Which files an environment's lookups may ever name: the reach of every location, searched on disk.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use hiera_resolver::config::{Level, Text};
use hiera_resolver::glob::EntryKind;
use hiera_resolver::reach::{Progress, Reach};
use hiera_resolver::{Format, HieraConfig, Layer};

use super::Fault;
use super::links;
use super::listings::{Listings, nearest_directory};
use crate::config::CodeDirectory;
use crate::filesystem::may_exist;

/// The longest path that the system opens. What lies deeper nobody can name.
const MAX_PATH: usize = 4096;

/// Where to search, and how far.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) code: &'a CodeDirectory,
    pub(super) environment: &'a str,
    pub(super) listings: &'a Listings,
}

/// What a search came to.
#[derive(Default)]
pub(super) struct Found {
    /// The files, each with what it is read as, sorted.
    pub(super) files: Vec<(String, Format)>,
    /// The directories in which further ones could appear, beside those that were listed.
    pub(super) directories: Vec<PathBuf>,
    /// Links to a directory that they lie in, each with that directory, by the names that led to them.
    pub(super) loops: Vec<(String, String)>,
    /// Where the search ended early, and why: what lies at or below these paths is unknown.
    pub(super) faults: Vec<Fault>,
    /// The directories that were searched, each by every path that led to it.
    searched: HashSet<String>,
    /// How many files and directories there are in them.
    entries: usize,
}

/// The locations that are searched from one directory.
type Group = Vec<(Reach, Format)>;

impl Search<'_> {
    /// The files that some lookup could come to, each with what it is read as.
    pub(super) fn find_files<'a>(&self, layers: impl Iterator<Item = &'a Layer>) -> Found {
        let mut found = Found::default();
        // From each directory once for all locations that start there, however many they are.
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for level in levels(layers) {
            for reach in level.reaches(self.environment) {
                reach
                    .listings()
                    .for_each(|directory| _ = self.listings.list(directory));
                if let Some(path) = reach.only_path() {
                    self.add_path(path, &reach, level.datadir(), level.format(), &mut found);
                } else {
                    let group = groups.entry(reach.root().to_owned()).or_default();
                    group.push((reach, level.format()));
                }
            }
        }
        for (root, group) in &mut groups {
            group.dedup();
            self.search(root, group, &mut found);
        }
        found.files.sort_unstable();
        found.files.dedup();
        found
    }

    /// The files that a path with variables could name, and the directories in which further ones could appear.
    pub(super) fn find_named(&self, base: &Text, path: &Text) -> Found {
        let mut found = Found::default();
        let reach = Reach::of_path(base, path, self.environment);
        match reach.only_path() {
            Some(path) => self.add_path(path, &reach, base, Format::Unknown, &mut found),
            None => {
                let root = reach.root().to_owned();
                self.search(&root, &[(reach, Format::Unknown)], &mut found);
            }
        }
        found
    }

    /// A path without variables.
    fn add_path(
        &self,
        path: &str,
        reach: &Reach,
        datadir: &Text,
        format: Format,
        found: &mut Found,
    ) {
        let base = match datadir.template() {
            None => datadir.source(),
            Some(_) => reach.root(),
        };
        if may_exist(Path::new(path)) && !self.is_refused(base, path, found) {
            found.files.push((path.to_owned(), format));
        }
        found.directories.extend(nearest_directory(Path::new(path)));
    }

    /// Searches a directory for what these locations reach.
    fn search(&self, root: &str, group: &[(Reach, Format)], found: &mut Found) {
        let path = Path::new(root);
        if may_exist(path) {
            found.add(root, !path.is_dir(), group);
        }
        found.directories.extend(nearest_directory(&path.join("x")));
        let problem = if root == "/" {
            "a location of the hierarchy could name any file of the disk, which is not searched; write a directory \
             before its first variable or wildcard"
                .to_owned()
        } else if self
            .descend(root, root, group, found, &mut Vec::new())
            .is_err()
        {
            format!(
                "there are more than {} files and directories to search; raise `limits.max_files` if that is meant, \
                 or remove links that lead out of the data",
                self.code.max_files
            )
        } else {
            return;
        };
        found.faults.push(Fault::at_path(root, &problem));
    }

    /// `above`: the directories on the way, each with the path that led to it.
    fn descend(
        &self,
        root: &str,
        directory: &str,
        group: &[(Reach, Format)],
        found: &mut Found,
        above: &mut Vec<((u64, u64), String)>,
    ) -> Result<(), TooMany> {
        if directory.len() >= MAX_PATH {
            return Ok(());
        }
        let Some(identity) = self.listings.identity(directory) else {
            return Ok(());
        };
        // A link to a directory that it lies in would go on forever. It is followed until there is nothing to find that
        // would not be found without it.
        let stands_for = |(known, target): &&((u64, u64), String)| {
            let mut reaches = group.iter().map(|(reach, _)| reach);
            *known == identity
                && reaches.all(|reach| {
                    let progress = reach.progress(directory);
                    progress == Progress::None || progress == reach.progress(target)
                })
        };
        if let Some((_, target)) = above.iter().find(stands_for) {
            found.loops.push((directory.to_owned(), target.clone()));
            return Ok(());
        }
        above.push((identity, directory.to_owned()));
        let entries = self.listings.list(directory);
        // Locations that start above each other come to the same directories.
        if found.searched.insert(directory.to_owned()) {
            found.entries += entries.len();
        }
        if found.entries > self.code.max_files {
            return Err(TooMany);
        }
        for entry in entries.iter() {
            let path = [directory, "/", &entry.name].concat();
            if self.is_refused(root, &path, found) {
                continue;
            }
            let is_file = entry.kind == EntryKind::File;
            if !is_file {
                self.descend(root, &path, group, found, above)?;
            }
            found.add(&path, is_file, group);
        }
        above.pop();
        Ok(())
    }

    /// Is a path behind a link that must not be followed? Whatever comes to it fails then.
    fn is_refused(&self, base: &str, path: &str, found: &mut Found) -> bool {
        let [base, link] = [base, path].map(Path::new);
        let refusal = links::refusal(self.code, self.environment, base, link);
        if let Some(problem) = refusal {
            found.faults.push(Fault::at_path(path, &problem));
        }
        refusal.is_some()
    }
}

/// There is more to search than the bound allows.
struct TooMany;

impl Found {
    /// Adds what stands at a path, once for each format that it is read as.
    fn add(&mut self, path: &str, is_file: bool, group: &[(Reach, Format)]) {
        for (reach, format) in group {
            // A path may name a directory, which fails the lookup. A glob finds none.
            if (is_file || !reach.is_glob()) && reach.contains(path) {
                self.files.push((path.to_owned(), *format));
            }
        }
    }
}

/// What a file of this path is read as, in a directory that was searched (`is_listed`) or one in which only paths
/// without variables end. What [`Search::find_files`] would come to, for one file that is new.
pub(super) fn formats_of<'a>(
    layers: impl Iterator<Item = &'a Layer>,
    environment: &str,
    path: &str,
    is_listed: bool,
) -> Vec<Format> {
    let is_below = |root: &str| {
        let rest = path.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || is_listed && rest.starts_with('/'))
    };
    let mut formats = Vec::new();
    for level in levels(layers) {
        let is_read = level.reaches(environment).iter().any(|reach| {
            (reach.only_path().is_some() || is_below(reach.root())) && reach.contains(path)
        });
        if is_read {
            formats.push(level.format());
        }
    }
    formats.sort_unstable();
    formats.dedup();
    formats
}

fn levels<'a>(layers: impl Iterator<Item = &'a Layer>) -> impl Iterator<Item = &'a Level> {
    layers
        .filter_map(|layer| layer.config())
        .flat_map(HieraConfig::all_levels)
}
