//! [`FileChanges`]: which files differ between two loads.

use std::cmp::Ordering;

use super::revision::ContentDigest;

/// Files that differ between two loads, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileChanges {
    /// Files that only the later load has.
    pub(crate) added: Vec<String>,
    /// Files with other content.
    pub(crate) changed: Vec<String>,
    /// Files that only the earlier load has.
    pub(crate) removed: Vec<String>,
}

impl FileChanges {
    /// Adds the differences of two lists that are sorted by path.
    pub(super) fn compare(
        &mut self,
        before: &[(&str, &ContentDigest)],
        now: &[(&str, &ContentDigest)],
    ) {
        let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
        loop {
            let order = match (before.peek(), now.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let old = before.next_if(|_| order.is_le());
            let new = now.next_if(|_| order.is_ge());
            match (old, new) {
                (Some((path, _)), None) => self.removed.push((*path).to_owned()),
                (None, Some((path, _))) => self.added.push((*path).to_owned()),
                (Some((_, old)), Some((path, new))) if old != new => {
                    self.changed.push((*path).to_owned());
                }
                _ => {}
            }
        }
    }

    /// Sorts the paths of several comparisons.
    pub(super) fn sort(&mut self) {
        self.added.sort();
        self.changed.sort();
        self.removed.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sorted_lists_are_compared() {
        let (one, two) = (1, 2);
        let before = [("a", &one), ("b", &one), ("d", &one), ("e", &one)];
        let now = [("b", &two), ("c", &one), ("d", &one), ("f", &one)];
        let mut changes = FileChanges::default();
        changes.compare(&before, &now);
        let expected = FileChanges {
            added: vec!["c".to_owned(), "f".to_owned()],
            changed: vec!["b".to_owned()],
            removed: vec!["a".to_owned(), "e".to_owned()],
        };
        assert_eq!(changes, expected);
    }
}
