//! [`Interval`]: consecutive versions.

use std::cmp::Ordering;
use std::fmt;

use super::super::{Major, Version};
use super::{Result, VersionRangeError};

/// Consecutive versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Interval {
    All,
    Greater(Version),
    AtLeast(Version),
    Less(Version),
    AtMost(Version),
    Exactly(Version),
    Between(Box<Interval>, Box<Interval>),
}

impl Interval {
    pub(super) fn from_to(from: Version, to: Version) -> Interval {
        Interval::Between(
            Box::new(Interval::AtLeast(from)),
            Box::new(Interval::Less(to)),
        )
    }

    pub(super) fn includes(&self, version: &Version) -> bool {
        let order = |than: &Version| version.compare(than);
        match self {
            Interval::All => true,
            Interval::Greater(than) => order(than).is_gt(),
            Interval::AtLeast(than) => order(than).is_ge(),
            Interval::Less(than) => order(than).is_lt(),
            Interval::AtMost(than) => order(than).is_le(),
            Interval::Exactly(only) => version == only,
            Interval::Between(min, max) => min.includes(version) && max.includes(version),
        }
    }

    pub(super) fn admits_prerelease(&self, version: &Version) -> bool {
        match self {
            Interval::All => true,
            Interval::Between(min, max) => {
                min.admits_prerelease(version) || max.admits_prerelease(version)
            }
            Interval::Greater(own)
            | Interval::AtLeast(own)
            | Interval::Less(own)
            | Interval::AtMost(own)
            | Interval::Exactly(own) => {
                !own.is_stable()
                    && own.major == version.major
                    && own.minor == version.minor
                    && own.patch == version.patch
            }
        }
    }

    pub(super) fn begin(&self) -> Version {
        match self {
            Interval::Greater(own) | Interval::AtLeast(own) | Interval::Exactly(own) => own.clone(),
            Interval::Between(min, _) => min.begin(),
            Interval::All | Interval::Less(_) | Interval::AtMost(_) => Version::lowest(),
        }
    }

    pub(super) fn end(&self) -> Version {
        match self {
            Interval::Less(own) | Interval::AtMost(own) | Interval::Exactly(own) => own.clone(),
            Interval::Between(_, max) => max.end(),
            Interval::All | Interval::Greater(_) | Interval::AtLeast(_) => Version::highest(),
        }
    }

    fn excludes_begin(&self) -> bool {
        match self {
            Interval::Greater(_) => true,
            Interval::Between(min, _) => min.excludes_begin(),
            _ => false,
        }
    }

    pub(super) fn excludes_end(&self) -> bool {
        match self {
            Interval::Less(_) => true,
            Interval::Between(_, max) => max.excludes_end(),
            _ => false,
        }
    }

    fn has_lower_bound(&self) -> bool {
        match self {
            Interval::Greater(_) => true,
            Interval::AtLeast(own) | Interval::Exactly(own) => *own != Version::lowest(),
            Interval::Between(min, _) => min.has_lower_bound(),
            Interval::All | Interval::Less(_) | Interval::AtMost(_) => false,
        }
    }

    fn has_upper_bound(&self) -> bool {
        match self {
            Interval::Less(_) => true,
            Interval::AtMost(own) | Interval::Exactly(own) => *own != Version::highest(),
            Interval::Between(_, max) => max.has_upper_bound(),
            Interval::All | Interval::Greater(_) | Interval::AtLeast(_) => false,
        }
    }

