#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! [`value`] and [`key`] are the nouns; [`config`] and [`data`] turn files into them, once;
//! [`snapshot`] keeps an environment of them; [`lookup`] answers. In between, [`scope`] says what a node's
//! variables are, `plan` which files it sees, [`options`] how a key is merged, and [`merge`] merges.
//!
//! There are no files, sockets, clocks or threads in here: the same arguments give the same answer.
#![warn(missing_docs)]

pub mod config;
pub mod convert;
pub mod data;
pub mod error;
pub mod explain;
pub mod glob;
pub mod hash;
pub mod hocon;
pub mod json;
pub mod key;
pub mod layer_index;
pub mod lookup;
pub mod merge;
pub mod options;
pub mod path;
mod plan;
pub mod reach;
pub mod remote;
pub mod rich;
pub mod ruby_text;
pub mod scope;
pub mod snapshot;
pub mod strictness;
pub mod table_key;
pub mod template;
pub mod tree;
pub mod types;
pub mod value;

pub use config::{HieraConfig, Layer, LayerKind};
pub use data::{DataFile, Format};
pub use error::LookupError;
pub use hash::Hash;
pub use lookup::{Answer, Explain, Outcome, Request, Session};
pub use merge::MergeStrategy;
pub use rich::Rich;
pub use scope::Scope;
pub use snapshot::Snapshot;
pub use strictness::Strictness;
pub use tree::Tree;
pub use types::Type;
pub use value::{Array, Value};
