//! [`Rich`]: values that data files cannot contain, created by conversions.

use std::fmt;
use std::sync::Arc;

use crate::opaque::TypeValue;
use crate::regexp::Regexp;
use crate::semver::{Version, VersionRange};
use crate::time::{format_timespan, format_timestamp};
use crate::uri::Uri;

/// A value that only conversions create.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rich {
    /// Puppet's `default`.
    Default,
    /// A regular expression.
    Regexp(Regexp),
    /// A point in time, in nanoseconds since 1970 (UTC).
    Timestamp(i128),
    /// A duration in nanoseconds.
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

/// The value as Puppet's `String()` prints it.
impl fmt::Display for Rich {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rich::Default => out.write_str("default"),
            Rich::Regexp(regexp) => out.write_str(&regexp.text()),
            Rich::Timestamp(time) => out.write_str(&format_timestamp(*time)),
            Rich::Timespan(time) => out.write_str(&format_timespan(*time)),
            Rich::SemVer(version) => version.fmt(out),
            Rich::SemVerRange(range) => range.fmt(out),
            // Puppet fails for bytes that are not UTF-8.
            Rich::Binary(bytes) => out.write_str(std::str::from_utf8(bytes).unwrap_or_default()),
            Rich::Uri(uri) => uri.fmt(out),
            Rich::Type(ty) => ty.fmt(out),
        }
    }
}
