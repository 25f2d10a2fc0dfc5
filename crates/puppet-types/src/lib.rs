#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! `model` has the [`Type`]. `parse` and `build` create one from its notation, `format` prints it. `instance` and `assign`
//! check values and types against it, `infer` finds the type of a value, `mismatch` describes what does not fit.
//! [`convert`] creates values of a type.
#![warn(missing_docs)]

mod alias;
mod assign;
mod build;
mod constructors;
pub mod convert;
mod format;
mod generalize;
mod infer;
mod instance;
mod lexer;
mod mismatch;
mod model;
mod normalize;
mod parse;
mod range;
mod signature;
mod uri_type;

pub use alias::{Alias, LocalAlias};
pub use infer::infer;
pub use mismatch::{TypeMismatch, assert_instance};
pub use model::{
    ArrayType, CallableType, EnumType, HashType, InitType, ResourceType, StringType, StructElement,
    TupleType, Type, UriType,
};
pub use parse::{Position, TypeParseError};
pub use range::{FloatRange, IntegerRange, TimeRange};

use infer::infer_set;
use parse::TypeNames;

/// Charges a pass over this many items; false if the budget is spent. Several items take as long as one step.
fn charge_items(count: usize) -> bool {
    work_budget::charge(1 + count as u64 / 4).is_ok()
}

#[cfg(test)]
mod tests;
