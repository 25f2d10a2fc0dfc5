//! Merging: the values that several sources have for a key → one value.
//!
//! [`MergeStrategy`] is what a request or `lookup_options` ask for, parsed and checked. A `Merger` does it: the walk pushes
//! every value that it finds, the highest level first, and takes the result. What each strategy does with two values is in
//! a file of its own: `merge/unique.rs`, `merge/hash.rs`, `merge/deep.rs`; first found needs no more than the merger.
//!
//! Values meet two at a time, as in Puppet. Their types are checked only then, so a value that was found alone may be of
//! any type.

mod deep;
mod error;
mod hash;
mod merger;
mod strategy;
mod type_check;
mod union;
mod unique;

pub use self::error::{MergeError, OptionProblem};
pub(crate) use self::merger::{Contribution, MergeObserver, Merger};
pub use self::strategy::MergeStrategy;

#[cfg(test)]
mod tests;
