//! Hiera 5 lookups as a pure function of data, facts and options.
#![warn(missing_docs)]

pub mod hash;
pub mod rich;
pub mod template;
pub mod value;

pub use hash::Hash;
pub use rich::Rich;
pub use value::{Array, Value};
