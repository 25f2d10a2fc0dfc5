//! A few files that moved → the load that follows, without a look at the others.
//!
//! In a tree of many thousand files it takes a tenth of a second to look at all of them. Where events tell of plain
//! files alone, in directories that are known and with no links about, only those are looked at. Whatever else
//! moved takes the long way.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::Format;
use hiera_resolver::glob::{Entry, EntryKind};
use hiera_resolver::snapshot::Differences;

use super::decode::{Decoder, Workbench};
use super::revision::Names;
use super::{CachedFile, FileFingerprint, KeyRings, Known, Listings, Loaded, search};
use crate::config::CodeDirectory;

/// Files up to which each is looked at by itself.
const MAX_TOUCHED: usize = 256;

impl Loaded {
    /// The load that follows where nothing but these paths has moved; `None` where that takes a look at everything.
    pub(crate) fn with_touched(
        &self,
        code: &CodeDirectory,
        name: &str,
        paths: &BTreeSet<PathBuf>,
    ) -> Option<Loaded> {
        let is_unreadable = self.snapshot.unreadable().next().is_some();
        if self.surroundings.has_links || is_unreadable || paths.len() > MAX_TOUCHED {
            return None;
        }
        let keys = KeyRings::of(
            self.snapshot.layers(),
            &Known {
                environment: name,
                listings: &Listings::default(),
                code,
            },
        );
        if !keys.is_known(self) {
            return None;
        }
        let names = Names::new(code, name);
        let decoder = Decoder {
            code,
            keys: &keys,
            names: &names,
            previous: Some(self),
        };
        let mut next = Next {
            loaded: self.clone(),
            differences: Differences::default(),
            listings: HashMap::new(),
        };
        let mut bench = Workbench::default();
        for path in paths {
            let Some(path) = self.plain_file(path)? else {
                continue;
            };
            next.list(&path)?;
            let known = self.known(path.path);
            if !path.is_there {
                next.remove(path.path, &names);
            } else if !known.is_empty() {
                for format in known.iter().map(|file| file.format) {
                    next.replace(decoder.decode(path.path, format, &mut bench)?, &names);
                }
            } else {
                for format in self.formats_of(name, &path) {
                    next.add(decoder.decode(path.path, format, &mut bench)?, &names);
                }
            }
        }
        Some(next.finish())
    }

    /// Do these still look as they did when they were read, and lie where they lay?
    pub(crate) fn is_still_at(&self, paths: &BTreeSet<PathBuf>) -> bool {
        paths.iter().all(|path| {
            let seen = path.to_str().map(|path| self.known(path));
            let mut seen = seen.unwrap_or_default().iter();
            self.plain_file(path).is_some()
                && seen.all(|file| file.seen == FileFingerprint::of(path))
        })
    }

    /// A path that is, or was, a file and nothing more; `Some(None)` where it is none of this environment.
    fn plain_file<'a>(&self, path: &'a Path) -> Option<Option<Touched<'a>>> {
        // A directory that was replaced, whether or not that above it was looked into as well.
        if self.reads(path, None) {
            return None;
        }
        let directory = path.parent()?;
        let identity = FileFingerprint::of(directory).map(|fingerprint| fingerprint.identity());
        let mut names = self.names_of(directory, identity);
        let Some((name, fingerprint)) = names.next() else {
            return Some(None);
        };
        // Replaced, or known by another name, too or only: which files are meant takes a longer look.
        let is_same =
            identity.is_some() && fingerprint.map(|fingerprint| fingerprint.identity()) == identity;
        if !is_same || name != directory || names.next().is_some() {
            return None;
        }
        if self.surroundings.config_directories.contains(directory) {
            return None;
        }
        let is_there = match path.symlink_metadata() {
            Ok(metadata) if is_plain(&metadata) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            _ => return None,
        };
        // Of other names a listing has to tell what stands for them.
        let (path, directory) = (path.to_str()?, directory.to_str()?);
        let (_, name) = path.rsplit_once('/')?;
        Some(Some(Touched {
            path,
            directory,
            name,
            is_there,
        }))
    }

    /// What a file that is new is read as.
    fn formats_of(&self, environment: &str, file: &Touched<'_>) -> Vec<Format> {
        let is_listed = self.snapshot.listing(file.directory).is_some();
        search::formats_of(self.snapshot.layers(), environment, file.path, is_listed)
    }

    /// A file as it was read, once for each format.
    fn known(&self, path: &str) -> &[CachedFile] {
        let places = places_of(&self.files, path);
        self.files.get(places).unwrap_or_default()
    }
}

