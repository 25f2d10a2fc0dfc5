//! File events as hints that something moved.
//!
//! Events are not the truth: some never come (network file systems, directories that are filled faster than they
//! are watched), others come twice. Every directory that was read is watched by itself, and whatever comes only
//! leads to a look at the files.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Command;
use crate::config::{CodeDirectory, ReloadSettings, WatchMode};
use crate::data_loading::{self, FileFingerprint, LoadedEnvironment};

/// What is watched.
pub(super) struct Watch {
    /// `None`: the tree is looked through again and again instead.
    watcher: Option<RecommendedWatcher>,
    /// The directories by what they are, each under one of its names: the system watches a directory once, however
    /// many links lead to it, and one that was replaced has to be watched anew.
    watched: HashMap<(u64, u64), PathBuf>,
    code_directory: Arc<CodeDirectoryWatch>,
}

/// The code directory may go and come back, which only the directory above tells.
#[derive(Default)]
struct CodeDirectoryWatch {
    root: PathBuf,
    /// The directory above, where it is watched for that alone: whatever else happens there is nobody's business.
    above: Mutex<Option<PathBuf>>,
}

impl CodeDirectoryWatch {
    fn is_elsewhere(&self, path: &Path) -> bool {
        let above = self.above.lock().unwrap_or_else(PoisonError::into_inner);
        above.is_some() && path.parent() == above.as_deref() && !self.root.starts_with(path)
    }

    fn set_above(&self, directory: Option<PathBuf>) {
        *self.above.lock().unwrap_or_else(PoisonError::into_inner) = directory;
    }
}

impl Watch {
    pub(super) fn new(mode: WatchMode, code: &CodeDirectory, commands: Sender<Command>) -> Self {
        let code_directory = Arc::new(CodeDirectoryWatch {
            root: code.root.clone(),
            above: Mutex::default(),
        });
        let filter = code_directory.clone();
        let watcher = match mode {
            WatchMode::Auto => notify::recommended_watcher(move |event: notify::Result<Event>| {
                if let Some(command) = command_for(event, &filter) {
                    // The thread that reloads ends only with the process.
                    _ = commands.send(command);
                }
            })
            .map_err(|error| {
                tracing::warn!("file events are unavailable ({error}); polling instead")
            })
            .ok(),
            WatchMode::Poll | WatchMode::Off => None,
        };
        Watch {
            watcher,
            watched: HashMap::new(),
            code_directory,
        }
    }

    /// How long to wait before everything is looked through again.
    pub(super) fn interval(&self, settings: &ReloadSettings) -> Duration {
        settings.scan_interval(self.watcher.is_some())
    }

    /// Watches the directories that were read, and those above that tell of new environments. Gives those that were not
    /// watched before.
    pub(super) fn follow<'a>(
        &mut self,
        code: &CodeDirectory,
        loaded: impl Iterator<Item = &'a LoadedEnvironment>,
    ) -> Vec<PathBuf> {
        if self.watcher.is_none() {
            return Vec::new();
        }
        let mut wanted: HashMap<(u64, u64), Vec<PathBuf>> = HashMap::new();
        let mut want = |directory: &Path| {
            let identity = FileFingerprint::of(directory)?.identity();
            let names = wanted.entry(identity).or_default();
            names.push(directory.to_owned());
            Some(names.len())
        };
        want(&code.root);
        want(&code.environments());
        for directory in loaded.flat_map(LoadedEnvironment::directories) {
            want(directory);
        }
        let above = data_loading::nearest_directory(&code.root);
        let others = above.as_deref().and_then(&mut want);
        self.code_directory
            .set_above(above.filter(|_| others == Some(1)));
        self.watched.retain(|identity, directory| {
            let stays = wanted
                .get(identity)
                .is_some_and(|names| names.contains(directory));
            if !stays && let Some(watcher) = &mut self.watcher {
                // Gone with the directory, most likely.
                _ = watcher.unwatch(directory);
            }
            stays
        });
        let mut new = Vec::new();
        for (identity, names) in wanted {
            if let Some(directory) = names.first()
                && !self.watched.contains_key(&identity)
                && self.watch(directory)
            {
                self.watched.insert(identity, directory.clone());
                new.extend(names);
            }
        }
        new
    }

    /// Watches these anew where they are watched. A directory that was replaced under its name may tell of the end
    /// of the old one only after the new one is watched, and the library then drops the watch of that name.
    pub(super) fn forget(&mut self, moved: &BTreeSet<PathBuf>) {
        self.watched
            .retain(|_, directory| !moved.contains(directory));
    }

    fn watch(&mut self, directory: &Path) -> bool {
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        match watcher.watch(directory, RecursiveMode::NonRecursive) {
            Ok(()) => true,
            Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                tracing::warn!(
                    "the system's limit of watched directories is reached; polling instead. \
                     Raise fs.inotify.max_user_watches to get file events"
                );
                self.watcher = None;
                self.watched.clear();
                false
            }
            Err(error) => {
                tracing::debug!("cannot watch `{}`: {error}", directory.display());
                false
            }
        }
    }
}

/// What an event means; `None` where nothing was changed that matters.
fn command_for(event: notify::Result<Event>, code: &CodeDirectoryWatch) -> Option<Command> {
    match event {
        Ok(event) if event.need_rescan() => Some(Command::Lost),
        Ok(Event {
            kind: EventKind::Access(access),
            paths,
            ..
        }) => {
            let is_closed = access == AccessKind::Close(AccessMode::Write);
            is_closed.then_some(Command::Closed(paths))
        }
        Ok(event) if event.paths.is_empty() => Some(Command::Lost),
        Ok(event) if event.paths.iter().all(|path| code.is_elsewhere(path)) => None,
        Ok(event) => Some(match event.kind {
            EventKind::Modify(ModifyKind::Data(_)) => Command::Written(event.paths),
            EventKind::Create(CreateKind::File) => Command::Created(event.paths),
            _ => Command::Changed(event.paths),
        }),
        Err(_) => Some(Command::Lost),
    }
}
