//! [`Watch`]: file events as hints that something has changed.
//!
//! Events are not reliable: some never come (network file systems, directories that are filled before they are watched),
//! others come twice. Each directory that was read is watched by itself, and an event only causes a check of the files.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::ReloadCommand;
use crate::config::{CodeDirectory, ReloadSettings, WatchMode};
use crate::data_loading::{self, FileFingerprint, FileIdentity, LoadedEnvironment};

/// The directories that are watched.
pub(super) struct Watch {
    /// `None` if the directories are polled instead.
    watcher: Option<RecommendedWatcher>,
    /// The directories by identity, each with one of its paths: the system watches a directory once, however many links
    /// lead to it, and one that was replaced has to be watched again.
    watched: HashMap<FileIdentity, PathBuf>,
    code_directory: Arc<CodeDirectoryWatch>,
}

/// The code directory may be removed and appear again, which only its parent directory reports.
#[derive(Default)]
struct CodeDirectoryWatch {
    root: PathBuf,
    /// The parent directory, if it is watched for that reason only: other events in it are ignored.
    parent: Mutex<Option<PathBuf>>,
}

impl CodeDirectoryWatch {
    fn is_unrelated(&self, path: &Path) -> bool {
        let parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner);
        parent.is_some() && path.parent() == parent.as_deref() && !self.root.starts_with(path)
    }

    fn set_parent(&self, directory: Option<PathBuf>) {
        *self.parent.lock().unwrap_or_else(PoisonError::into_inner) = directory;
    }
}

impl Watch {
    pub(super) fn new(
        mode: WatchMode,
        code: &CodeDirectory,
        commands: Sender<ReloadCommand>,
    ) -> Self {
        let code_directory = Arc::new(CodeDirectoryWatch {
            root: code.root.clone(),
            parent: Mutex::default(),
        });
        let filter = code_directory.clone();
        let watcher = match mode {
            WatchMode::Auto => notify::recommended_watcher(move |event: notify::Result<Event>| {
                if let Some(command) = command_for(event, &filter) {
                    // The reload thread only ends with the process.
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

    /// The time between two scans of everything.
    pub(super) fn scan_interval(&self, settings: &ReloadSettings) -> Duration {
        settings.scan_interval(self.watcher.is_some())
    }

    /// Watches the directories that were read, and those in which new environments appear. Returns those that were not
    /// watched before.
    pub(super) fn follow<'a>(
        &mut self,
        code: &CodeDirectory,
        loaded: impl Iterator<Item = &'a LoadedEnvironment>,
    ) -> Vec<PathBuf> {
        if self.watcher.is_none() {
            return Vec::new();
        }
        let mut wanted: HashMap<FileIdentity, Vec<PathBuf>> = HashMap::new();
        let mut want = |directory: &Path| {
            let identity = FileFingerprint::of(directory)?.identity();
            let paths = wanted.entry(identity).or_default();
            paths.push(directory.to_owned());
            Some(paths.len())
        };
        want(&code.root);
        want(&code.environments());
        for directory in loaded.flat_map(LoadedEnvironment::directories) {
            want(directory);
        }
        let parent = data_loading::nearest_directory(&code.root);
        let uses = parent.as_deref().and_then(&mut want);
        self.code_directory
            .set_parent(parent.filter(|_| uses == Some(1)));
        self.watched.retain(|identity, directory| {
            let is_wanted = wanted
                .get(identity)
                .is_some_and(|paths| paths.contains(directory));
            if !is_wanted && let Some(watcher) = &mut self.watcher {
                // Fails if the directory is gone, and the watch with it.
                _ = watcher.unwatch(directory);
            }
            is_wanted
        });
        let mut new = Vec::new();
        for (identity, paths) in wanted {
            if let Some(directory) = paths.first()
                && !self.watched.contains_key(&identity)
                && self.watch(directory)
            {
                self.watched.insert(identity, directory.clone());
                new.extend(paths);
            }
        }
        new
    }

    /// Forgets directories, so that they are watched again. If a directory was replaced, the event for the end of the old
    /// one may come after the new one is watched, and the library then drops the watch of that path.
    pub(super) fn forget(&mut self, changed: &BTreeSet<PathBuf>) {
        self.watched
            .retain(|_, directory| !changed.contains(directory));
    }

    fn watch(&mut self, directory: &Path) -> bool {
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        match watcher.watch(directory, RecursiveMode::NonRecursive) {
            Ok(()) => true,
            Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                tracing::warn!(
                    "the system's limit on watched directories is reached; polling instead. \
                     Raise fs.inotify.max_user_watches to use file events"
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

/// The command for an event; `None` if the event does not matter.
fn command_for(event: notify::Result<Event>, code: &CodeDirectoryWatch) -> Option<ReloadCommand> {
    match event {
        Ok(event) if event.need_rescan() => Some(ReloadCommand::CheckEverything),
        Ok(Event {
            kind: EventKind::Access(access),
            paths,
            ..
        }) => {
            let is_closed = access == AccessKind::Close(AccessMode::Write);
            is_closed.then_some(ReloadCommand::Closed(paths))
        }
        Ok(event) if event.paths.is_empty() => Some(ReloadCommand::CheckEverything),
        Ok(event) if event.paths.iter().all(|path| code.is_unrelated(path)) => None,
        Ok(event) => Some(match event.kind {
            EventKind::Modify(ModifyKind::Data(_)) => ReloadCommand::Written(event.paths),
            EventKind::Create(CreateKind::File) => ReloadCommand::Created(event.paths),
            _ => ReloadCommand::Changed(event.paths),
        }),
        Err(_) => Some(ReloadCommand::CheckEverything),
    }
}
