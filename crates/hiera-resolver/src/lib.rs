#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! [`Environment`] and [`Node`] are the way in for programs that embed the engine. [`key`], [`scope`] and [`template`]
//! are the nouns. [`hierarchy`] turns a `hiera.yaml` into layers, levels and locations, [`data_functions`] and [`data`]
//! turn bytes into data files, and [`snapshot`] keeps an environment of them. [`lookup`] answers, [`merge`] merges, and
//! [`explain`] says what happened.
//!
//! There are no files, sockets, clocks or threads in here: the same arguments give the same answer.
#![warn(missing_docs)]

pub mod data;
pub mod data_functions;
mod environment;
pub mod explain;
pub mod hierarchy;
pub mod key;
pub mod lookup;
pub mod merge;
pub mod remote;
pub mod scope;
pub mod snapshot;
pub mod strictness;
pub mod template;

pub use puppet_types::{self as types, Type, convert};
pub use puppet_values::{Array, Hash, Rich, Value, hash, ruby_text, table_key};

pub use data::{hocon, json};
pub use hierarchy::{self as config, glob, path, reach};
pub use lookup::options;
pub use snapshot::{layer_index, tree};

pub(crate) use hierarchy::plan;

pub use config::{HieraConfig, Layer, LayerKind};
pub use data::{DataFile, Format};
pub use environment::{Environment, EnvironmentBuilder, EnvironmentFault};
pub use lookup::{Answer, Explain, ExplainingSession, LookupError, Outcome, Request, Session};
pub use merge::MergeStrategy;
pub use scope::{Node, Scope};
pub use snapshot::Snapshot;
pub use strictness::Strictness;
pub use tree::Tree;
