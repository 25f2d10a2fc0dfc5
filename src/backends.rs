//! What levels need beyond files: documents from other servers, and keys that decrypt values.

pub(crate) mod eyaml;
pub(crate) mod hiera_http;
