//! [`Rich`]: the values that no data file can hold, made by conversions.

use std::sync::Arc;

use crate::types::Type;
use crate::types::regexp::Regexp;
use crate::types::semver::{Version, VersionRange};
use crate::types::uri::Uri;

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
    Type(Type),
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
