//! [`Version`]: a semantic version, and [`VersionRange`], as Puppet's library `semantic_puppet` reads and compares them.
//!
//! ```
//! use puppet_values::semver::{Version, VersionRange};
//!
//! let range = VersionRange::parse(">=1.2.0 <2.0.0 || 3.x")?;
//! assert!(range.includes(&Version::parse("1.10.0")?));
//! assert!(!range.includes(&Version::parse("2.0.0")?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;

mod range;

pub use range::{VersionRange, VersionRangeError};

/// A semantic version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    pub(super) major: Major,
    pub(super) minor: BigInt,
    pub(super) patch: BigInt,
    /// The part after `-`. The empty list sorts before all others.
    pub(super) prerelease: Option<Vec<Identifier>>,
    /// The part after `+`. Comparisons ignore it.
    pub(super) build: Option<Vec<String>>,
}

/// A major version. That of the highest version is infinite.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Major {
    Number(BigInt),
    Infinite,
}

/// A part of a pre-release. Numbers sort before strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Identifier {
    Number(BigInt),
    Text(String),
}

/// Why a version is refused, with Ruby's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionError {
    /// It is not a version.
    #[error("Unable to parse '{text}' as a semantic version identifier")]
    NotAVersion {
        /// The string.
        text: String,
    },
    /// A number of the pre-release starts with a zero.
    #[error("Numeric pre-release identifiers MUST NOT contain leading zeroes")]
    LeadingZero,
}

impl Version {
    /// Parses a version such as `1.2.3-rc.1+build`.
    ///
    /// # Errors
    ///
    /// If Ruby refuses it.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let failed = || VersionError::NotAVersion {
            text: text.to_owned(),
        };
        // Ruby's `\Z` allows a line break at the end.
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

    /// A version from its parts. Puppet does not split qualifiers here.
    pub fn from_parts(
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

    /// The lowest version.
    pub fn lowest() -> Self {
        Version {
            prerelease: Some(Vec::new()),
            ..Version::plain(BigInt::ZERO, BigInt::ZERO, BigInt::ZERO)
        }
    }

    /// The highest version.
    pub fn highest() -> Self {
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

    /// The order of two versions. Unlike equality, it ignores the build.
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

/// Is it a valid pre-release or build: parts of letters, digits and hyphens, separated by dots?
pub fn is_qualifier(text: &str) -> bool {
    text.split('.').all(|part| {
        !part.is_empty()
            && part
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '-')
    })
}

/// A number without leading zeros.
pub(super) fn parse_number(text: &str) -> Option<BigInt> {
    let is_number = !text.is_empty() && text.chars().all(|char| char.is_ascii_digit());
    if !is_number || text.len() > 1 && text.starts_with('0') {
        return None;
    }
    BigInt::parse_bytes(text.as_bytes(), 10)
}

pub(super) fn parse_prerelease(text: &str) -> Result<Vec<Identifier>, VersionError> {
    text.split('.')
        .map(|part| {
            if !part.chars().all(|char| char.is_ascii_digit()) {
                return Ok(Identifier::Text(part.to_owned()));
            }
            let number = parse_number(part).ok_or(VersionError::LeadingZero)?;
            Ok(Identifier::Number(number))
        })
        .collect()
}

pub(super) fn split_build(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}
