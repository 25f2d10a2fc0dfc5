//! [`VersionRange`]: ranges of semantic versions as node writes them: `>=1.0.0 <2.0.0 || 3.x`.

use std::cmp::Ordering;
use std::fmt;

use super::Version;

mod part;
mod text;

use part::{Part, merge_parts};
use text::{parse_alternative, split_alternatives, tighten};

/// A range of semantic versions.
#[derive(Clone, Debug)]
pub struct VersionRange {
    parts: Vec<Part>,
    text: String,
}

impl VersionRange {
    /// Reads a range. The errors are Ruby's, its own slips included.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tightened = tighten(text);
        let alternatives = split_alternatives(&tightened);
        if alternatives.is_empty() {
            return Ok(VersionRange {
                parts: vec![Part::All],
                text: "*".to_owned(),
            });
        }
        let mut parts: Vec<Part> = Vec::new();
        for alternative in alternatives {
            if let Some(part) = parse_alternative(alternative, text)?
                && !parts.contains(&part)
            {
                parts.push(part);
            }
        }
        Ok(VersionRange {
            parts: merge_parts(parts)?,
            text: text.to_owned(),
        })
    }

    /// From one version to another; `None` where no version is between.
    pub fn of(from: &Version, to: &Version) -> Option<Self> {
        VersionRange::between(from, to, false).ok()
    }

    /// From one version to another, with the last or without it.
    pub fn between(from: &Version, to: &Version, exclude: bool) -> Result<Self, String> {
        let (end, text) = if exclude {
            (Part::Less(to.clone()), format!(">={to} <{from}"))
        } else {
            (Part::AtMost(to.clone()), format!("{to} - {from}"))
        };
        let parts = Part::AtLeast(from.clone()).intersection(&end);
        Ok(VersionRange {
            parts: merge_parts(parts.into_iter().collect())?,
            text,
        })
    }

    /// Is the version in the range? A pre-release is only where the range names one like it.
    pub fn includes(&self, version: &Version) -> bool {
        self.parts.iter().any(|part| {
            part.includes(version) && (version.is_stable() || part.admits_prerelease(version))
        })
    }

    fn only(&self) -> Option<&Part> {
        match &self.parts[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Is every version of it in the other range?
    pub fn is_covered_by(&self, other: &VersionRange) -> bool {
        let (Some(inner), Some(outer)) = (self.only(), other.only()) else {
            return false;
        };
        if outer.begin().compare(&inner.begin()) == Ordering::Greater {
            return false;
        }
        match outer.end().compare(&inner.end()) {
            Ordering::Greater => true,
            Ordering::Equal => {
                outer.end() == inner.end() && (!outer.excludes_end() || inner.excludes_end())
            }
            Ordering::Less => false,
        }
    }

    /// Makes one of the ranges that meet.
    pub fn merge_all(mut ranges: Vec<VersionRange>) -> Result<Vec<VersionRange>, String> {
        if ranges.len() < 2 {
            return Ok(ranges);
        }
        let mut merged = Vec::new();
        while let Some(last) = ranges.pop() {
            let mut unmerged = Vec::new();
            let mut current = last;
            for range in ranges {
                match current.merge(&range)? {
                    Some(both) => current = both,
                    None => unmerged.push(range),
                }
            }
            merged.push(current);
            ranges = unmerged;
        }
        merged.reverse();
        Ok(merged)
    }

    fn merge(&self, other: &VersionRange) -> Result<Option<VersionRange>, String> {
        let (Some(left), Some(right)) = (self.only(), other.only()) else {
            return Err("undefined method `major' for nil:NilClass".to_owned());
        };
        let (left_end, right_end) = (left.end(), right.end());
        if self.includes(&right.begin()) || other.includes(&left.begin()) {
            let order = left_end.compare(&right_end);
            let max = if order == Ordering::Less {
                &right_end
            } else {
                &left_end
            };
            let exclude = if left.excludes_end() {
                *max == left_end && (order == Ordering::Greater || right.excludes_end())
            } else if right.excludes_end() {
                *max == right_end && (order == Ordering::Less || left.excludes_end())
            } else {
                false
            };
            let (left, right) = (left.begin(), right.begin());
            let min = if left.compare(&right) == Ordering::Greater {
                right
            } else {
                left
            };
            return VersionRange::between(&min, max, exclude).map(Some);
        }
        if left.excludes_end() && left_end == right.begin() {
            return VersionRange::between(&left.begin(), &right_end, right.excludes_end())
                .map(Some);
        }
        if right.excludes_end() && right_end == left.begin() {
            return VersionRange::between(&right.begin(), &left_end, left.excludes_end()).map(Some);
        }
        Ok(None)
    }

    /// The range by its parts rather than as it was written.
    pub fn inspect(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Part::to_string).collect();
        parts.join(" || ")
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for VersionRange {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for VersionRange {}

impl std::hash::Hash for VersionRange {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts.hash(state);
    }
}
