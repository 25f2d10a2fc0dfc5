//! `hiera.yaml` → layers → levels → locations, and which files a node sees.
//!
//! `hiera_yaml` reads and checks a configuration; `plan` fills in its locations for one node, and `visible_files` has the files that it then sees; [`Reach`] says which paths
//! a location could ever be filled in to, so that loading finds all of them. [`glob`] and [`path`] follow Ruby's rules.

mod config_fault;
mod config_text;
pub mod glob;
mod hiera_config;
mod hiera_yaml;
mod layer;
mod level;
mod level_error;
pub mod path;
pub(crate) mod plan;
mod reach;
pub(crate) mod visible_files;

pub use self::config_fault::{ConfigFault, ConfigFaults};
pub use self::config_text::ConfigText;
pub use self::hiera_config::{HieraConfig, UndefinedVariable};

pub(crate) use self::hiera_yaml::RefusalKind;
pub use self::layer::{Layer, LayerKind};
pub use self::level::{Level, Locations};
pub use self::level_error::LevelError;
pub use self::reach::{Reach, ReachProgress};
