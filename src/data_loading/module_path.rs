//! The module path of an environment → directories.

use std::path::{Path, PathBuf};

use hiera_resolver::Fault;
use hiera_resolver::hierarchy::glob::{self, GlobError};

use super::Listings;
use crate::config::CodeDirectory;

/// The directories that a module path names, and those on the way that cannot be listed.
pub(super) fn module_directories(
    code: &CodeDirectory,
    environment: &str,
    value: &str,
) -> Result<(Vec<PathBuf>, Vec<Fault>), GlobError> {
    let root = code.environment(environment);
    let mut directories = Vec::new();
    let listings = Listings::default();
    for element in value.split(':').filter(|element| !element.is_empty()) {
        let filled = fill_settings(element, code, environment);
        let joined = hiera_resolver::hierarchy::path::join(&root.to_string_lossy(), &filled);
        let path = hiera_resolver::hierarchy::path::normalize(&joined).into_owned();
        if path.contains(['*', '?', '[', '{']) {
            directories.extend(expand_directories(&path, &listings)?);
        } else {
            directories.push(PathBuf::from(path));
        }
    }
    Ok((directories, listings.faults()))
}

/// `modulepath = site-*` names directories: the parents of everything in them.
fn expand_directories(pattern: &str, listings: &Listings) -> Result<Vec<PathBuf>, GlobError> {
    let found = glob::expand(&format!("{pattern}/*/"), listings)?;
    let files = glob::expand(&format!("{pattern}/*/*"), listings)?;
    let mut directories: Vec<PathBuf> = Vec::new();
    let parents = found.iter().filter_map(|path| Path::new(path).parent());
    let grandparents = files
        .iter()
        .filter_map(|path| Path::new(path).parent()?.parent());
    for directory in parents.chain(grandparents) {
        if !directories.iter().any(|other| other == directory) {
            directories.push(directory.to_owned());
        }
    }
    Ok(directories)
}

/// Replaces Puppet's settings in a path, such as `$codedir` or `${environment}`.
fn fill_settings(text: &str, code: &CodeDirectory, environment: &str) -> String {
    let root = code.root.to_string_lossy();
    let mut filled = text.to_owned();
    for (name, value) in [
        ("basemodulepath", format!("{root}/modules")),
        ("codedir", root.clone().into_owned()),
        ("environment", environment.to_owned()),
        ("environmentpath", format!("{root}/environments")),
    ] {
        filled = filled.replace(&format!("${{{name}}}"), &value);
        filled = replace_word(&filled, &format!("${name}"), &value);
    }
    filled
}

/// Replaces a name unless it is the start of a longer one.
fn replace_word(text: &str, name: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(name) {
        out.push_str(before);
        let is_longer =
            after.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        out.push_str(if is_longer { name } else { value });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_path_is_relative_to_its_environment() {
        let code = CodeDirectory::for_tests("/code");
        let expected: Vec<PathBuf> = [
            "/code/environments/p/site",
            "/abs",
            "/code/modules",
            "/code/x/p",
        ]
        .map(PathBuf::from)
        .into();
        assert_eq!(
            module_directories(
                &code,
                "p",
                "site:/abs:$basemodulepath:$codedir/x/$environment"
            ),
            Ok((expected, Vec::new()))
        );
    }
}
