//! Why the steps of a lookup fail: what the variants of a [`LookupError`] hold. The errors of the other parts are in their
//! modules: [`key`](crate::key), [`template`](crate::template), [`data`](crate::data), [`hierarchy`](crate::hierarchy).

pub use crate::lookup::{LimitError, LookupError, OptionsError};
pub use crate::merge::{MergeError, OptionProblem};
