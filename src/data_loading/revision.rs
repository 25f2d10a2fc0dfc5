//! The revision: a digest of the names and contents of all files.

use std::path::Path;

use hiera_resolver::Format;
use sha2::{Digest, Sha256};
use twox_hash::XxHash3_128;

use crate::config::CodeDirectory;

/// A digest of the content of a file, the same on every machine. It detects changes but is not cryptographic: two files
/// with the same digest can be made on purpose.
pub(super) type ContentDigest = u128;

/// The digest of a file that was looked for and is absent.
pub(super) const ABSENT_DIGEST: ContentDigest = 1;

pub(super) fn digest(content: &[u8]) -> ContentDigest {
    XxHash3_128::oneshot(content)
}

/// The sum of the digests of all files. A sum does not depend on order, can be computed on many cores, and is easy to
/// update when one file changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Revision(u128);

impl Revision {
    /// The contribution of one file.
    fn of(name: &str, content: ContentDigest) -> Self {
        // No name contains a zero byte, so name and content cannot be confused.
        let named = [name.as_bytes(), &[0], &content.to_le_bytes()].concat();
        Revision(digest(&named))
    }

    pub(super) fn add(&mut self, other: Revision) {
        self.0 = self.0.wrapping_add(other.0);
    }

    pub(super) fn remove(&mut self, other: Revision) {
        self.0 = self.0.wrapping_sub(other.0);
    }
}

/// The public form. The sum covers secrets and might be reversible; its SHA-256 is not.
impl std::fmt::Display for Revision {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = Sha256::digest(self.0.to_le_bytes());
        shown
            .iter()
            .take(16)
            .try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Names of files relative to their environment, code directory or global layer, so that the same data has the same
/// revision wherever it is.
pub(super) struct LogicalNames {
    roots: Vec<(String, &'static str)>,
}

impl LogicalNames {
    pub(super) fn new(code: &CodeDirectory, environment: &str) -> Self {
        let global = code.hiera_config.as_deref().and_then(Path::parent);
        let environment = code.environment(environment);
        let roots = [(environment.as_path(), "environment"), (&code.root, "code")];
        let roots = roots
            .into_iter()
            .chain(global.map(|root| (root, "global")))
            // Without trailing slashes.
            .map(|(root, name)| (root.components().as_path().to_string_lossy().into(), name))
            .collect();
        LogicalNames { roots }
    }

    /// The contribution of a configuration to the revision.
    pub(super) fn config(&self, path: &Path, content: ContentDigest) -> Revision {
        Revision::of(&self.logical("", path), content)
    }

    /// The contribution of a data file to the revision.
    pub(super) fn file(&self, format: Format, path: &str, content: ContentDigest) -> Revision {
        Revision::of(&self.logical(format.name(), Path::new(path)), content)
    }

    fn logical(&self, kind: &str, path: &Path) -> String {
        let path = path.to_string_lossy();
        let inside = self.roots.iter().find_map(|(root, name)| {
            let rest = path.strip_prefix(root.as_str())?;
            Some((
                *name,
                rest.strip_prefix('/').or(rest.is_empty().then_some(""))?,
            ))
        });
        let (name, rest) = inside.unwrap_or(("", &path));
        let space = if kind.is_empty() { "" } else { " " };
        [kind, space, name, ":", rest].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_does_not_depend_on_order_and_forgets_removed_files() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Revision::of(name, 7));
        let sum = |parts: &[Revision]| {
            let mut sum = Revision::default();
            parts.iter().for_each(|part| sum.add(*part));
            sum
        };
        assert_eq!(sum(&[a, b, c]), sum(&[c, a, b]));
        assert_ne!(sum(&[a, b]), sum(&[a, c]));
        assert_ne!(sum(&[a, a]), Revision::default());
        let mut less = sum(&[a, b, c]);
        less.remove(b);
        assert_eq!(less, sum(&[a, c]));
    }

    #[test]
    fn the_public_form_is_not_the_sum() {
        let shown = Revision(1).to_string();
        assert_eq!(shown.len(), 32);
        assert_ne!(shown, format!("{:032x}", 1));
        assert_eq!(shown, Revision(1).to_string());
        assert_ne!(shown, Revision(2).to_string());
    }

    #[test]
    fn a_logical_name_starts_with_what_the_file_belongs_to() {
        let code = CodeDirectory {
            hiera_config: Some("/etc/hiera.yaml".into()),
            ..CodeDirectory::for_tests("/code")
        };
        let names = LogicalNames::new(&code, "p");
        for (path, expected) in [
            (
                "/code/environments/p/data/a.yaml",
                "environment:data/a.yaml",
            ),
            ("/code/modules/m/hiera.yaml", "code:modules/m/hiera.yaml"),
            ("/etc/data/a.yaml", "global:data/a.yaml"),
            ("/code/environments/p", "environment:"),
            ("/code2/a.yaml", ":/code2/a.yaml"),
            ("/srv/a.yaml", ":/srv/a.yaml"),
        ] {
            assert_eq!(names.logical("", Path::new(path)), expected);
        }
    }
}
