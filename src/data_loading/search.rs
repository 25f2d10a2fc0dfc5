//! [`Search`]: which files lookups in an environment can reach, found on disk by the locations of its levels.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use hiera_resolver::hierarchy::glob::EntryKind;
use hiera_resolver::hierarchy::{ConfigText, Level};
use hiera_resolver::hierarchy::{Reach, ReachProgress};
use hiera_resolver::{Fault, Format, HieraConfig, Layer};

use super::FileIdentity;
use super::links::link_refusal;
use super::listings::{Listings, nearest_directory};
use crate::config::CodeDirectory;
use crate::filesystem::may_exist;

/// The longest path that the system opens.
const MAX_PATH: usize = 4096;

/// Where to search. Also the context in which keys are found, before any node is known.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) code: &'a CodeDirectory,
    pub(crate) environment: &'a str,
    pub(crate) listings: &'a Listings,
}

/// The result of a search.
#[derive(Default)]
pub(super) struct SearchResult {
    /// The files, each with its format, sorted.
    pub(super) files: Vec<(String, Format)>,
    /// Directories in which further files could appear, besides those that were listed.
    pub(super) directories: Vec<PathBuf>,
    /// Links that lead to one of their own parent directories, each with that directory.
    pub(super) loops: Vec<(String, String)>,
    /// Where the search ended early, and why: what is at or below these paths is unknown.
    pub(super) faults: Vec<Fault>,
    /// The directories that were searched, by every path that led to them.
    searched: HashSet<String>,
    /// How many entries they have.
    entries: usize,
}

/// The locations to search below one directory.
type Group = Vec<(Reach, Format)>;

impl Search<'_> {
    /// The files that some lookup can reach, each with its format.
    pub(super) fn find_files<'a>(&self, layers: impl Iterator<Item = &'a Layer>) -> SearchResult {
        let mut found = SearchResult::default();
        // Each directory is searched once for all locations that start there.
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

    /// The files that a path with variables can name, and the directories in which further ones could appear.
    pub(super) fn find_named(&self, base: &ConfigText, path: &ConfigText) -> SearchResult {
        let mut found = SearchResult::default();
        let reach = Reach::of_path(base, path, self.environment);
        match reach.only_path() {
            Some(path) => self.add_path(path, &reach, base, Format::UNREAD, &mut found),
            None => {
                let root = reach.root().to_owned();
                self.search(&root, &[(reach, Format::UNREAD)], &mut found);
            }
        }
        found
    }

    /// Adds a path without variables.
    fn add_path(
        &self,
        path: &str,
        reach: &Reach,
        datadir: &ConfigText,
        format: Format,
        found: &mut SearchResult,
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

    /// Searches a directory for the files of these locations.
    fn search(&self, root: &str, group: &[(Reach, Format)], found: &mut SearchResult) {
        let path = Path::new(root);
        if may_exist(path) {
            found.add(root, !path.is_dir(), group);
        }
        found.directories.extend(nearest_directory(&path.join("x")));
        let problem = if root == "/" {
            "a location of the hierarchy could name any file on the disk, which is not searched; put a directory \
             before its first variable or wildcard"
                .to_owned()
        } else if self
            .descend(root, root, group, found, &mut Vec::new())
            .is_err()
        {
            format!(
                "there are more than {} files and directories to search; raise `limits.max_files` if that is intended, \
                 or remove links that lead out of the data",
                self.code.max_files
            )
        } else {
            return;
        };
        found.faults.push(Fault::at_path(root, &problem));
    }

    /// Searches a directory and its subdirectories. `parents` are those on the way, each with its path.
    fn descend(
        &self,
        root: &str,
        directory: &str,
        group: &[(Reach, Format)],
        found: &mut SearchResult,
        parents: &mut Vec<(FileIdentity, String)>,
    ) -> Result<(), TooManyFiles> {
        if directory.len() >= MAX_PATH {
            return Ok(());
        }
        let Some(identity) = self.listings.identity(directory) else {
            return Ok(());
        };
        // A link to one of its parents would never end. It is followed only while it leads to files that would not be
        // found without it.
        let is_loop = |(parent, target): &&(FileIdentity, String)| {
            let mut reaches = group.iter().map(|(reach, _)| reach);
            *parent == identity
                && reaches.all(|reach| {
                    let progress = reach.progress(directory);
                    progress == ReachProgress::None || progress == reach.progress(target)
                })
        };
        if let Some((_, target)) = parents.iter().find(is_loop) {
            found.loops.push((directory.to_owned(), target.clone()));
            return Ok(());
        }
        parents.push((identity, directory.to_owned()));
        let entries = self.listings.list(directory);
        // Locations that start in different directories may reach the same one.
        if found.searched.insert(directory.to_owned()) {
            found.entries += entries.len();
        }
        if found.entries > self.code.max_files {
            return Err(TooManyFiles);
        }
        for entry in entries.iter() {
            let path = [directory, "/", &entry.name].concat();
            if self.is_refused(root, &path, found) {
                continue;
            }
            let is_file = entry.kind == EntryKind::File;
            if !is_file {
                self.descend(root, &path, group, found, parents)?;
            }
            found.add(&path, is_file, group);
        }
        parents.pop();
        Ok(())
    }

    /// Is a path below a link that must not be followed? Lookups that reach it then fail.
    fn is_refused(&self, base: &str, path: &str, found: &mut SearchResult) -> bool {
        let [base, link] = [base, path].map(Path::new);
        let refusal = link_refusal(self.code, self.environment, base, link);
        if let Some(problem) = refusal {
            found.faults.push(Fault::at_path(path, &problem));
        }
        refusal.is_some()
    }
}

/// There are more files than `limits.max_files`.
struct TooManyFiles;

impl SearchResult {
    /// Adds a path, once for each format in which it is read.
    fn add(&mut self, path: &str, is_file: bool, group: &[(Reach, Format)]) {
        for (reach, format) in group {
            // A path may name a directory, which fails the lookup. A glob does not match directories.
            if (is_file || !reach.is_glob()) && reach.contains(path) {
                self.files.push((path.to_owned(), *format));
            }
        }
    }
}

/// The formats in which a new file is read: what [`Search::find_files`] would find for this path. `is_listed`: its
/// directory was searched; in others only paths without variables can name a file.
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
