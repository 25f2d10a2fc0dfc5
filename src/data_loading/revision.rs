//! The revision: a digest of names and contents.

use std::path::Path;

use hiera_resolver::Format;
use sha2::{Digest, Sha256};
use twox_hash::XxHash3_128;

use crate::config::CodeDirectory;

/// What a file holds, in short. It tells changes, the same on every machine; it is no proof against someone who makes
/// two files that have the same one.
pub(super) type ContentDigest = u128;

pub(super) fn digest(content: &[u8]) -> ContentDigest {
    XxHash3_128::oneshot(content)
}

/// What the digests of all files add up to. A sum does not ask for an order, can be worked out on many cores, and
/// is quick to change where one file does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Revision(u128);

impl Revision {
    /// What one file adds.
    fn of(name: &str, content: ContentDigest) -> Self {
        // No name has a zero, so that name and content cannot be taken for each other.
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

/// As everyone is told. Secrets are part of the sum, and it may be possible to work back from it; from this it is not.
impl std::fmt::Display for Revision {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = Sha256::digest(self.0.to_le_bytes());
        shown
            .iter()
            .take(16)
            .try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Names relative to what they belong to, so that the place of the code directory does not matter.
pub(super) struct Names {
    roots: Vec<(String, &'static str)>,
}

impl Names {
    pub(super) fn new(code: &CodeDirectory, environment: &str) -> Self {
        let global = code.hiera_config.as_deref().and_then(Path::parent);
        let environment = code.environment(environment);
        let roots = [(environment.as_path(), "environment"), (&code.root, "code")];
        let roots = roots
            .into_iter()
            .chain(global.map(|root| (root, "global")))
            // As paths are compared: a slash at the end says nothing.
            .map(|(root, name)| (root.components().as_path().to_string_lossy().into(), name))
            .collect();
        Names { roots }
    }

    /// What a configuration adds to the revision.
    pub(super) fn config(&self, path: &Path, content: ContentDigest) -> Revision {
        Revision::of(&self.logical("", path), content)
    }

    /// What a data file adds to the revision.
    pub(super) fn file(&self, format: Format, path: &str, content: ContentDigest) -> Revision {
        let kind = match format {
            Format::Yaml => "Yaml ",
            Format::Json => "Json ",
            Format::Hocon => "Hocon ",
            Format::Eyaml(_) => "Eyaml ",
            Format::Unknown => "Unknown ",
        };
        Revision::of(&self.logical(kind, Path::new(path)), content)
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
        [kind, name, ":", rest].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_knows_no_order_and_forgets_what_is_taken_away() {
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
    fn what_is_shown_is_not_the_sum() {
        let shown = Revision(1).to_string();
        assert_eq!(shown.len(), 32);
        assert_ne!(shown, format!("{:032x}", 1));
        assert_eq!(shown, Revision(1).to_string());
        assert_ne!(shown, Revision(2).to_string());
    }

    #[test]
    fn a_name_tells_where_a_file_belongs() {
        let code = CodeDirectory {
            hiera_config: Some("/etc/hiera.yaml".into()),
            ..CodeDirectory::for_tests("/code")
        };
        let names = Names::new(&code, "p");
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
