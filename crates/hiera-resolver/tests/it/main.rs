//! The public interface of the crate: what a caller can rely on.
#![cfg(test)]

/// A data function that is not part of the crate.
mod data_function;
/// Globs and JSON documents, compared with recorded results of Ruby.
mod recorded_cases;
/// Explanations and errors of random trees contain no secret.
mod secrets;
/// Many lookups in one session.
mod session;
