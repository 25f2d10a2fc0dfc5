//! The syntax of ranges: `>=1.0.0 <2.0.0`, `^1.2`, `1.0 - 2.0`.

use num_bigint::BigInt;
use psych_yaml::ruby::is_space;

use super::super::{Version, is_qualifier, parse_number, parse_prerelease, split_build};
use super::interval::Interval;
use super::{Result, VersionRangeError};

/// Removes the white space after an operator or, if there is none, a `v`.
pub(super) fn remove_space_after_operators(text: &str) -> String {
    let mut compact = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
        compact.push(char);
        if "><=~^".contains(char) {
            let trimmed = rest.trim_start_matches(is_space);
            rest = if trimmed.len() < rest.len() {
                trimmed
            } else {
                rest.strip_prefix('v').unwrap_or(rest)
            };
        }
    }
    compact
}

/// The alternatives around `||`. Ruby drops empty ones at the end.
pub(super) fn split_alternatives(text: &str) -> Vec<&str> {
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

/// Parses one alternative; `None` if its conditions exclude each other.
pub(super) fn parse_alternative(text: &str, range: &str) -> Result<Option<Interval>> {
    let not_a_range = || VersionRangeError::NotARange {
        text: range.to_owned(),
    };
    if let Some((from, to)) = split_hyphen(text) {
        let from = Interval::AtLeast(Partial::parse(from)?.floor()?);
        return Ok(from.intersection(&Interval::AtMost(Partial::parse(to)?.floor()?)));
    }
    let mut words: Vec<&str> = text
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    // Ruby keeps an empty word before leading white space, but none at the end.
    if text.starts_with(is_space) && !words.is_empty() {
        words.insert(0, "");
    }
    let mut common: Option<Option<Interval>> = None;
    for word in words {
        let interval = parse_simple(word).ok_or_else(not_a_range)??;
        common = Some(match common {
            None => Some(interval),
            Some(Some(common)) => common.intersection(&interval),
            Some(None) => return Err(VersionRangeError::EmptyIntersection),
        });
    }
    // Without a word it is an empty alternative.
    Ok(common.flatten())
}

/// `1.0 - 2.0`
fn split_hyphen(text: &str) -> Option<(&str, &str)> {
    let (from, rest) = text.split_once(is_space)?;
    let rest = rest.trim_start_matches(is_space).strip_prefix('-')?;
    let to = rest.trim_start_matches(is_space);
    let is_hyphen = rest.len() != to.len() && Partial::read(from).is_some();
    (is_hyphen && Partial::read(to).is_some()).then_some((from, to))
}

/// Parses one condition such as `^1.2`; `None` if it is none.
fn parse_simple(word: &str) -> Option<Result<Interval>> {
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
        Some(">=") => operand.floor().map(Interval::AtLeast),
        Some("<") => operand.floor().map(Interval::Less),
        Some("<=") => operand.at_most(),
        _ => operand.patch_updates(false),
    })
}

/// A version with parts that may be missing or `x`.
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

    fn parse(text: &'a str) -> Result<Self> {
        Partial::read(text).ok_or_else(|| VersionRangeError::NotARange {
            text: text.to_owned(),
        })
    }

    fn version(&self, [major, minor, patch]: [BigInt; 3]) -> Result<Version> {
        Ok(Version {
            prerelease: self.prerelease.map(parse_prerelease).transpose()?,
            build: self.build.map(split_build),
            ..Version::plain(major, minor, patch)
        })
    }

    /// The version with zeros for missing parts.
    fn floor(&self) -> Result<Version> {
        self.version([
            self.major.clone().unwrap_or_default(),
            self.minor.clone().unwrap_or_default(),
            self.patch.clone().unwrap_or_default(),
        ])
    }

    /// From the version to the next minor version, or to the next major version if no minor is given.
    fn patch_updates(&self, later: bool) -> Result<Interval> {
        let zero = BigInt::ZERO;
        let Some(major) = &self.major else {
            return Ok(Interval::All);
        };
        let Some(minor) = &self.minor else {
            return Ok(Interval::from_to(
                Version::plain(major.clone(), zero.clone(), zero),
                Version::next_major(major),
            ));
        };
        let Some(patch) = &self.patch else {
            return Ok(Interval::from_to(
                Version::plain(major.clone(), minor.clone(), zero),
                Version::next_minor(major, minor),
            ));
        };
        let version = self.version([major.clone(), minor.clone(), patch.clone()])?;
        if !later {
            return Ok(Interval::Exactly(version));
        }
        Ok(Interval::from_to(
            version,
            Version::next_minor(major, minor),
        ))
    }

    /// From the version to the next major version.
    fn minor_updates(&self) -> Result<Interval> {
        let Some(major) = &self.major else {
            return Err(VersionRangeError::AnyVersion);
        };
        let mut from = self.floor()?;
        if self.patch.is_none() || self.prerelease.is_none() {
            (from.prerelease, from.build) = (None, None);
        }
        if self.minor.is_none() {
            from.patch = BigInt::ZERO;
        }
        Ok(Interval::from_to(from, Version::next_major(major)))
    }

    fn greater(&self) -> Result<Interval> {
        let Some(major) = &self.major else {
            return Ok(Interval::Less(Version::lowest()));
        };
        let Some(minor) = &self.minor else {
            return Ok(Interval::AtLeast(Version::next_major(major)));
        };
        let Some(patch) = &self.patch else {
            return Ok(Interval::AtLeast(Version::next_minor(major, minor)));
        };
        let version = self.version([major.clone(), minor.clone(), patch.clone()])?;
        Ok(Interval::Greater(version))
    }

    fn at_most(&self) -> Result<Interval> {
        let Some(major) = &self.major else {
            return Err(VersionRangeError::AnyVersion);
        };
        let Some(minor) = &self.minor else {
            return Ok(Interval::Less(Version::next_major(major)));
        };
        let Some(patch) = &self.patch else {
            return Ok(Interval::Less(Version::next_minor(major, minor)));
        };
        let version = self.version([major.clone(), minor.clone(), patch.clone()])?;
        Ok(Interval::AtMost(version))
    }
}

impl Version {
    fn next_major(major: &BigInt) -> Version {
        Version::plain(major + 1, BigInt::ZERO, BigInt::ZERO)
    }

    fn next_minor(major: &BigInt, minor: &BigInt) -> Version {
        Version::plain(major.clone(), minor + 1, BigInt::ZERO)
    }
}