/// A file that has no other name.
fn is_plain(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.nlink() == 1
}

struct Touched<'a> {
    path: &'a str,
    directory: &'a str,
    name: &'a str,
    is_there: bool,
}

/// The load that is being made, and how its snapshot differs.
struct Next {
    loaded: Loaded,
    differences: Differences,
    /// Directories that globs go through, with other entries than before.
    listings: HashMap<ArcStr, Vec<Entry>>,
}

impl Next {
    fn replace(&mut self, file: CachedFile, names: &Names) {
        let key = (file.path(), file.format);
        let place = place_of(&self.loaded.files, key);
        let Some(old) = self.loaded.files.get_mut(place) else {
            return;
        };
        let part = |file: &CachedFile| names.file(file.format, file.path(), file.digest);
        self.loaded.revision.remove(part(old));
        self.loaded.revision.add(part(&file));
        self.differences
            .files
            .push((file.format, file.file.clone()));
        *old = file;
    }

    fn add(&mut self, file: CachedFile, names: &Names) {
        let part = names.file(file.format, file.path(), file.digest);
        self.loaded.revision.add(part);
        self.differences
            .files
            .push((file.format, file.file.clone()));
        let place = place_of(&self.loaded.files, (file.path(), file.format));
        self.loaded.files.insert(place, file);
    }

    /// Removes a file, whatever it was read as.
    fn remove(&mut self, path: &str, names: &Names) {
        let range = places_of(&self.loaded.files, path);
        for file in self.loaded.files.drain(range) {
            let part = names.file(file.format, file.path(), file.digest);
            self.loaded.revision.remove(part);
            let gone = (file.format, file.file.path().clone());
            self.differences.gone.push(gone);
        }
    }

    /// Sees to it that a file is an entry of its directory, or is none, where globs go through that. `None` where
    /// something else than a file went by the name.
    fn list(&mut self, file: &Touched<'_>) -> Option<()> {
        let known = self.loaded.snapshot.listing(file.directory);
        let changed = self.listings.get(file.directory).map(Vec::as_slice);
        let Some(entries) = changed.or(known.map(AsRef::as_ref)) else {
            return Some(());
        };
        let place = entries.binary_search_by(|entry| entry.name.as_str().cmp(file.name));
        if let Ok(place) = place
            && entries.get(place)?.kind != EntryKind::File
        {
            return None;
        }
        if place.is_ok() == file.is_there {
            return Some(());
        }
        let changed = self.listings.entry(file.directory.into());
        let entries =
            changed.or_insert_with(|| known.map(|known| known.to_vec()).unwrap_or_default());
        match place {
            Ok(place) => _ = entries.remove(place),
            Err(place) => {
                let (name, kind) = (file.name.into(), EntryKind::File);
                entries.insert(place, Entry { name, kind });
            }
        }
        Some(())
    }

    fn finish(mut self) -> Loaded {
        let listings = self.listings.into_iter();
        self.differences.directories = listings
            .map(|(path, entries)| (path, entries.into()))
            .collect();
        self.differences.revision = self.loaded.revision.to_string();
        self.loaded.snapshot = Arc::new(self.loaded.snapshot.with(self.differences));
        self.loaded
    }
}

fn place_of(files: &[CachedFile], key: (&str, Format)) -> usize {
    files.partition_point(|file| (file.path(), file.format) < key)
}

/// Where a file stands, once for each format.
fn places_of(files: &[CachedFile], path: &str) -> Range<usize> {
    let start = files.partition_point(|file| file.path() < path);
    let behind = files.partition_point(|file| file.path() <= path);
    start..behind
}
