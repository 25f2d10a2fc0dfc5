//! What Puppet calls the values whose types it checks.

use std::fmt;

/// A value whose type is checked. It opens the message of a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject<'a> {
    /// What the data has.
    Found,
    /// The value of a key in `override`.
    Override(&'a str),
    /// The value of a key in `default_values`.
    DefaultValues(&'a str),
    /// The default of the request.
    Default,
    /// The value of the higher level in a merge, or what the levels above were merged to.
    FirstElement,
    /// The value of the lower level in a merge.
    SecondElement,
    /// The options of a merge strategy.
    MergeOptions,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Found => out.write_str("Found value"),
            Subject::Override(key) => {
                write!(out, "Value found for key '{key}' in override hash")
            }
            Subject::DefaultValues(key) => {
                write!(out, "Value found for key '{key}' in default values hash")
            }
            Subject::Default => out.write_str("Default value"),
            Subject::FirstElement => out.write_str("The first element of the merge"),
            Subject::SecondElement => out.write_str("The second element of the merge"),
            Subject::MergeOptions => out.write_str("The merge options"),
        }
    }
}
