//! [`VersionRange`]: ranges of semantic versions as node writes them: `>=1.0.0 <2.0.0 || 3.x`.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;

use super::semver::{Major, Version, is_qualifier, parse_number, parse_prerelease, split_build};

/// A range of semantic versions.
#[derive(Clone, Debug)]
pub struct VersionRange {
    parts: Vec<Part>,
    text: String,
}

/// A stretch of versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    All,
    Greater(Version),
    AtLeast(Version),
    Less(Version),
    AtMost(Version),
    Exactly(Version),
    Between(Box<Part>, Box<Part>),
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
    pub(crate) fn of(from: &Version, to: &Version) -> Option<Self> {
        VersionRange::between(from, to, false).ok()
    }

    /// From one version to another, with the last or without it.
    pub(crate) fn between(from: &Version, to: &Version, exclude: bool) -> Result<Self, String> {
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
    pub(super) fn is_covered_by(&self, other: &VersionRange) -> bool {
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
    pub(super) fn merge_all(mut ranges: Vec<VersionRange>) -> Result<Vec<VersionRange>, String> {
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
    pub(crate) fn inspect(&self) -> String {
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

/// Drops spaces, or else a `v`, after an operator.
fn tighten(text: &str) -> String {
    let mut tight = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
        tight.push(char);
        if "><=~^".contains(char) {
            let trimmed = rest.trim_start_matches(is_space);
            rest = if trimmed.len() < rest.len() {
                trimmed
            } else {
                rest.strip_prefix('v').unwrap_or(rest)
            };
        }
    }
    tight
}

fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// The texts around `||`. Ruby drops empty ones at the end.
fn split_alternatives(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut pieces: Vec<&str> = text.split("||").collect();
    let last = pieces.len() - 1;
    for (index, piece) in pieces.iter_mut().enumerate() {
        if index > 0 {
            *piece = piece.trim_start_matches(is_space);
        }
        if index < last {
            *piece = piece.trim_end_matches(is_space);
        }
    }
    while pieces.last().is_some_and(|piece| piece.is_empty()) {
        pieces.pop();
    }
    pieces
}

/// One alternative; `None` where its parts have nothing in common.
fn parse_alternative(text: &str, whole: &str) -> Result<Option<Part>, String> {
    let unparsable = || format!("Unparsable version range: \"{whole}\"");
    if let Some((from, to)) = split_hyphen(text) {
        let from = Part::AtLeast(Partial::parse(from)?.floor()?);
        return Ok(from.intersection(&Part::AtMost(Partial::parse(to)?.floor()?)));
    }
    let mut words: Vec<&str> = text
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    // Ruby keeps the empty word in front of a space, and none after the last.
    if text.starts_with(is_space) && !words.is_empty() {
        words.insert(0, "");
    }
    let mut common: Option<Option<Part>> = None;
    for word in words {
        let part = parse_simple(word).ok_or_else(unparsable)??;
        common = Some(match common {
            None => Some(part),
            Some(Some(known)) => known.intersection(&part),
            Some(None) => return Err("undefined method `intersection' for nil:NilClass".to_owned()),
        });
    }
    match common {
        Some(part) => Ok(part),
        // An empty alternative.
        None => Ok(None),
    }
}

/// `1.0 - 2.0`
fn split_hyphen(text: &str) -> Option<(&str, &str)> {
    let (from, rest) = text.split_once(is_space)?;
    let rest = rest.trim_start_matches(is_space).strip_prefix('-')?;
    let to = rest.trim_start_matches(is_space);
    let is_hyphen = rest.len() != to.len() && Partial::read(from).is_some();
    (is_hyphen && Partial::read(to).is_some()).then_some((from, to))
}

/// `^1.2`; the outer `None` where it cannot be read.
fn parse_simple(word: &str) -> Option<Result<Part, String>> {
    let operators = ["<=", ">=", "~>", "~=", "<", ">", "=", "~", "^"];
    let operator = operators
        .into_iter()
        .find(|operator| word.starts_with(operator));
    let operand = Partial::read(word.get(operator.map_or(0, str::len)..)?)?;
    Some(match operator {
        Some("~" | "~>" | "~=") => operand.patch_updates(true),
        Some("^") if operand.major == Some(BigInt::ZERO) => operand.patch_updates(true),
        Some("^") => operand.minor_updates(),
        Some(">") => operand.greater(),
        Some(">=") => operand.floor().map(Part::AtLeast),
        Some("<") => operand.floor().map(Part::Less),
        Some("<=") => operand.at_most(),
        _ => operand.patch_updates(false),
    })
}

/// A version of which parts may be missing or `x`.
struct Partial<'a> {
    major: Option<BigInt>,
    minor: Option<BigInt>,
    patch: Option<BigInt>,
    prerelease: Option<&'a str>,
    build: Option<&'a str>,
}

impl<'a> Partial<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let number = |text: &str| match text {
            "x" | "X" | "*" => Some(None),
            text => parse_number(text).map(Some),
        };
        let mut pieces = text.splitn(3, '.');
        let major = number(pieces.next()?)?;
        let minor = match pieces.next() {
            None => None,
            Some(minor) => number(minor)?,
        };
        let Some(rest) = pieces.next() else {
            return Some(Partial {
                major,
                minor,
                patch: None,
                prerelease: None,
                build: None,
            });
        };
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (rest, None),
        };
        let (patch, prerelease) = match rest.split_once('-') {
            Some((patch, prerelease)) => (patch, Some(prerelease)),
            None => (rest, None),
        };
        let qualified = build.is_none_or(is_qualifier) && prerelease.is_none_or(is_qualifier);
        Some(Partial {
            major,
            minor,
            patch: number(patch)?,
            prerelease: prerelease.filter(|_| qualified),
            build,
        })
        .filter(|_| qualified)
    }

    fn parse(text: &'a str) -> Result<Self, String> {
        Partial::read(text).ok_or_else(|| format!("Unparsable version range: \"{text}\""))
    }

    fn version(&self, [major, minor, patch]: [BigInt; 3]) -> Result<Version, String> {
        Ok(Version {
            prerelease: self.prerelease.map(parse_prerelease).transpose()?,
            build: self.build.map(split_build),
            ..Version::plain(major, minor, patch)
        })
    }

    /// The version with zeros for what is missing.
    fn floor(&self) -> Result<Version, String> {
        self.version([
            self.major.clone().unwrap_or_default(),
            self.minor.clone().unwrap_or_default(),
            self.patch.clone().unwrap_or_default(),
        ])
    }

    /// From the version up to the next minor one, or the next major one where no minor is given.
    fn patch_updates(&self, later: bool) -> Result<Part, String> {
        let zero = BigInt::ZERO;
        let Some(major) = &self.major else {
            return Ok(Part::All);
        };
        let Some(minor) = &self.minor else {
            return Ok(Part::from_to(
                Version::plain(major.clone(), zero.clone(), zero),
                Version::next_major(major),
            ));
        };
        let Some(patch) = &self.patch else {
            return Ok(Part::from_to(
                Version::plain(major.clone(), minor.clone(), zero),
                Version::next_minor(major, minor),
            ));
        };
        let version = self.version([major.clone(), minor.clone(), patch.clone()])?;
        if !later {
            return Ok(Part::Exactly(version));
        }
        Ok(Part::from_to(version, Version::next_minor(major, minor)))
    }

    /// From the version up to the next major one.
    fn minor_updates(&self) -> Result<Part, String> {
        let Some(major) = &self.major else {
            return Err(no_singleton());
        };
        let mut from = self.floor()?;
        if self.patch.is_none() || self.prerelease.is_none() {
            (from.prerelease, from.build) = (None, None);
        }
        if self.minor.is_none() {
            from.patch = BigInt::ZERO;
        }
        Ok(Part::from_to(from, Version::next_major(major)))
    }

    fn greater(&self) -> Result<Part, String> {
        let Some(major) = &self.major else {
            return Ok(Part::Less(Version::least()));
        };
        let Some(minor) = &self.minor else {
            return Ok(Part::AtLeast(Version::next_major(major)));
        };
        let Some(patch) = &self.patch else {
            return Ok(Part::AtLeast(Version::next_minor(major, minor)));
        };
        let version = self.version([major.clone(), minor.clone(), patch.clone()])?;
        Ok(Part::Greater(version))
    }

    fn at_most(&self) -> Result<Part, String> {
        let Some(major) = &self.major else {
            return Err(no_singleton());
        };
        let Some(minor) = &self.minor else {
            return Ok(Part::Less(Version::next_major(major)));
        };
        let Some(patch) = &self.patch else {
            return Ok(Part::Less(Version::next_minor(major, minor)));
        };
        let version = self.version([major.clone(), minor.clone(), patch.clone()])?;
        Ok(Part::AtMost(version))
    }
}