    /// The versions in both; `None` if there are none.
    pub(super) fn intersection(&self, other: &Interval) -> Option<Interval> {
        if *self == Interval::All {
            return Some(other.clone());
        }
        match self.begin().compare(&other.end()) {
            Ordering::Greater => return None,
            Ordering::Equal => {
                let apart = self.excludes_begin() || other.excludes_end();
                return (!apart).then(|| Interval::Exactly(self.begin()));
            }
            Ordering::Less => {}
        }
        match other.begin().compare(&self.end()) {
            Ordering::Greater => return None,
            Ordering::Equal => {
                let apart = other.excludes_begin() || self.excludes_end();
                return (!apart).then(|| Interval::Exactly(other.begin()));
            }
            Ordering::Less => {}
        }
        let min = match self.begin().compare(&other.begin()) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal if self.excludes_begin() => self,
            Ordering::Equal => other,
        };
        let max = match self.end().compare(&other.end()) {
            Ordering::Greater => other,
            Ordering::Less => self,
            Ordering::Equal if self.excludes_end() => self,
            Ordering::Equal => other,
        };
        if !max.has_upper_bound() {
            return Some(min.clone());
        }
        if !min.has_lower_bound() {
            return Some(max.clone());
        }
        let lower = match min {
            Interval::Between(lower, _) => (**lower).clone(),
            interval => interval.clone(),
        };
        let upper = match max {
            Interval::Between(_, upper) => (**upper).clone(),
            interval => interval.clone(),
        };
        Some(Interval::Between(Box::new(lower), Box::new(upper)))
    }

    /// Both as one, if they overlap or are adjacent.
    fn merge(&self, other: &Interval) -> Result<Option<Interval>> {
        if *self == Interval::All {
            return Ok(Some(Interval::All));
        }
        let (begin, end) = (self.begin(), self.end());
        let (other_begin, other_end) = (other.begin(), other.end());
        if self.includes(&other_begin) || other.includes(&begin) {
            let (min, excludes_begin) = match begin.compare(&other_begin) {
                Ordering::Less => (begin, self.excludes_begin()),
                Ordering::Greater => (other_begin, other.excludes_begin()),
                Ordering::Equal => (begin, self.excludes_begin() && other.excludes_begin()),
            };
            let (max, excludes_end) = match end.compare(&other_end) {
                Ordering::Greater => (end, self.excludes_end()),
                Ordering::Less => (other_end, other.excludes_end()),
                Ordering::Equal => {
                    return Err(VersionRangeError::SameEnd {
                        interval: self.to_string(),
                        class: self.ruby_class(),
                    });
                }
            };
            return Ok(Interval::ends(min, excludes_begin, max, excludes_end));
        }
        let from_to = |left: &Interval, right: &Interval| {
            Interval::ends(
                left.begin(),
                left.excludes_begin(),
                right.end(),
                right.excludes_end(),
            )
        };
        if self.excludes_end() && !other.excludes_begin() && end == other_begin {
            return Ok(from_to(self, other));
        }
        if other.excludes_end() && !self.excludes_begin() && other_end == begin {
            return Ok(from_to(other, self));
        }
        if !self.excludes_end() && !other.excludes_begin() && follows(&end, &other_begin) {
            return Ok(from_to(self, other));
        }
        if !other.excludes_end() && !self.excludes_begin() && follows(&other_end, &begin) {
            return Ok(from_to(other, self));
        }
        Ok(None)
    }

    fn ends(
        min: Version,
        excludes_min: bool,
        max: Version,
        excludes_max: bool,
    ) -> Option<Interval> {
        let lower = if excludes_min {
            Interval::Greater(min)
        } else {
            Interval::AtLeast(min)
        };
        let upper = if excludes_max {
            Interval::Less(max)
        } else {
            Interval::AtMost(max)
        };
        lower.intersection(&upper)
    }

    fn ruby_class(&self) -> &'static str {
        match self {
            Interval::All => "SemanticPuppet::VersionRange::AllRange",
            Interval::Greater(_) => "SemanticPuppet::VersionRange::GtRange",
            Interval::AtLeast(_) => "SemanticPuppet::VersionRange::GtEqRange",
            Interval::Less(_) => "SemanticPuppet::VersionRange::LtRange",
            Interval::AtMost(_) => "SemanticPuppet::VersionRange::LtEqRange",
            Interval::Exactly(_) => "SemanticPuppet::VersionRange::EqRange",
            Interval::Between(..) => "SemanticPuppet::VersionRange::MinMaxRange",
        }
    }
}

/// Is the second version the next patch of the first?
fn follows(version: &Version, next: &Version) -> bool {
    version.major != Major::Infinite && version.next_patch() == *next
}

/// Merges intervals until none overlaps or is adjacent to another.
pub(super) fn merge_intervals(mut intervals: Vec<Interval>) -> Result<Vec<Interval>> {
    let mut merge_happened = true;
    while intervals.len() > 1 && merge_happened {
        merge_happened = false;
        let mut result = Vec::new();
        while let Some(last) = intervals.pop() {
            let mut unmerged = Vec::new();
            let mut current = last;
            for interval in intervals {
                match current.merge(&interval)? {
                    Some(both) => {
                        merge_happened = true;
                        current = both;
                    }
                    None => unmerged.push(interval),
                }
            }
            result.push(current);
            intervals = unmerged;
        }
        result.reverse();
        intervals = result;
    }
    if intervals.is_empty() {
        intervals.push(Interval::Less(Version::lowest()));
    }
    Ok(intervals)
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interval::All => f.write_str("*"),
            Interval::Greater(own) => write!(f, ">{own}"),
            Interval::AtLeast(own) => write!(f, ">={own}"),
            Interval::Less(own) if *own == Version::lowest() => f.write_str("<0.0.0"),
            Interval::Less(own) => write!(f, "<{own}"),
            Interval::AtMost(own) => write!(f, "<={own}"),
            Interval::Exactly(own) => write!(f, "{own}"),
            Interval::Between(min, max) => write!(f, "{min} {max}"),
        }
    }
}
