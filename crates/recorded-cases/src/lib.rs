#![doc = include_str!("../README.md")]

mod case;
mod json;
mod judge;
mod parse;

pub use case::{Case, CaseError, Puppet, Question, RawQuestion, Recording, load, path_below_root};
pub use json::Json;
pub use judge::{Answer, Difference, Outcome, ROOT_SHOWN, judge};
pub use parse::{ParseError, Slip, parse};
