//! [`VersionRange`]: ranges of semantic versions in the syntax of npm: `>=1.0.0 <2.0.0 || 3.x`.

use std::cmp::Ordering;
use std::fmt;

use super::{Version, VersionError};
use crate::ranges::merge_ranges;

mod interval;
mod parse;

use interval::{Interval, merge_intervals};
use parse::{parse_alternative, remove_space_after_operators, split_alternatives};

/// A range of semantic versions.
#[derive(Clone, Debug)]
pub struct VersionRange {
    // Invariant: not empty.
    intervals: Vec<Interval>,
    text: String,
}

/// Why a range is refused, with Ruby's message.
///
/// Some messages come from bugs in `semantic_puppet`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionRangeError {
    /// It is not a range.
    #[error("Unparsable version range: \"{text}\"")]
    NotARange {
        /// The string.
        text: String,
    },
    /// A version in the range is refused.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// `<=x` and `^x`, for which Ruby calls a method that does not exist.
    #[error("undefined method `SINGLETON' for SemanticPuppet::VersionRange::AllRange:Class")]
    AnyVersion,
    /// Three or more conditions, and the first ones exclude each other.
    #[error("undefined method `intersection' for nil:NilClass")]
    EmptyIntersection,
    /// Two alternatives with the same end, which Ruby fails to merge.
    #[error("undefined local variable or method `exclude_end' for {interval}:{class}")]
    SameEnd {
        /// The first alternative.
        interval: String,
        /// Its Ruby class.
        class: &'static str,
    },
    /// A range of several alternatives that should be merged with another range.
    #[error("undefined method `major' for nil:NilClass")]
    SeveralAlternatives,
}

type Result<T> = std::result::Result<T, VersionRangeError>;

impl VersionRange {
    /// Parses a range.
    ///
    /// # Errors
    ///
    /// If Ruby refuses it.
    pub fn parse(text: &str) -> Result<Self> {
        let compact = remove_space_after_operators(text);
        let alternatives = split_alternatives(&compact);
        if alternatives.is_empty() {
            return Ok(VersionRange {
                intervals: vec![Interval::All],
                text: "*".to_owned(),
            });
        }
        let mut intervals: Vec<Interval> = Vec::new();
        for alternative in alternatives {
            if let Some(interval) = parse_alternative(alternative, text)?
                && !intervals.contains(&interval)
            {
                intervals.push(interval);
            }
        }
        Ok(VersionRange {
            intervals: merge_intervals(intervals)?,
            text: text.to_owned(),
        })
    }

    /// The range from one version to another, optionally without the last.
    ///
    /// # Errors
    ///
    /// If Ruby fails to build it.
    pub fn between(from: &Version, to: &Version, exclude: bool) -> Result<Self> {
        let (end, text) = if exclude {
            (Interval::Less(to.clone()), format!(">={to} <{from}"))
        } else {
            (Interval::AtMost(to.clone()), format!("{to} - {from}"))
        };
        let interval = Interval::AtLeast(from.clone()).intersection(&end);
        Ok(VersionRange {
            intervals: merge_intervals(interval.into_iter().collect())?,
            text,
        })
    }

    /// Is the version in the range? A pre-release only is if the range names a pre-release of the same version.
    pub fn includes(&self, version: &Version) -> bool {
        self.intervals.iter().any(|interval| {
            interval.includes(version)
                && (version.is_stable() || interval.admits_prerelease(version))
        })
    }

    fn only(&self) -> Option<&Interval> {
        match &self.intervals[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Does the other range include all versions of this one?
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

    /// Merges ranges that overlap or are adjacent.
    ///
    /// # Errors
    ///
    /// If Ruby fails to merge them.
    pub fn merge_all(ranges: Vec<VersionRange>) -> Result<Vec<VersionRange>> {
        if ranges.len() < 2 {
            return Ok(ranges);
        }
        let mut merged = merge_ranges(ranges, VersionRange::merge)?;
        merged.reverse();
        Ok(merged)
    }

    fn merge(&self, other: &VersionRange) -> Result<Option<VersionRange>> {
        let (Some(left), Some(right)) = (self.only(), other.only()) else {
            return Err(VersionRangeError::SeveralAlternatives);
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

    /// The range in normalized form, not as it was written.
    pub fn inspect(&self) -> String {
        let intervals: Vec<String> = self.intervals.iter().map(Interval::to_string).collect();
        intervals.join(" || ")
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for VersionRange {
    fn eq(&self, other: &Self) -> bool {
        self.intervals == other.intervals
    }
}

impl Eq for VersionRange {}

impl std::hash::Hash for VersionRange {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.intervals.hash(state);
    }
}
