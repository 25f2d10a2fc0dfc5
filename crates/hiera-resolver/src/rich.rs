//! [`Rich`]: the values that no data file can hold, made by conversions.

/// A value that only a conversion can make.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rich {
    /// Puppet's `default`.
    Default,
}

impl Rich {
    /// The name of its type in the Puppet language.
    pub fn type_name(&self) -> &'static str {
        match self {
            Rich::Default => "Default",
        }
    }
}
