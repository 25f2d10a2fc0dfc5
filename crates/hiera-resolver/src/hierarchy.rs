//! `hiera.yaml` → layers → levels → locations, and which files a node sees.
//!
//! [`config`] checks a `hiera.yaml`; `plan` fills in its locations for one node; [`reach`] says which paths they could
//! ever be filled in to, so that loading finds all of them. [`glob`] and [`path`] follow Ruby's rules.

pub mod config;
pub mod glob;
pub mod path;
pub(crate) mod plan;
pub mod reach;
