//! [`Version`]: a semantic version, and the ranges of them ([`VersionRange`]).

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;

mod range;

pub use range::VersionRange;

/// A semantic version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    pub(super) major: Major,
    pub(super) minor: BigInt,
    pub(super) patch: BigInt,
    /// What stands after `-`. An empty list is before every other.
    pub(super) prerelease: Option<Vec<Identifier>>,
    /// What stands after `+`. It does not count in comparisons.
    pub(super) build: Option<Vec<String>>,
}

/// A major version; that of the greatest version has no number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Major {
    Number(BigInt),
    Infinite,
}

/// A part of a pre-release. Numbers come before text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Identifier {
    Number(BigInt),
    Text(String),
}

impl Version {
    /// Reads a version such as `1.2.3-rc.1+build`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let failed = || format!("Unable to parse '{text}' as a semantic version identifier");
        // Ruby's `\Z` lets a newline stand at the end.
        let trimmed = text.strip_suffix('\n').unwrap_or(text);
        let (trimmed, build) = match trimmed.split_once('+') {
            Some((front, build)) => (front, Some(build)),
            None => (trimmed, None),
        };
        let (numbers, prerelease) = match trimmed.split_once('-') {
            Some((front, prerelease)) => (front, Some(prerelease)),
            None => (trimmed, None),
        };
        if !build.is_none_or(is_qualifier) || !prerelease.is_none_or(is_qualifier) {
            return Err(failed());
        }
        let numbers: Option<Vec<BigInt>> = numbers.split('.').map(parse_number).collect();
        let Ok([major, minor, patch]) = <[BigInt; 3]>::try_from(numbers.unwrap_or_default()) else {
            return Err(failed());
        };
        Ok(Version {
            major: Major::Number(major),
            minor,
            patch,
            prerelease: prerelease.map(parse_prerelease).transpose()?,
            build: build.map(split_build),
        })
    }

    /// A version of these parts. Puppet does not take a qualifier apart here.
    pub fn of_parts(
        [major, minor, patch]: [BigInt; 3],
        prerelease: Option<&str>,
        build: Option<&str>,
    ) -> Self {
        Version {
            major: Major::Number(major),
            minor,
            patch,
            prerelease: prerelease.map(|text| vec![Identifier::Text(text.to_owned())]),
            build: build.map(|text| vec![text.to_owned()]),
        }
    }

    /// The least version.
    pub fn least() -> Self {
        Version {
            prerelease: Some(Vec::new()),
            ..Version::plain(BigInt::ZERO, BigInt::ZERO, BigInt::ZERO)
        }
    }

    /// The greatest version.
    pub fn greatest() -> Self {
        Version {
            major: Major::Infinite,
            ..Version::plain(BigInt::ZERO, BigInt::ZERO, BigInt::ZERO)
        }
    }

    pub(super) fn plain(major: BigInt, minor: BigInt, patch: BigInt) -> Self {
        Version {
            major: Major::Number(major),
            minor,
            patch,
            prerelease: None,
            build: None,
        }
    }

    pub(super) fn is_stable(&self) -> bool {
        self.prerelease.as_ref().is_none_or(Vec::is_empty)
    }

    pub(super) fn next_patch(&self) -> Self {
        Version {
            patch: &self.patch + 1,
            prerelease: None,
            build: None,
            ..self.clone()
        }
    }

    /// Which of two versions comes first; equality, unlike this, looks at the build.
    pub(super) fn compare(&self, other: &Version) -> Ordering {
        self.major
            .cmp(&other.major)
            .then_with(|| self.minor.cmp(&other.minor))
            .then_with(|| self.patch.cmp(&other.patch))
            .then_with(|| match (&self.prerelease, &other.prerelease) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(left), Some(right)) => left.cmp(right),
            })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.major {
            Major::Number(major) => write!(f, "{major}")?,
            Major::Infinite => f.write_str("Infinity")?,
        }
        write!(f, ".{}.{}", self.minor, self.patch)?;
        if let Some(prerelease) = &self.prerelease {
            let parts: Vec<String> = prerelease.iter().map(Identifier::to_string).collect();
            write!(f, "-{}", parts.join("."))?;
        }
        match &self.build {
            Some(build) => write!(f, "+{}", build.join(".")),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identifier::Number(number) => write!(f, "{number}"),
            Identifier::Text(text) => f.write_str(text),
        }
    }
}

/// Parts of letters, digits and hyphens with dots between.
pub fn is_qualifier(text: &str) -> bool {
    text.split('.').all(|part| {
        !part.is_empty()
            && part
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '-')
    })
}

/// A number without needless zeros.
pub(super) fn parse_number(text: &str) -> Option<BigInt> {
    let is_number = !text.is_empty() && text.chars().all(|char| char.is_ascii_digit());
    if !is_number || text.len() > 1 && text.starts_with('0') {
        return None;
    }
    BigInt::parse_bytes(text.as_bytes(), 10)
}

pub(super) fn parse_prerelease(text: &str) -> Result<Vec<Identifier>, String> {
    text.split('.')
        .map(|part| {
            if !part.chars().all(|char| char.is_ascii_digit()) {
                return Ok(Identifier::Text(part.to_owned()));
            }
            parse_number(part).map(Identifier::Number).ok_or_else(|| {
                "Numeric pre-release identifiers MUST NOT contain leading zeroes".to_owned()
            })
        })
        .collect()
}

pub(super) fn split_build(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}