/// What Ruby says of `<=x` and `^x`, by a slip in its library.
fn no_singleton() -> String {
    "undefined method `SINGLETON' for SemanticPuppet::VersionRange::AllRange:Class".to_owned()
}

impl Version {
    fn next_major(major: &BigInt) -> Version {
        Version::plain(major + 1, BigInt::ZERO, BigInt::ZERO)
    }

    fn next_minor(major: &BigInt, minor: &BigInt) -> Version {
        Version::plain(major.clone(), minor + 1, BigInt::ZERO)
    }

    fn is(&self, other: &Version, orders: &[Ordering]) -> bool {
        orders.contains(&self.compare(other))
    }
}

impl Part {
    fn from_to(from: Version, to: Version) -> Part {
        Part::Between(Box::new(Part::AtLeast(from)), Box::new(Part::Less(to)))
    }

    fn includes(&self, version: &Version) -> bool {
        use Ordering::{Equal, Greater, Less};
        match self {
            Part::All => true,
            Part::Greater(than) => version.is(than, &[Greater]),
            Part::AtLeast(than) => version.is(than, &[Greater, Equal]),
            Part::Less(than) => version.is(than, &[Less]),
            Part::AtMost(than) => version.is(than, &[Less, Equal]),
            Part::Exactly(only) => version == only,
            Part::Between(min, max) => min.includes(version) && max.includes(version),
        }
    }

    fn admits_prerelease(&self, version: &Version) -> bool {
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

    fn begin(&self) -> Version {
        match self {
            Part::Greater(own) | Part::AtLeast(own) | Part::Exactly(own) => own.clone(),
            Part::Between(min, _) => min.begin(),
            Part::All | Part::Less(_) | Part::AtMost(_) => Version::least(),
        }
    }

    fn end(&self) -> Version {
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

    fn excludes_end(&self) -> bool {
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
    fn intersection(&self, other: &Part) -> Option<Part> {
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
fn merge_parts(mut parts: Vec<Part>) -> Result<Vec<Part>, String> {
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
