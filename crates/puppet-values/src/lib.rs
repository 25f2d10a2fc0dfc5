#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! [`Value`] and [`struct@Hash`] are the data model, [`Rich`] has the values that data files cannot contain. [`ruby_text`]
//! prints them as Ruby does. [`TypeValue`] and [`TemplateText`] carry content for the crates above this one.
#![warn(missing_docs)]

pub mod hash;
#[cfg(feature = "serde_json")]
mod json;
mod opaque;
pub mod ranges;
mod regexp;
mod rich;
pub mod ruby_text;
pub mod semver;
pub mod table_key;
pub mod time;
pub mod uri;
mod value;
mod yaml;

pub use hash::Hash;
pub use opaque::{TemplateText, TypeValue};
pub use regexp::Regexp;
pub use rich::Rich;
pub use ruby_regex::RegexError;
pub use value::{Array, Traits, Value};
