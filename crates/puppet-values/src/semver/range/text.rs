//! Ranges of versions as they are written: `>=1.0.0 <2.0.0`, `^1.2`, `1.0 - 2.0`.

use num_bigint::BigInt;

use super::super::{Version, is_qualifier, parse_number, parse_prerelease, split_build};
use super::part::Part;

/// Drops spaces, or else a `v`, after an operator.
pub(super) fn tighten(text: &str) -> String {
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

/// One alternative; `None` where its parts have nothing in common.
pub(super) fn parse_alternative(text: &str, whole: &str) -> Result<Option<Part>, String> {
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
}
