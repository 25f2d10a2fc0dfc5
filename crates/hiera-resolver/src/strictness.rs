//! [`Strictness`]: whether lookups fail on mistakes that Puppet 7 only warns about.

/// How undefined variables in data, files without a hash, and configurations in the wrong layer are handled. It is Puppet's
/// setting `strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Lookups that reach them fail, as in Puppet 8 and OpenVox 8.
    #[default]
    Error,
    /// They count as empty, as in Puppet 7.
    Warning,
}

impl Strictness {
    /// Do lookups fail?
    pub fn is_error(self) -> bool {
        self == Strictness::Error
    }
}
