//! The crate from outside, against what Ruby 3.1 with Psych 4 and Puppet 7.23 gave.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, and its helpers are not known as tests"
)]

/// Texts that could do harm.
mod hostile;
/// Recorded texts, read.
mod read;
/// The form of the recorded cases.
mod support;
/// Recorded values, written.
mod write;
