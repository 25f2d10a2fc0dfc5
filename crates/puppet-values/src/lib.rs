#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! [`Value`] and [`struct@Hash`] are the nouns, [`Rich`] the values that data cannot hold. [`ruby_text`] prints them as
//! Ruby does. [`opaque`] is what a value carries for the crates above this one.
#![warn(missing_docs)]

pub mod hash;
#[cfg(feature = "serde_json")]
mod json;
pub mod opaque;
mod regexp;
mod rich;
pub mod ruby_text;
pub mod semver;
pub mod table_key;
pub mod time;
pub mod uri;
pub mod value;

pub use hash::{Hash, HashBuilder};
pub use opaque::{TemplateText, TypeValue};
pub use regexp::Regexp;
pub use rich::Rich;
pub use value::{Array, Traits, Value};
