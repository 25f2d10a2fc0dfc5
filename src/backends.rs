//! What levels need beyond files: keys that decrypt their values, and documents of other servers.

pub(crate) mod eyaml;
pub(crate) mod remote;
