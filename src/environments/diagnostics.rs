//! Diagnostics: a snapshot → its faults and notices.

use hiera_resolver::data::{Contents, FileFault};
use hiera_resolver::data_functions::{self, LevelFunction};
use hiera_resolver::{Fault, HieraConfig, Layer, Snapshot, Tree};

/// Everything that makes lookups fail.
pub fn faults(snapshot: &Snapshot) -> Vec<Fault> {
    let mut faults = file_faults(snapshot);
    for file in snapshot.files() {
        let undecryptable = file
            .contents()
            .map(Contents::undecryptable)
            .unwrap_or_default();
        faults.extend(
            undecryptable
                .iter()
                .map(|notice| Fault::from_notice(file.path(), notice)),
        );
    }
    faults
}

/// Configurations, files and `lookup_options` that cannot be used, and paths below which nothing could be read. A reload
/// must not add any of these.
pub fn file_faults(snapshot: &Snapshot) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (_, layer) in layers(snapshot) {
        if let Layer::Faulty(config) = layer {
            faults.extend(config.iter().map(Fault::from));
        }
    }
    let file_faults = snapshot.files().filter_map(|file| file.contents().err());
    faults.extend(
        file_faults
            .filter(|fault| !is_named_by_variable_only(snapshot, fault))
            .map(Fault::from),
    );
    for fault in snapshot.unreadable().map(Fault::from) {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    for file in snapshot.files() {
        let Ok(contents) = file.contents() else {
            continue;
        };
        let option_faults = contents.option_faults().iter();
        faults.extend(option_faults.map(|notice| Fault::from_notice(file.path(), notice)));
        if contents.has_options()
            && let Some(module) = module_of(snapshot, file.path())
            && let Some(notice) = contents.foreign_options(module)
        {
            faults.push(Fault::from_notice(file.path(), &notice));
        }
    }
    faults
}

/// What works but was probably not intended: configurations that Puppet ignores, files that count as empty, levels whose
/// data function is unknown.
pub fn notices(snapshot: &Snapshot) -> Vec<Fault> {
    let mut notices = Vec::new();
    for (_, layer) in layers(snapshot) {
        if let Layer::Ignored(fault) = layer {
            notices.push(Fault::from(fault));
        }
    }
    for config in configs(snapshot) {
        for level in config.all_levels() {
            if let LevelFunction::Unknown { kind, name } = level.function() {
                let problem = format!(
                    "level `{}`: there is no {kind} function `{name}` here; there are {}",
                    level.name(),
                    data_functions::names()
                );
                let path = config.path().map(ToString::to_string).unwrap_or_default();
                notices.push(Fault {
                    path,
                    position: Some((level.line(), 1)),
                    problem,
                });
            }
        }
    }
    for file in snapshot.files() {
        for notice in file
            .contents()
            .map(|contents| contents.notices())
            .unwrap_or_default()
        {
            notices.push(Fault::from_notice(file.path(), notice));
        }
    }
    notices
}

/// The layers of a snapshot, each with its name.
pub fn layers(snapshot: &Snapshot) -> impl Iterator<Item = (String, &Layer)> {
    let upper = [
        ("global".to_owned(), snapshot.global()),
        ("environment".to_owned(), snapshot.environment()),
    ];
    upper.into_iter().chain(
        snapshot
            .modules()
            .map(|(name, layer)| (format!("module {name}"), layer)),
    )
}

/// The valid configurations of a snapshot.
pub fn configs(snapshot: &Snapshot) -> impl Iterator<Item = &HieraConfig> {
    layers(snapshot).filter_map(|(_, layer)| layer.config())
}

/// Is it a directory that a location names only for some value of a variable? `roles/%{facts.role}` could name each
/// directory in `roles`, and only a lookup that does so fails.
fn is_named_by_variable_only(snapshot: &Snapshot, fault: &FileFault) -> bool {
    let FileFault::Directory { path } = fault else {
        return false;
    };
    let mut levels = configs(snapshot).flat_map(HieraConfig::all_levels);
    !levels.any(|level| {
        let mut reaches = level.reaches(snapshot.name()).into_iter();
        reaches.any(|reach| reach.only_path() == Some(path.as_str()))
    })
}

/// The module whose data is at a path.
fn module_of<'s>(snapshot: &'s Snapshot, path: &str) -> Option<&'s str> {
    let is_below = |config: &HieraConfig| {
        let directory = config.path().and_then(|path| path.rsplit_once('/'));
        let rest = directory.and_then(|(directory, _)| path.strip_prefix(directory));
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut modules = snapshot.modules();
    let found = modules.find(|(_, layer)| layer.config().is_some_and(is_below));
    found.map(|(name, _)| name.as_str())
}
