//! [`Part`]: a stretch of versions without gaps.

use std::cmp::Ordering;
use std::fmt;

use super::super::{Major, Version};

/// A stretch of versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    All,
    Greater(Version),
    AtLeast(Version),
    Less(Version),
    AtMost(Version),
    Exactly(Version),
    Between(Box<Part>, Box<Part>),
}

impl Part {
    pub(super) fn from_to(from: Version, to: Version) -> Part {
        Part::Between(Box::new(Part::AtLeast(from)), Box::new(Part::Less(to)))
    }

    pub(super) fn includes(&self, version: &Version) -> bool {
        let order = |than: &Version| version.compare(than);
        match self {
            Part::All => true,
            Part::Greater(than) => order(than).is_gt(),
            Part::AtLeast(than) => order(than).is_ge(),
            Part::Less(than) => order(than).is_lt(),
            Part::AtMost(than) => order(than).is_le(),
            Part::Exactly(only) => version == only,
            Part::Between(min, max) => min.includes(version) && max.includes(version),
        }
    }

    pub(super) fn admits_prerelease(&self, version: &Version) -> bool {
        match self {
            Part::All => true,
            Part::Between(min, max) => {
                min.admits_prerelease(version) || max.admits_prerelease(version)
            }
            Part::Greater(own)
            | Part::AtLeast(own)
            | Part::Less(own)
            | Part::AtMost(own)
            | Part::Exactly(own) => {
                !own.is_stable()
                    && own.major == version.major
                    && own.minor == version.minor
                    && own.patch == version.patch
            }
        }
    }

    pub(super) fn begin(&self) -> Version {
        match self {
            Part::Greater(own) | Part::AtLeast(own) | Part::Exactly(own) => own.clone(),
            Part::Between(min, _) => min.begin(),
            Part::All | Part::Less(_) | Part::AtMost(_) => Version::least(),
        }
    }

    pub(super) fn end(&self) -> Version {
        match self {
            Part::Less(own) | Part::AtMost(own) | Part::Exactly(own) => own.clone(),
            Part::Between(_, max) => max.end(),
            Part::All | Part::Greater(_) | Part::AtLeast(_) => Version::greatest(),
        }
    }

    fn excludes_begin(&self) -> bool {
        match self {
            Part::Greater(_) => true,
            Part::Between(min, _) => min.excludes_begin(),
            _ => false,
        }
    }

    pub(super) fn excludes_end(&self) -> bool {
        match self {
            Part::Less(_) => true,
            Part::Between(_, max) => max.excludes_end(),
            _ => false,
        }
    }

    fn has_lower_bound(&self) -> bool {
        match self {
            Part::Greater(_) => true,
            Part::AtLeast(own) | Part::Exactly(own) => *own != Version::least(),
            Part::Between(min, _) => min.has_lower_bound(),
            Part::All | Part::Less(_) | Part::AtMost(_) => false,
        }
    }

    fn has_upper_bound(&self) -> bool {
        match self {
            Part::Less(_) => true,
            Part::AtMost(own) | Part::Exactly(own) => *own != Version::greatest(),
            Part::Between(_, max) => max.has_upper_bound(),
            Part::All | Part::Greater(_) | Part::AtLeast(_) => false,
        }
    }

    /// What both have in common, where there is any.
    pub(super) fn intersection(&self, other: &Part) -> Option<Part> {
        if *self == Part::All {
            return Some(other.clone());
        }
        match self.begin().compare(&other.end()) {
            Ordering::Greater => return None,
            Ordering::Equal => {
                let apart = self.excludes_begin() || other.excludes_end();
                return (!apart).then(|| Part::Exactly(self.begin()));
            }
            Ordering::Less => {}
        }
        match other.begin().compare(&self.end()) {
            Ordering::Greater => return None,
            Ordering::Equal => {
                let apart = other.excludes_begin() || self.excludes_end();
                return (!apart).then(|| Part::Exactly(other.begin()));
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
            Part::Between(lower, _) => (**lower).clone(),
            part => part.clone(),
        };
        let upper = match max {
            Part::Between(_, upper) => (**upper).clone(),
            part => part.clone(),
        };
        Some(Part::Between(Box::new(lower), Box::new(upper)))
    }

    /// Both as one, where they meet.
    fn merge(&self, other: &Part) -> Result<Option<Part>, String> {
        if *self == Part::All {
            return Ok(Some(Part::All));
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
                // A slip in Ruby's library, by which two ranges with the same end cannot be merged.
                Ordering::Equal => {
                    let class = self.class();
                    return Err(format!(
                        "undefined local variable or method `exclude_end' for {self}:{class}"
                    ));
                }
            };
            return Ok(Part::ends(min, excludes_begin, max, excludes_end));
        }
        let from_to = |left: &Part, right: &Part| {
            Part::ends(
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

    fn ends(min: Version, excludes_min: bool, max: Version, excludes_max: bool) -> Option<Part> {
        let lower = if excludes_min {
            Part::Greater(min)
        } else {
            Part::AtLeast(min)
        };
        let upper = if excludes_max {
            Part::Less(max)
        } else {
            Part::AtMost(max)
        };
        lower.intersection(&upper)
    }

    fn class(&self) -> &'static str {
        match self {
            Part::All => "SemanticPuppet::VersionRange::AllRange",
            Part::Greater(_) => "SemanticPuppet::VersionRange::GtRange",
            Part::AtLeast(_) => "SemanticPuppet::VersionRange::GtEqRange",
            Part::Less(_) => "SemanticPuppet::VersionRange::LtRange",
            Part::AtMost(_) => "SemanticPuppet::VersionRange::LtEqRange",
            Part::Exactly(_) => "SemanticPuppet::VersionRange::EqRange",
            Part::Between(..) => "SemanticPuppet::VersionRange::MinMaxRange",
        }
    }
}

/// Is the second version the next patch of the first?
fn follows(version: &Version, next: &Version) -> bool {
    version.major != Major::Infinite && version.next_patch() == *next
}

/// Merges parts until none meets another.
pub(super) fn merge_parts(mut parts: Vec<Part>) -> Result<Vec<Part>, String> {
    let mut merge_happened = true;
    while parts.len() > 1 && merge_happened {
        merge_happened = false;
        let mut result = Vec::new();
        while let Some(last) = parts.pop() {
            let mut unmerged = Vec::new();
            let mut current = last;
            for part in parts {
                match current.merge(&part)? {
                    Some(both) => {
                        merge_happened = true;
                        current = both;
                    }
                    None => unmerged.push(part),
                }
            }
            result.push(current);
            parts = unmerged;
        }
        result.reverse();
        parts = result;
    }
    if parts.is_empty() {
        parts.push(Part::Less(Version::least()));
    }
    Ok(parts)
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::All => f.write_str("*"),
            Part::Greater(own) => write!(f, ">{own}"),
            Part::AtLeast(own) => write!(f, ">={own}"),
            Part::Less(own) if *own == Version::least() => f.write_str("<0.0.0"),
            Part::Less(own) => write!(f, "<{own}"),
            Part::AtMost(own) => write!(f, "<={own}"),
            Part::Exactly(own) => write!(f, "{own}"),
            Part::Between(min, max) => write!(f, "{min} {max}"),
        }
    }
}
