#![doc = include_str!("../README.md")]
//!
//! ## Modules
//! [`Environment`] and [`Node`] are enough for most programs that embed the engine. A program that keeps the data in
//! memory itself, as hierad does, uses the parts: [`hierarchy`] reads `hiera.yaml`, [`data`] decodes files with the
//! functions of [`data_functions`], and [`snapshot`] combines them. A [`Session`] on a [`Snapshot`], or on any other
//! [`Tree`], answers a [`Request`] for a [`Scope`].
//!
//! The same arguments always give the same answer: nothing in this crate uses files, sockets, clocks or threads. Only the
//! time of a [budget](work_budget) that the caller sets can end a lookup, with an error.
#![warn(missing_docs)]

pub mod data;
pub mod data_functions;
mod environment;
pub mod error;
mod explain;
mod fault;
pub mod hierarchy;
pub mod key;
mod lookup;
mod merge;
pub mod remote;
pub mod scope;
pub mod snapshot;
mod strictness;
pub mod template;

pub use environment::{Environment, EnvironmentBuilder};
pub use explain::Explanation;
pub use fault::Fault;
pub use lookup::{Answer, Explain, ExplainingSession, LookupError, Outcome, Request, Session};
pub use merge::MergeStrategy;
pub use strictness::Strictness;

pub use data::{DataFile, Format};
pub use hierarchy::{HieraConfig, Layer, LayerKind};
pub use scope::{Node, Scope};
pub use snapshot::{Snapshot, Tree};

/// The crate of Puppet's types, for programs that do not depend on it themselves.
pub use puppet_types;
/// The crate of Puppet's values, for programs that do not depend on it themselves.
pub use puppet_values;
/// The crate of budgets: a lookup is charged to that of its thread.
pub use work_budget;

pub use puppet_types::Type;
pub use puppet_values::{Array, Hash, Rich, Value};
