//! The public interface, compared with recorded results of Puppet 7.23 on Ruby 3.1 with Psych 4.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, and clippy does not recognize its helpers"
)]

/// Malicious and broken documents.
mod hostile;
/// Recorded documents.
mod read;
/// The format of the recorded cases.
mod support;
/// Recorded values.
mod write;
