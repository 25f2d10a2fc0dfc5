#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//!
//! `build` says what a reader hands over, `read` walks from events to values, `scalar` and `tag` hold Psych's rules,
//! `write` goes the other way. Events come from `read::simple` as long as a text is simple, then from `libyaml`, which is
//! the unsafe part.
//!
//! A builder of one's own, here one that counts the texts of a document:
//!
//! ```
//! use psych_yaml::{Build, Limits, Mark, Scalar, Source};
//!
//! #[derive(Default)]
//! struct Texts(usize);
//!
//! impl Build for Texts {
//!     type Value = ();
//!     type Sequence = ();
//!     type Mapping = ();
//!
//!     fn scalar(&mut self, scalar: Scalar<'_>, _: Source<'_>) {
//!         self.0 += usize::from(matches!(scalar, Scalar::String(_)));
//!     }
//!     fn sequence(&mut self) {}
//!     fn push(&mut self, _: &mut (), _: ()) {}
//!     fn finish_sequence(&mut self, _: (), _: Mark) {}
//!     fn mapping(&mut self) {}
//!     fn insert(&mut self, _: &mut (), _: (), _: ()) {}
//!     fn finish_mapping(&mut self, _: (), _: Mark) {}
//!     fn entries(&self, _: &()) -> Option<Vec<((), ())>> {
//!         None
//!     }
//!     fn open_entries(&self, _: &()) -> Vec<((), ())> {
//!         Vec::new()
//!     }
//! }
//!
//! let mut texts = Texts::default();
//! psych_yaml::read(b"[a, 1, yes, y, 08]", &Limits::default(), &mut texts)?;
//! assert_eq!(texts.0, 3);
//! # Ok::<(), psych_yaml::ReadError>(())
//! ```
#![warn(missing_docs)]

pub mod base64;
mod build;
mod error;
mod libyaml;
mod read;
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
pub use write::{WriteError, Writer, float_text};
pub use yaml::{Builder, Mapping, Yaml, parse};
