#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//!
//! `build` is the interface to the caller's values, `read` turns events into values, `scalar` and `tag` hold Psych's
//! rules, `write` is the other direction. Events come from `read::simple` while the input is simple, then from `libyaml`,
//! which is the unsafe part.
#![warn(missing_docs)]

pub mod base64;
mod build;
mod error;
mod libyaml;
mod read;
pub mod ruby;
mod scalar;
mod tag;
mod word;
mod write;
mod yaml;

pub use build::{Build, Limits, Mark, Source, Style};
pub use error::{Limit, NumberKind, Problem, ReadError};
pub use read::read;
#[cfg(feature = "fuzzing")]
pub use read::read_with_libyaml;
pub use scalar::Scalar;
pub use write::{WriteError, Writer};
pub use yaml::{Builder, Mapping, Yaml, parse};
