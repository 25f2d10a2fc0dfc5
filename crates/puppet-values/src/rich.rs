//! [`Rich`]: the values that no data file can hold, made by conversions.

use std::fmt;
use std::sync::Arc;

use crate::opaque::TypeValue;
use crate::regexp::Regexp;
use crate::semver::{Version, VersionRange};
use crate::time::{timespan_text, timestamp_text};
use crate::uri::Uri;

/// A value that only a conversion can make.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rich {
    /// Puppet's `default`.
    Default,
    /// A regular expression.
    Regexp(Regexp),
    /// A point in time, in nanoseconds since 1970 (UTC).
    Timestamp(i128),
    /// A length of time in nanoseconds.
    Timespan(i128),
    /// A semantic version.
    SemVer(Version),
    /// A range of semantic versions.
    SemVerRange(VersionRange),
    /// Bytes.
    Binary(Arc<[u8]>),
    /// A URI.
    Uri(Uri),
    /// A type.
    Type(TypeValue),
}

impl Rich {
    /// The name of its type in the Puppet language.
    pub fn type_name(&self) -> &'static str {
        match self {
            Rich::Default => "Default",
            Rich::Regexp(_) => "Regexp",
            Rich::Timestamp(_) => "Timestamp",
            Rich::Timespan(_) => "Timespan",
            Rich::SemVer(_) => "SemVer",
            Rich::SemVerRange(_) => "SemVerRange",
            Rich::Binary(_) => "Binary",
            Rich::Uri(_) => "URI",
            Rich::Type(_) => "Type",
        }
    }
}

/// The text that Puppet's `String()` makes of the value.
impl fmt::Display for Rich {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rich::Default => out.write_str("default"),
            Rich::Regexp(regexp) => out.write_str(&regexp.text()),
            Rich::Timestamp(time) => out.write_str(&timestamp_text(*time)),
            Rich::Timespan(time) => out.write_str(&timespan_text(*time)),
            Rich::SemVer(version) => version.fmt(out),
            Rich::SemVerRange(range) => range.fmt(out),
            // Puppet fails on bytes that are not text.
            Rich::Binary(bytes) => out.write_str(std::str::from_utf8(bytes).unwrap_or_default()),
            Rich::Uri(uri) => uri.fmt(out),
            Rich::Type(ty) => ty.fmt(out),
        }
    }
}
