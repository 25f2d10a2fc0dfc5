//! The environments of a code directory, and the subdirectories of any directory.

use std::io;
use std::path::Path;

use hiera_resolver::Fault;

use crate::config::{CodeDirectory, is_environment_name};
use crate::filesystem::{is_absence, is_directory};

/// The names of the environments in a code directory, sorted; none if it has no directory `environments`.
pub(crate) fn environment_names(code: &CodeDirectory) -> Result<Vec<String>, Fault> {
    let mut names = subdirectories(&code.environments()).map_err(|fault| Fault {
        problem: format!("cannot be read: {}", fault.problem),
        ..fault
    })?;
    names.retain(|name| is_environment_name(name));
    names.sort();
    Ok(names)
}

/// The names of the directories in a directory; none if the directory is absent.
pub(super) fn subdirectories(directory: &Path) -> Result<Vec<String>, Fault> {
    match list_subdirectories(directory) {
        Err(error) if is_absence(&error) => Ok(Vec::new()),
        listed => listed.map_err(|error| Fault::at_path(&directory.to_string_lossy(), &error)),
    }
}

/// The names of the directories in a directory, in no particular order. Links to directories count, and so does what
/// cannot be inspected: reading it then reports why.
pub(super) fn list_subdirectories(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if is_directory(&entry.path()).unwrap_or(true) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}
