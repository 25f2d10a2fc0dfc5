//! The lookup itself: names → options → layers → levels → files → merged, dug, converted value.
//!
//! A [`Session`] is one node's view of an environment; a [`Request`] goes in, an [`Answer`] comes out. `lookup/walk.rs` is
//! a lookup from top to bottom and the file to start with: it goes through `layers.rs`, `levels.rs` and `files.rs`,
//! merges by `merging.rs`, fills in tokens by `interpolate.rs` and asks other servers by `remote.rs`. `options.rs` is about
//! `lookup_options`; `assemble.rs` computes them if the compiled ones are not enough. `record.rs` keeps the explanation,
//! `secrets.rs` keeps secrets out of it.

mod assemble;
mod convert;
mod default_levels;
mod dig;
mod error;
mod failures;
mod files;
mod interpolate;
mod layers;
mod levels;
mod limits;
mod merged_roots;
mod merging;
pub(crate) mod options;
mod options_position;
mod prepared;
mod record;
mod remote;
mod request;
mod secrets;
mod session;
mod walk;

use puppet_values::Value;

pub use self::error::LookupError;
pub use self::limits::LimitError;
pub use self::options::OptionsError;
pub use self::request::{Answer, Explain, Outcome, Request};
pub use self::session::{ExplainingSession, Session};

/// The result of a step of the walk: `None` if there is no such key.
type Step<T = Value> = Result<Option<T>, LookupError>;
